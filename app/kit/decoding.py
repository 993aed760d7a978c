"""Bytes of strangers as text: in the charset that was named, else by their marks, else as they look.

Some codecs of the standard library take hours for megabytes: this runs in confined processes (`app.store.confined`).
"""

from __future__ import annotations

import codecs
import re
from typing import Final

_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MEANT: Final = {
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "windows-874": "cp874",
}
"""Charsets that are a part of another one, which writers and browsers mean when they name them (WHATWG, Encoding)."""
_UNKNOWN: Final = {
    "windows-31j": "cp932",
    "x-sjis": "cp932",
    "x-euc-jp": "euc_jp",
    "windows-936": "gbk",
    "x-gbk": "gbk",
    "windows-949": "cp949",
    "windows-950": "big5",
    "cn-big5": "big5",
    "x-x-big5": "big5",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "x-mac-cyrillic": "mac_cyrillic",
}
"""Names of charsets that the standard library does not know."""

_WESTERN: Final = "cp1252"
_LATIN: Final = frozenset({"cp1250", "cp1252", "cp1254", "cp1257", "iso8859-2", "iso8859-4", "iso8859-16"})
_FEW: Final = 10
"""A reading is believed with one fault in as many characters beyond ASCII: a byte was lost, the charset is right."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_BEYOND = re.compile(r"[^\x00-\x7f]")
_LETTER = re.compile(r"[ŠŒŽšœžŸÀ-ÖØ-öø-ÿ]")
_KANA = re.compile(r"[\u3041-\u30fe]")
_HALF_KANA = re.compile(r"[\uff61-\uff9f]")
_KANA_SHARE: Final = 0.25
_HUNGARIAN = re.compile(r"[õÕ](?![eE])")
_HUNGARIAN_TOO = re.compile(r"[áéíóúûÁÉÍÓÚÛ]")
_PORTUGUESE = re.compile(r"[ãÃ]")
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_DECLARED = re.compile(rb"\s{0,9}<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})", re.IGNORECASE)
_XML = re.compile(r"\s*<\?xml[^>]*>")
_TAG = re.compile(r"<[A-Za-z!?/]")
_HEAD: Final = 4_096
"""Bytes in which a page names its charset."""


def decoded(body: bytes, charset: str | None = None) -> str | None:
    """Read text; None when it is in no encoding that is known. A charset that does not fit is not believed."""
    if charset is not None and (named := _named(body, charset)) is not None:
        return named
    try:
        return body.decode("utf-16" if body.startswith(_MARKS) else "utf-8-sig")
    except UnicodeDecodeError:
        return _nearly(body, "utf-8-sig") or _guessed(body)


def decoded_page(body: bytes, charset: str | None = None) -> str | None:
    """Read HTML, without its XML declaration: in the charset that its server named, else that it names itself."""
    own = _META.search(body[:_HEAD]) or _DECLARED.match(body)
    for name in (charset, own and own[1].decode("ascii", "replace")):
        # Of a page in ASCII that is named otherwise, another charset makes signs without a tag.
        if name and (text := _named(body, name)) is not None and _TAG.search(text):
            break
    else:
        text = decoded(body)
    return None if text is None else _XML.sub("", text, count=1)


def _named(body: bytes, charset: str) -> str | None:
    try:
        name = codecs.lookup(_UNKNOWN.get(charset.lower(), charset)).name
        meant = "utf-8-sig" if name == "utf-8" else _MEANT.get(name, name)
        return _strictly(body, meant) or _nearly(body, meant)
    except (LookupError, ValueError):
        return None


def _strictly(body: bytes, charset: str) -> str | None:
    try:
        return body.decode(charset)
    except UnicodeDecodeError:
        return None


def _nearly(body: bytes, charset: str) -> str | None:
    """Read what a few broken bytes are in: the charset that all others fit."""
    text = body.decode(charset, "replace")
    faults = text.count("\ufffd")
    return text if faults * (_FEW + 1) <= len(_BEYOND.findall(text)) else None


def _guessed(body: bytes) -> str | None:
    """Read bytes as they look; what would be controls in any text is none."""
    from chardetng_py import detect

    text = _corrected(body, codecs.lookup(_MEANT.get(found := detect(body).lower(), found)).name)
    return None if text is None or _CONTROL.search(text) else text


def _corrected(body: bytes, guess: str) -> str | None:
    """Read with the charset that was guessed but where its library is known to fail, which short texts show."""
    western = _strictly(body, _WESTERN)
    if guess in _LATIN and western is not None:
        if not _LETTER.search(western):  # signs alone: the languages of other charsets have letters
            return western
        if guess == _WESTERN and _is_hungarian(western):
            return _strictly(body, "cp1250")
    japanese = _strictly(body, "cp932")
    if japanese is not None and not _HALF_KANA.search(japanese):
        beyond = len(_BEYOND.findall(japanese))
        if len(_KANA.findall(japanese)) > beyond * _KANA_SHARE:
            return japanese
    return _strictly(body, _MEANT.get(guess, guess))


def _is_hungarian(western: str) -> bool:
    """Tell Hungarian's ő from the õ of Portuguese, which e follows, and of Estonian, which has no acute."""
    return bool(_HUNGARIAN.search(western) and _HUNGARIAN_TOO.search(western) and not _PORTUGUESE.search(western))
