"""Reads a form with a file (RFC 7578): fields are texts, a file comes with its name and media type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from app.edge.asgi import too_large
from app.kit.errors import InvalidRequest, UnsupportedMediaType

if TYPE_CHECKING:
    from collections.abc import Mapping

MULTIPART = "multipart/form-data"
FRAME_BYTES = 64 * 1024
"""What a form may have around its files: boundaries, headers and the other fields."""
_MAX_PARTS = 32
_UNREADABLE = "The form cannot be read: send multipart/form-data as RFC 7578 describes it, with one file."


class _Parts:
    """Collects the parts of a form while the parser goes through it."""

    def __init__(self) -> None:
        self.found: list[tuple[dict[bytes, bytes], bytearray]] = []
        self.ended = False
        self._name = bytearray()
        self._value = bytearray()

    def begin(self) -> None:
        if len(self.found) >= _MAX_PARTS:
            raise InvalidRequest(_UNREADABLE)
        self.found.append(({}, bytearray()))

    def field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def header(self) -> None:
        self.found[-1][0][bytes(self._name).lower()] = bytes(self._value)
        self._name.clear()
        self._value.clear()

    def data(self, data: bytes, start: int, end: int) -> None:
        self.found[-1][1].extend(memoryview(data)[start:end])

    def end(self) -> None:
        self.ended = True


def read_form(content_type: str, body: bytes, file: str, limit: int, *, many: bool = False) -> dict[str, Any]:
    """Give a form's fields as texts, and the one called `file` as name, media type and content; `many`: a list of them.

    Raises:
        UnsupportedMediaType, InvalidRequest.
        PayloadTooLarge: the files are over `limit`.
    """
    media_type, options = parse_options_header(content_type)
    if media_type.decode("latin-1").lower() != MULTIPART or not options.get(b"boundary"):
        raise UnsupportedMediaType(f"Send the file as `{MULTIPART}`, in a part called `{file}`.")
    raw: dict[str, Any] = {}
    size = 0
    for headers, content in _parse(options[b"boundary"], body).found:
        name, value = _part(headers, bytes(content), file)
        size += len(content) if name == file else 0
        if size > limit:
            raise too_large(limit)
        if many and name == file:
            raw.setdefault(name, []).append(value)
        elif name not in raw:
            raw[name] = value
        elif isinstance(value, str):  # an array is a part for each of its items
            before = raw[name]
            raw[name] = [*before, value] if isinstance(before, list) else [before, value]
        else:
            raise InvalidRequest(_UNREADABLE)
    return raw


def _parse(boundary: bytes, body: bytes) -> _Parts:
    parts = _Parts()
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": parts.begin,
                "on_part_data": parts.data,
                "on_header_field": parts.field,
                "on_header_value": parts.value,
                "on_header_end": parts.header,
                "on_end": parts.end,
            },
        )
        parser.write(body)
        parser.finalize()
    except FormParserError as error:
        raise InvalidRequest(_UNREADABLE) from error
    if not parts.ended:
        raise InvalidRequest(_UNREADABLE)
    return parts


def _part(headers: Mapping[bytes, bytes], content: bytes, file: str) -> tuple[str, Any]:
    _, options = parse_options_header(headers.get(b"content-disposition"))
    try:
        name = options.get(b"name", b"").decode()
        if name != file:
            return name, content.decode()
        given = {
            "name": options.get(b"filename", b"").decode(),
            "mediaType": headers.get(b"content-type", b"application/octet-stream").decode(),
        }
    except ValueError as error:
        raise InvalidRequest("The form's names and fields must be UTF-8.") from error
    return name, given | {"content": content}
