"""The form of an archive: a gzipped tar of Markdown files with front matter and of histories as JSON lines.

Everything in it follows from what is stored, so that equal workspaces have equal archives. Parts are gzip members of
whole tar entries: one after the other, they are one archive.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
import tarfile
import zlib
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ORIGINAL = "/original"
"""What follows a document's id where the file lies that it was made from, byte for byte."""

FORMAT = "context-repo-archive"
VERSION = 1
MANIFEST = "manifest.json"
END = bytes(2 * tarfile.BLOCKSIZE)
"""How a tar ends; where it is missing, nobody knows what else is."""

_PADDING = 1024 * 1024
"""Zeros that other tools may add to the end."""
_PIECE_BYTES = 3 * 512 * 1024
"""A number that 3 divides, so that the pieces' base64 is the file's."""
_MODE = 0o644
_OPENING = "---\n"
_CLOSING = "\n---\n\n"
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_PATH = re.compile(
    r"(?P<folder>documents|prompts|collections)/(?P<id>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})"
    r"(?P<rest>/v(?:0|[1-9][0-9]{0,9})\.md|/original|\.md|\.jsonl)"
)


class ArchiveError(tarfile.TarError):
    """A file is no archive, or not a whole one."""


class TooLargeError(ArchiveError):
    """An archive has more than its reader takes."""


def tar_entry(path: str, content: bytes) -> bytes:
    """Write a file as a tar has it."""
    info = tarfile.TarInfo(path)
    info.size, info.mode = len(content), _MODE
    padding = -len(content) % tarfile.BLOCKSIZE
    return info.tobuf(tarfile.USTAR_FORMAT) + content + bytes(padding)


def pack(entries: bytes) -> bytes:
    """Compress tar entries into a part; equal entries give equal parts."""
    return gzip.compress(entries, mtime=0)


def files(file: IO[bytes], most: float = math.inf) -> Iterator[tuple[str, bytes]]:
    """Give the files of an archive in its order, the manifest first.

    Raises:
        ArchiveError: it is no archive or, told after the files that could be read, it is cut short or damaged.
        TooLargeError: its files have more than `most` bytes together.
    """
    last, total = "", 0
    try:
        with gzip.open(file) as raw, tarfile.open(fileobj=raw, mode="r:") as tar:
            for info in tar:
                total += info.size
                if total > most:
                    raise TooLargeError
                content = tar.extractfile(info)
                if content is None or not (last or info.name == MANIFEST):
                    break
                yield info.name, content.read()
                last = info.name
            raw.seek(tar.offset)
            rest = raw.read(_PADDING + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error, tarfile.ReadError):
        rest = b""
    if not last:
        msg = f"it is no archive of an export, which begins with {MANIFEST}"
        raise ArchiveError(msg)
    if any(rest) or not len(END) <= len(rest) <= _PADDING:
        msg = f"it is cut short, or damaged, after {last}"
        raise ArchiveError(msg)


def chunks(found: Iterable[tuple[str, bytes]], most_bytes: int, most_files: int) -> Iterator[list[dict[str, str]]]:
    """Cut files into chunks of entries for an import, always the same ones.

    Raises:
        UnicodeDecodeError: a text is none.
    """
    chunk: list[dict[str, str]] = []
    size = 0
    for path, content in found:
        for entry, length in _entries(path, content):
            if chunk and (size + length > most_bytes or len(chunk) >= most_files):
                yield chunk
                chunk, size = [], 0
            chunk.append(entry)
            size += length
    if chunk:
        yield chunk


def _entries(path: str, content: bytes) -> Iterator[tuple[dict[str, str], int]]:
    """Give a file as entries with their sizes: texts whole, an uploaded file in pieces."""
    if not path.endswith(ORIGINAL):
        yield {"path": path, "text": content.decode()}, len(content)
        return
    for start in range(0, len(content), _PIECE_BYTES):
        piece = base64.b64encode(content[start : start + _PIECE_BYTES]).decode()
        yield {"path": path, "base64": piece}, len(piece)


def manifest() -> bytes:
    """Write the file that tells what an archive is."""
    return f"{_json({'format': FORMAT, 'version': VERSION})}\n".encode()


def is_manifest(text: str) -> bool:
    """Tell whether a manifest is of an archive that this release reads."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and (found.get("format"), found.get("version")) == (FORMAT, VERSION)


def with_front_matter(fields: dict[str, Any], text: str) -> bytes:
    """Write a Markdown file; each field is a line of YAML whose value is JSON."""
    lines = "\n".join(f"{name}: {_json(value)}" for name, value in fields.items() if value is not None)
    return f"{_OPENING}{lines}{_CLOSING}{text}".encode()


def without_front_matter(text: str) -> str | None:
    """Give the text of a Markdown file as it was stored; None when the file does not begin with front matter."""
    head, closing, rest = text.partition(_CLOSING)
    return rest if closing and head.startswith(_OPENING) else None


def json_lines(records: list[dict[str, Any]]) -> bytes:
    """Write records, one a line; what is null is left out."""
    kept = ({name: value for name, value in record.items() if value is not None} for record in records)
    return "".join(f"{_json(record)}\n" for record in kept).encode()


def parse_path(path: str) -> tuple[str, UUID, str] | None:
    """Take a path apart: folder, the item's id, and `.jsonl`, `.md`, `/v<number>.md`, `/original`; else None."""
    found = _PATH.fullmatch(path)
    return (found["folder"], UUID(found["id"]), found["rest"]) if found else None


def digest_of(text: str) -> bytes:
    """Give the SHA-256 of a text, by which a history refers to it."""
    return hashlib.sha256(text.encode()).digest()


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, UUID):
        return str(value)
    msg = f"{type(value).__name__} has no place in an archive"
    raise TypeError(msg)
