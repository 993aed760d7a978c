"""Runs in a confined process: an archive becomes the chunks of an import there, or is refused without harm."""

from __future__ import annotations

import io
from typing import Any, Final

from app.kit import archive
from app.store.readers import Unreadable

CHUNK_BYTES: Final = 2 * 1024 * 1024
CHUNK_FILES: Final = 200
MAX_CHUNKS: Final = 500

_TOO_LARGE: Final = "its files are too large for the browser; import it by the command line"


def read(options: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Cut a whole archive into chunks of files, in its order; `most` bounds its files in bytes."""
    try:
        chunks = list(archive.chunks(archive.files(io.BytesIO(body), options["most"]), CHUNK_BYTES, CHUNK_FILES))
    except archive.TooLargeError as error:
        raise Unreadable(_TOO_LARGE) from error
    except archive.ArchiveError as error:
        raise Unreadable(str(error)) from error
    except UnicodeDecodeError as error:
        msg = "one of its texts is none"
        raise Unreadable(msg) from error
    if len(chunks) > MAX_CHUNKS:
        raise Unreadable(_TOO_LARGE)
    return {"chunks": chunks}
