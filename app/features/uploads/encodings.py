"""Files whose text is in any encoding, written in UTF-8 for the library, which guesses badly; in a confined process."""

from __future__ import annotations

import email
import email.policy
import re
from typing import TYPE_CHECKING, Final

from app.kit.decoding import decoded, decoded_page

if TYPE_CHECKING:
    from email.message import Message

_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_POLICY: Final = email.policy.compat32.clone(max_line_length=0)
_UTF8: Final = frozenset({"utf-8", "us-ascii", "ascii"})


def in_utf8(kind: str, body: bytes) -> bytes:
    """Write a file in UTF-8, as far as its kind leaves the encoding open; as it is where none fits."""
    if kind == "eml":
        return _mail(body)
    text = decoded_page(body) if kind in ("html", "htm") else decoded(body) if kind in ("csv", "tsv") else None
    return body if text is None else text.encode()


def _mail(body: bytes) -> bytes:
    """Write what a mail holds in another encoding than it says: lines of its head, and parts of text."""
    end = found.start() if (found := _BLANK_LINE.search(body)) else len(body)
    head = decoded(body[:end])
    body = body if head is None else head.encode() + body[end:]
    message = email.message_from_bytes(body, policy=_POLICY)
    # Each is asked, not `any`, which would stop at the first that was written anew.
    changed = [_written_anew(part) for part in message.walk() if part.get_content_maintype() == "text"]
    return message.as_bytes() if any(changed) else body


def _written_anew(part: Message) -> bool:
    """Write a part in UTF-8 whose bytes do not fit what it says of them; tells whether that was so."""
    raw, charset = part.get_payload(decode=True), part.get_content_charset()
    if not isinstance(raw, bytes) or _fits(raw, charset or "ascii"):
        return False
    text = decoded(raw, charset)
    if text is None:
        return False
    del part["Content-Transfer-Encoding"]
    part.set_payload(text, "utf-8")
    return True


def _fits(raw: bytes, charset: str) -> bool:
    try:
        raw.decode("utf-8" if charset in _UTF8 else charset)
    except (LookupError, ValueError):
        return False
    return True
