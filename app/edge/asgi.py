"""Small ASGI helpers shared by the wires: reading a bounded body, finding and writing headers, sending bytes."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from app.kit.errors import PayloadTooLarge, UnsupportedMediaType

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

Headers = list[tuple[bytes, bytes]]
_PLAIN = frozenset({"", "identity"})
_UNENCODED = "Bodies are read as they are: send it uncompressed, without Content-Encoding (accepted: identity)."
BODILESS = frozenset({204, 304})
_UNPRINTABLE = re.compile(r"[^ -~]+")
_UNQUOTABLE = str.maketrans({'"': "'", "\\": "/"})


class ClientGone(Exception):
    """The client closed the connection before the body was complete; there is nobody to answer."""


def header(scope: Scope, name: bytes) -> str | None:
    """Find a request header (lower-case name); several lines of it are joined by commas (RFC 9110 section 5.3)."""
    values = [value for key, value in scope["headers"] if key == name]
    return b", ".join(values).decode("latin-1") if values else None


def printable(text: str) -> str:
    """Reduce a text to what the value of a header may hold: printable ASCII, so that strict clients can read it."""
    return _UNPRINTABLE.sub("", unicodedata.normalize("NFKD", text))


def quoted(text: str) -> str:
    """Write a text as the quoted string of a challenge's parameter, without escapes (RFC 6750 section 3)."""
    return f'"{printable(text).translate(_UNQUOTABLE)}"'


async def read_body(scope: Scope, receive: Receive, limit: int, *, frame: int = 0) -> bytes:
    """Read the whole request body.

    Args:
        scope, receive: the request.
        limit: how many bytes may be sent.
        frame: how many more may stand around them, where something is sent within a form.

    Raises:
        UnsupportedMediaType: it is compressed, or encoded otherwise.
        PayloadTooLarge: declared or sent bytes are over `limit` and `frame`.
        ClientGone: the client left.
    """
    encoding = header(scope, b"content-encoding")
    if encoding is not None and encoding.strip().lower() not in _PLAIN:
        raise UnsupportedMediaType(_UNENCODED, details={"acceptEncoding": "identity"})
    declared = header(scope, b"content-length")
    if declared is not None and declared.isdigit() and int(declared) > limit + frame:
        raise too_large(limit)
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit + frame:
            raise too_large(limit)
        chunks.append(chunk)
        if not message.get("more_body", False):
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def too_large(limit: int) -> PayloadTooLarge:
    """Refuse a body, or a file in one, that is over the limit."""
    return PayloadTooLarge(
        f"That is larger than the {limit} bytes that may be sent at once; divide the text or the file, and send the "
        "parts as several documents.",
        details={"limitBytes": limit},
    )


async def send_bytes(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Send a complete response."""
    if status not in BODILESS:
        headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_stream(send: Send, status: int, headers: Headers, chunks: AsyncIterator[bytes]) -> None:
    """Send a response whose length nobody knows yet; a failure in between cuts it off, which the reader sees."""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    async for chunk in chunks:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
