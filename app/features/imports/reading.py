"""Runs in a confined process: an archive becomes the chunks of an import there, or is refused without harm."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from typing import Any, Final

from app.store.confined import Unreadable

CHUNK_BYTES: Final = 2 * 1024 * 1024
CHUNK_FILES: Final = 200
MAX_FILES: Final = 100_000


def read(options: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Cut an archive into chunks of files, in its order; `most` bounds its texts in bytes."""
    try:
        # An archive is several gzip members, which tarfile alone would read the first of.
        with gzip.open(io.BytesIO(body)) as raw, tarfile.open(fileobj=raw, mode="r|") as tar:
            return {"chunks": _chunks(tar, options["most"])}
    except (tarfile.TarError, zlib.error, OSError, EOFError, UnicodeDecodeError) as error:
        msg = "it is no archive of an export, or it is damaged"
        raise Unreadable(msg) from error


def _chunks(tar: tarfile.TarFile, most: int) -> list[list[dict[str, str]]]:
    chunks: list[list[dict[str, str]]] = [[]]
    size = total = files = 0
    for info in tar:
        files, total = files + 1, total + info.size
        if total > most or files > MAX_FILES:
            msg = "its texts are too large for the browser; import it by the command line"
            raise Unreadable(msg)
        content = tar.extractfile(info)
        if content is None:
            continue
        text = content.read().decode()
        if chunks[-1] and (size + info.size > CHUNK_BYTES or len(chunks[-1]) >= CHUNK_FILES):
            chunks.append([])
            size = 0
        chunks[-1].append({"path": info.name, "text": text})
        size += info.size
    return [chunk for chunk in chunks if chunk]
