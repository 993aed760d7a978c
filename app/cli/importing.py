"""Imports files as documents; a second run sends only what changed.

What was imported is remembered beside the user's other state, per service and key. A run that was cut off repeats a
request with the same idempotency key, so that no file becomes two documents.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.client import RefusedError

if TYPE_CHECKING:
    from app.cli.client import Client, Target

SUFFIXES = frozenset({".md", ".markdown", ".mdx", ".txt", ".text", ".rst", ".adoc"})
MAX_TITLE = 500
_NOT_FOUND = 404
_CONFLICT = 409
_HOPELESS = frozenset({0, 401, 403})
"""No answer, or not with this key: every other file would fare the same."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What is known of a file that was imported before."""

    path: str
    document_id: str
    revision: int
    digest: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened to one file: `created`, `updated`, `unchanged` or `failed`."""

    path: str
    result: str
    document_id: str = ""
    message: str = ""


class Memory:
    """The imports of one service and key, as an append-only file of JSON lines."""

    def __init__(self, target: Target) -> None:
        name = hashlib.sha256(f"{target.url}\0{target.api_key}".encode()).hexdigest()[:24]
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        self._file = base / "context-repo" / "imports" / f"{name}.jsonl"
        self._known: dict[str, Imported] = {}
        if self._file.is_file():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                self._take(line)

    def _take(self, line: str) -> None:
        try:
            entry = Imported(**json.loads(line))
        except (ValueError, TypeError):
            return  # a line that a crash cut off
        self._known[entry.path] = entry

    def get(self, path: Path) -> Imported | None:
        """Tell what is known of a file."""
        return self._known.get(str(path))

    def put(self, entry: Imported) -> None:
        """Remember a file."""
        self._known[entry.path] = entry
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(entry)) + "\n")


def find_files(paths: list[Path]) -> Iterator[Path]:
    """Yield named files as they are, and the text files of folders in order, hidden ones left out."""
    for path in paths:
        if path.is_dir():
            yield from (found for found in sorted(path.rglob("*")) if _wanted(found, path))
        else:
            yield path


def _wanted(path: Path, root: Path) -> bool:
    visible = not any(part.startswith(".") for part in path.relative_to(root).parts)
    return visible and path.suffix.lower() in SUFFIXES and path.is_file()


def import_file(client: Client, memory: Memory, path: Path, tags: list[str]) -> Outcome:
    """Create or update the document of a file.

    Raises:
        RefusedError: for a reason that has nothing to do with the file.
    """
    absolute = path.resolve()
    try:
        text = absolute.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return Outcome(str(path), "failed", message=f"cannot be read as UTF-8 text: {error}")
    if not text.strip():
        return Outcome(str(path), "failed", message="is empty")
    digest = hashlib.sha256("\0".join([text, *tags]).encode()).hexdigest()
    known = memory.get(absolute)
    if known is not None and known.digest == digest:
        return Outcome(str(path), "unchanged", known.document_id)
    body = {"title": title_of(path, text), "content": text, "tags": tags}
    try:
        return _send(client, memory, absolute, body, digest, known)
    except RefusedError as error:
        if error.status in _HOPELESS:
            raise
        return Outcome(str(path), "failed", message=f"{error.reason}: {error.message}")


def _send(
    client: Client, memory: Memory, path: Path, body: dict[str, Any], digest: str, known: Imported | None
) -> Outcome:
    basis = f"{known.document_id}\0{known.revision}" if known else ""
    key = hashlib.sha256(f"import\0{path}\0{digest}\0{basis}".encode()).hexdigest()
    result = "created"
    if known is not None:
        try:
            change = {**body, "expectedRevision": known.revision, "changeLog": "import"}
            answer = client.send("PATCH", f"/v1/documents/{known.document_id}", change, key)
            result = "updated"
        except RefusedError as error:
            if error.status == _CONFLICT:
                message = f"the document {known.document_id} was edited since it was imported; merge by hand"
                return Outcome(str(path), "failed", known.document_id, message)
            if error.status != _NOT_FOUND:
                raise
            answer = client.send("POST", "/v1/documents", body, f"{key}-again")
    else:
        answer = client.send("POST", "/v1/documents", body, key)
    data = answer["data"]
    memory.put(Imported(str(path), data["id"], data["revision"], digest))
    return Outcome(str(path), result, data["id"])


def title_of(path: Path, text: str) -> str:
    """Take the first heading of level 1, else the file's name."""
    for line in text.splitlines()[:200]:
        if line.startswith("# ") and line[2:].strip():
            return line[2:].strip()[:MAX_TITLE]
    return path.stem[:MAX_TITLE]
