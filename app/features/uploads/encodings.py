"""Files whose text is in any encoding, written in UTF-8 for the library, which guesses badly; in a confined process."""

from __future__ import annotations

import base64
import email
import email.policy
import re
from email.errors import HeaderParseError
from email.header import decode_header
from typing import TYPE_CHECKING, Final

from app.kit.decoding import decoded, decoded_page
from app.store.readers import Unreadable

if TYPE_CHECKING:
    from email.message import Message

NO_ENCODING: Final = ("it is no text in a known encoding", "Save it as UTF-8 and upload it again.")
_NULS: Final = 50
"""Text holds none, but a stray one is borne; of UTF-16 and UTF-32 without a mark they are more than one in so many."""

_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_POLICY: Final = email.policy.compat32.clone(max_line_length=0)
_UTF8: Final = frozenset({"utf-8", "us-ascii", "ascii"})
_WORD: Final = r"=\?[^?\s]+\?[bq]\?[^?\r\n]*\?="
_WORDS: Final = re.compile(rf"{_WORD}(?:\s+{_WORD})*", re.IGNORECASE)
"""Encoded words of a mail's head; between two of them white space says nothing."""


def in_utf8(kind: str, body: bytes) -> bytes:
    """Write a file in UTF-8, as far as its kind leaves the encoding open; as it is where none fits.

    Raises:
        Unreadable: it is UTF-16 or UTF-32 without a mark, which reads as text full of NULs.
    """
    if kind == "eml":
        return _mail(body)
    if kind not in ("html", "htm", "csv", "tsv"):
        return body
    text = decoded_page(body) if kind in ("html", "htm") else decoded(body)
    body = body if text is None else text.encode()
    if body.count(0) * _NULS > len(body):
        raise Unreadable(*NO_ENCODING)
    return body


def _mail(body: bytes) -> bytes:
    """Write the lines of a mail's head, the heads of its parts and their text in UTF-8, and say so there."""
    end = found.start() if (found := _BLANK_LINE.search(body)) else len(body)
    head = decoded(body[:end])
    body = body if head is None else head.encode() + body[end:]
    message = email.message_from_bytes(body, policy=_POLICY)
    # Each is asked, not `any`, which would stop at the first that was written anew.
    changed = [_head_anew(part) | _text_anew(part) for part in message.walk()]
    return message.as_bytes() if any(changed) else body


def _head_anew(part: Message) -> bool:
    """Write the encoded words of a head as such in UTF-8; tells whether there were any in another charset."""
    lines = list(part.raw_items())
    anew = [(name, _WORDS.sub(_in_utf8, value)) for name, value in lines]
    if anew == lines:
        return False
    for name, _ in lines:
        del part[name]
    for name, value in anew:
        part[name] = value
    return True


def _in_utf8(words: re.Match[str]) -> str:
    """Write neighbouring encoded words as one, since a letter may begin in one and end in the next."""
    try:
        found = [(raw, charset and charset.partition("*")[0]) for raw, charset in decode_header(words[0])]
    except (HeaderParseError, ValueError):
        return words[0]
    texts = [raw if isinstance(raw, str) else decoded(raw, charset) for raw, charset in found]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts) or all(charset in _UTF8 for _, charset in found):
        return words[0]
    return f"=?utf-8?B?{base64.b64encode(''.join(known).encode()).decode()}?="


def _text_anew(part: Message) -> bool:
    """Write a part of text in UTF-8 that says or holds anything else; tells whether that was so."""
    if part.get_content_maintype() != "text":
        return False
    raw, charset = part.get_payload(decode=True), part.get_content_charset()
    if not isinstance(raw, bytes) or ((charset or "ascii") in _UTF8 and _is_utf8(raw)):
        return False
    text = decoded(raw, charset)
    if text is None:
        return False
    del part["Content-Transfer-Encoding"]
    part.set_payload(text, "utf-8")
    return True


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
