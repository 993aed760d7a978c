"""Bytes of strangers as text: in the charset that was named, else by their marks, else as they look.

Some codecs of the standard library take hours for megabytes: this runs in confined processes (`app.store.confined`).
"""

from __future__ import annotations

_MARKS = (b"\xff\xfe", b"\xfe\xff")


def decoded(body: bytes, charset: str | None = None) -> str | None:
    """Read text; None when it is in no encoding that is known. A charset that is none is not believed."""
    if charset is not None:
        try:
            return body.decode(charset, "replace")
        except (LookupError, ValueError):
            pass
    try:
        return body.decode("utf-16" if body.startswith(_MARKS) else "utf-8-sig")
    except UnicodeDecodeError:
        return _guessed(body)


def _guessed(body: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(body).best()
    return None if best is None else str(best)
