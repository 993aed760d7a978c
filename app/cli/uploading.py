"""Sends files that the service reads (PDF, Office, code …), one by one, and waits until it has read them.

A file that changed becomes another document: what its text is now, only the service can tell.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.client import RefusedError
from app.cli.importing import HOPELESS, Imported, Outcome, current

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.cli.client import Client
    from app.cli.importing import Memory

PATIENCE_SECONDS = 60.0
"""How long no file at all is read before this waits no longer."""
_POLL_SECONDS = 0.5
_UNSUPPORTED = 415
_READING = "processing"


def upload_files(client: Client, memory: Memory, paths: Iterable[Path], tags: list[str]) -> Iterator[Outcome]:
    """Send the files that are not there yet as they are; `created` means that the service is about to read it.

    Raises:
        RefusedError: for a reason that has nothing to do with a file.
    """
    for path in paths:
        try:
            yield _uploaded(client, memory, path, tags)
        except OSError as error:
            yield Outcome(str(path), "failed", message=f"cannot be read: {error}")
        except RefusedError as error:
            if error.status in HOPELESS:
                raise
            result = "skipped" if error.status == _UNSUPPORTED else "failed"
            yield Outcome(str(path), result, message=f"{error.reason}: {error.message}")


def _uploaded(client: Client, memory: Memory, path: Path, tags: list[str]) -> Outcome:
    absolute = path.resolve()
    with absolute.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if not absolute.stat().st_size:
        return Outcome(str(path), "skipped", message="is empty")
    known = memory.get(absolute)
    there = current(client, known.document_id) if known else None
    if known and there and known.digest == digest:
        return _as_read(Outcome(known.path, "unchanged", known.document_id), there)
    basis = known.document_id if known else ""
    key = hashlib.sha256(f"upload\0{absolute}\0{digest}\0{tags}\0{basis}".encode()).hexdigest()
    data = client.upload("/v1/documents/upload", absolute, {"tags": ",".join(tags)}, key)["data"]
    memory.put(Imported(str(absolute), data["id"], data["revision"], digest))
    message = f"the file changed; the document {basis}, made from it before, is still there" if there else ""
    return Outcome(str(absolute), "created", data["id"], message, being_read=True)


def wait_for_reading(client: Client, memory: Memory, sent: Iterable[Outcome]) -> Iterator[Outcome]:
    """Tell of each file that was sent what became of it, in the order in which they are read.

    The revision that reading made is remembered: a file that is text by the next run updates its document.

    Raises:
        RefusedError: the service refused to tell.
    """
    moved = time.monotonic()
    for outcome in sent:
        document = current(client, outcome.document_id)
        while document and document["status"] == _READING and time.monotonic() - moved < PATIENCE_SECONDS:
            time.sleep(_POLL_SECONDS)
            document = current(client, outcome.document_id)
        if not document or document["status"] != _READING:
            moved = time.monotonic()
            if document and (known := memory.get(Path(outcome.path))):
                memory.put(replace(known, revision=document["revision"]))
        yield _as_read(outcome, document)


def _as_read(outcome: Outcome, document: dict[str, Any] | None) -> Outcome:
    if document is None:
        return replace(outcome, result="failed", message="its document was deleted meanwhile")
    if document["status"] == "failed":
        return replace(outcome, result="failed", message=document["statusReason"])
    return replace(outcome, message="is still being read") if document["status"] == _READING else outcome
