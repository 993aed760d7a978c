"""Exports a workspace into an archive file, and imports one; both go on where a run was cut off.

What a run has begun is remembered before it is asked for, with its idempotency key: an export beside its file, an
import beside the user's other state, per service, key and content of the archive.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.client import RefusedError
from app.cli.importing import state_folder
from app.kit import archive

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.cli.client import Client

    Report = Callable[[float, float], None]
    """Told how much is done, and of how much."""

_GZIP = b"\x1f\x8b"
_CHUNK_BYTES = 3 * 1024 * 1024
_CHUNK_FILES = 200
_POLL_SECONDS = 0.5
_PATIENCE_SECONDS = 120.0
_NOT_FOUND = 404


class Memory:
    """What a run has begun: a small file, written whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, str]:
        """Give what was kept; a new idempotency key, kept at once, where nothing was."""
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = {}
        if not (isinstance(found, dict) and "key" in found):
            found = {"key": secrets.token_hex(16)}
            self.write(found)
        return found

    def write(self, state: dict[str, str]) -> None:
        """Keep something instead."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_name(self._path.name + ".new")
        fresh.write_text(json.dumps(state), encoding="utf-8")
        fresh.replace(self._path)

    def forget(self) -> None:
        """Keep nothing."""
        self._path.unlink(missing_ok=True)


def is_archive(path: Path) -> bool:
    """Tell whether a file is compressed as archives are."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_GZIP)) == _GZIP


def export_archive(client: Client, target: Path, report: Report) -> dict[str, Any]:
    """Have a workspace exported and download its archive; gives the export.

    Raises:
        RefusedError: the service refused, or the export does not get on.
    """
    memory = Memory(target.with_name(target.name + ".state"))
    export = _begun(client, memory, "/v1/exports")
    if export["state"] == "gone":
        memory.forget()
        export = _begun(client, memory, "/v1/exports")
    export = _awaited(client, export, report)
    part = target.with_name(target.name + ".part")
    client.download(f"/v1/exports/{export['id']}/content", part)
    part.replace(target)
    memory.forget()
    return export


def _awaited(client: Client, export: dict[str, Any], report: Report) -> dict[str, Any]:
    moved = time.monotonic()
    while export["state"] == "running":
        time.sleep(_POLL_SECONDS)
        before, export = export, client.get(f"/v1/exports/{export['id']}")["data"]
        report(export["itemsDone"], export["itemsTotal"])
        if export != before:
            moved = time.monotonic()
        elif time.monotonic() - moved > _PATIENCE_SECONDS:
            raise RefusedError(0, "STALLED", "The export does not get on; does a worker run? Run this again to go on.")
    return export


def _begun(client: Client, memory: Memory, path: str) -> dict[str, Any]:
    """Find what an earlier run began, or begin."""
    state = memory.read()
    if "id" in state:
        try:
            known: dict[str, Any] = client.get(f"{path}/{state['id']}")["data"]
        except RefusedError as error:
            if error.status != _NOT_FOUND:
                raise
            memory.forget()
            state = memory.read()
        else:
            return known
    begun: dict[str, Any] = client.send("POST", path, {}, state["key"])["data"]
    memory.write(state | {"id": begun["id"]})
    return begun


def import_archive(client: Client, source: Path, report: Report) -> dict[str, Any]:
    """Send an archive in chunks, from the first one that was not taken yet; gives the finished import.

    Raises:
        RefusedError: the service refused.
        OSError, ArchiveError: the file cannot be read, or is no whole archive; what was sent before is told and stays.
    """
    identity = f"{client.target.url}\0{client.target.api_key}\0{_digest(source)}"
    memory = Memory(state_folder() / "archives" / f"{hashlib.sha256(identity.encode()).hexdigest()[:24]}.json")
    begun = _begun(client, memory, "/v1/imports")
    if begun["finished"]:
        memory.forget()
        begun = _begun(client, memory, "/v1/imports")
    path = f"/v1/imports/{begun['id']}"
    try:
        _send(client, path, begun, source, report)
    except (archive.ArchiveError, UnicodeDecodeError) as error:
        taken = client.get(path)["data"]["counts"]
        msg = f"{error}. Before that, {taken['created']} items were created, {taken['existing']} were there already"
        raise archive.ArchiveError(msg) from error
    done: dict[str, Any] = client.send("POST", f"{path}:finish", {}, f"{begun['id']}-finish")["data"]
    memory.forget()
    return done


def _send(client: Client, path: str, begun: dict[str, Any], source: Path, report: Report) -> None:
    with source.open("rb") as file:
        chunks = archive.chunks(archive.files(file), _CHUNK_BYTES, _CHUNK_FILES)
        for number, entries in enumerate(chunks, 1):
            if number > begun["chunks"]:
                client.send("PUT", f"{path}/chunks/{number}", {"entries": entries}, f"{begun['id']}-{number}")
            report(file.tell(), source.stat().st_size)


def _digest(source: Path) -> str:
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
