"""Imports files as documents, many in a request; a second run writes only what changed.

Which file became which document is remembered beside the user's other state, per service and key. A run that was cut
off repeats a request with the same idempotency key, so that no file becomes two documents.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli import frontmatter
from app.cli.client import BUSY, RefusedError
from app.cli.ignoring import walk
from app.kit.kinds import kind_of

if TYPE_CHECKING:
    from app.cli.client import Client, Target

MARKDOWN = frozenset({".md", ".markdown", ".mdx"})
SUFFIXES = MARKDOWN | {".txt", ".text", ".rst", ".adoc"}
_UNREADABLE = "is of no kind that can be read"
_IGNORED = "is left out by .gitignore or holds installed packages; name it to import it"
_NOT_UTF8 = "is no UTF-8 text; save it as UTF-8, or give it the name that says what it is, and import it again"
MAX_TITLE = 500
BATCH_FILES = 100
BATCH_BYTES = 4 * 1024 * 1024
_NOT_FOUND = 404
_CONFLICT = 409
HOPELESS = frozenset({0, 401, 403}) | BUSY
"""No answer, not with this key, or busy for too long: every other file would fare the same."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What is known of a file that was imported before."""

    path: str
    document_id: str
    revision: int
    digest: str = ""
    """Of the file itself, where the service reads it."""


@dataclass(frozen=True, slots=True)
class Found:
    """Files to import: those that are sent as text, those that the service reads, and those that no reader knows."""

    texts: list[Path] = field(default_factory=list)
    uploads: list[Path] = field(default_factory=list)
    skipped: list[Outcome] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened to one file: `created`, `updated`, `unchanged`, `skipped` or `failed`."""

    path: str
    result: str
    document_id: str = ""
    message: str = ""
    being_read: bool = False
    """Whether the service has the file, and its text is still to come."""


def state_folder() -> Path:
    """Give the folder of what is remembered between runs."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "context-repo"


class Memory:
    """The imports of one service and key, as an append-only file of JSON lines."""

    def __init__(self, target: Target) -> None:
        name = hashlib.sha256(f"{target.url}\0{target.api_key}".encode()).hexdigest()[:24]
        self._file = state_folder() / "imports" / f"{name}.jsonl"
        self._known: dict[str, Imported] = {}
        if self._file.is_file():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                self._take(line)

    def _take(self, line: str) -> None:
        try:
            saved = json.loads(line)
            entry = Imported(saved["path"], saved["document_id"], saved["revision"], saved.get("digest", ""))
        except (ValueError, TypeError, KeyError):
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


def find_files(paths: list[Path]) -> Found:
    """Find named files, and those of folders in order, by what is done with them.

    A named file of an unknown kind is taken for text; in a folder it is skipped by name, and so is what git ignores.
    Hidden ones there are left out without a word.
    """
    found = Found()
    for path in paths:
        if not path.is_dir():
            (found.uploads if _is_upload(path) else found.texts).append(path)
            continue
        for file, counts in walk(path):
            if not counts:
                found.skipped.append(Outcome(str(file), "skipped", message=_IGNORED))
            elif file.suffix.lower() in SUFFIXES:
                found.texts.append(file)
            elif _is_upload(file):
                found.uploads.append(file)
            else:
                found.skipped.append(Outcome(str(file), "skipped", message=_UNREADABLE))
    return found


def _is_upload(path: Path) -> bool:
    return path.suffix.lower() not in SUFFIXES and kind_of(path.name, "") is not None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a file says, and what it was before."""

    path: Path
    body: dict[str, Any]
    known: Imported | None

    @property
    def item(self) -> dict[str, Any]:
        """Give it as the item of a batch: a first write has a key of its own, so that a repeated run makes no twin."""
        if self.known is None:
            return {"op": "create", **self.body, "idempotencyKey": _key(self.path, self.body, "")}
        about = {"documentId": self.known.document_id, "expectedRevision": self.known.revision, "changeLog": "import"}
        return {"op": "update", **about, **self.body}


def import_files(
    client: Client, memory: Memory, found: Found, tags: list[str], *, overwrite: bool = False
) -> Iterator[Outcome]:
    """Bring the documents of texts to what the files say; `overwrite` also over what somebody else wrote meanwhile.

    A file in another encoding than UTF-8 is left to the service, which reads others too: it joins the uploads.

    Raises:
        RefusedError: for a reason that has nothing to do with a file.
    """
    batch: dict[Path, _Wanted] = {}
    size = 0
    for path in found.texts:
        if path.resolve() in batch:  # named twice: the second time it is known
            yield from _send(client, memory, list(batch.values()), overwrite=overwrite)
            batch, size = {}, 0
        wanted = _read(memory, path, tags)
        if wanted is None:
            found.uploads.append(path)
            continue
        if isinstance(wanted, Outcome):
            yield wanted
            continue
        length = len(json.dumps(wanted.item))
        if batch and (size + length > BATCH_BYTES or len(batch) == BATCH_FILES):
            yield from _send(client, memory, list(batch.values()), overwrite=overwrite)
            batch, size = {}, 0
        batch[wanted.path] = wanted
        size += length
    if batch:
        yield from _send(client, memory, list(batch.values()), overwrite=overwrite)


def _read(memory: Memory, path: Path, tags: list[str]) -> _Wanted | Outcome | None:
    """Read a file; None where only the service can, since its text is not in UTF-8."""
    absolute = path.resolve()
    try:
        content = absolute.read_bytes().decode("utf-8-sig")  # not as text, which would rewrite line ends
    except OSError as error:
        return Outcome(str(path), "failed", message=f"cannot be read: {error}")
    except UnicodeDecodeError:
        return None if kind_of(path.name, "") else Outcome(str(path), "failed", message=_NOT_UTF8)
    markdown = absolute.suffix.lower() in MARKDOWN
    found = frontmatter.split(content) if markdown else frontmatter.Parts(content)
    if not found.text.strip():
        return Outcome(str(path), "skipped", message="is empty")
    title = (found.title or title_of(path, found.text))[:MAX_TITLE]
    body = {"title": title, "content": found.text, "tags": list(dict.fromkeys([*tags, *found.tags]))}
    return _Wanted(absolute, body, memory.get(absolute))


def _send(client: Client, memory: Memory, batch: list[_Wanted], *, overwrite: bool) -> Iterator[Outcome]:
    """Write a batch; what it cannot settle is looked at file by file."""
    try:
        body = {"items": [wanted.item for wanted in batch]}
        answers = client.send("POST", "/v1/documents:batch", body, secrets.token_hex(16))["data"]
    except RefusedError as error:
        if error.status in HOPELESS:
            raise
        answers = [None] * len(batch)
    for wanted, answer in zip(batch, answers, strict=True):
        outcome = _settled(memory, wanted, answer) if answer is not None else None
        yield outcome or _alone(client, memory, wanted, overwrite=overwrite)


def _settled(memory: Memory, wanted: _Wanted, answer: dict[str, Any]) -> Outcome | None:
    """Tell what became of an item; None where it is tried alone: the document was edited or deleted, or is busy."""
    path = str(wanted.path)
    if "error" in answer:
        if answer["status"] in BUSY or (wanted.known is not None and answer["status"] in {_NOT_FOUND, _CONFLICT}):
            return None
        return Outcome(path, "failed", message=f"{answer['error']['reason']}: {answer['error']['message']}")
    data = answer["data"]
    if data.get("noop"):
        return Outcome(path, "unchanged", data["id"])
    memory.put(Imported(path, data["id"], data["revision"]))
    return Outcome(path, "updated" if wanted.known else "created", data["id"])


def _alone(client: Client, memory: Memory, wanted: _Wanted, *, overwrite: bool) -> Outcome:
    """Bring one document to what its file says, after a look at it."""
    path, body, known = wanted.path, wanted.body, wanted.known
    try:
        there = current(client, known.document_id) if known else None
        if known is None or there is None:
            return _create(client, memory, path, body, known)
        return _change(client, memory, known, there, body, overwrite=overwrite)
    except RefusedError as error:
        if error.status in HOPELESS:
            raise
        return Outcome(str(path), "failed", message=f"{error.reason}: {error.message}")


def current(client: Client, document_id: str) -> dict[str, Any] | None:
    """Read the document that a file became; None when it was deleted."""
    try:
        document: dict[str, Any] = client.get(f"/v1/documents/{document_id}")["data"]
    except RefusedError as error:
        if error.status == _NOT_FOUND:
            return None
        raise
    return document


def _create(client: Client, memory: Memory, path: Path, body: dict[str, Any], known: Imported | None) -> Outcome:
    # The key names what the file was before, so that a file whose document was deleted becomes a new one.
    key = _key(path, body, known.document_id if known else "")
    data = client.send("POST", "/v1/documents", body, key)["data"]
    memory.put(Imported(str(path), data["id"], data["revision"]))
    return Outcome(str(path), "created", data["id"])


def _change(
    client: Client, memory: Memory, known: Imported, current: dict[str, Any], body: dict[str, Any], *, overwrite: bool
) -> Outcome:
    revision = current["revision"]
    if all(current[name] == value for name, value in body.items()):
        if revision != known.revision:
            memory.put(Imported(known.path, known.document_id, revision))
        return Outcome(known.path, "unchanged", known.document_id)
    if revision != known.revision and not overwrite:
        message = f"the document {known.document_id} was edited since it was imported; merge by hand, then --overwrite"
        return Outcome(known.path, "failed", known.document_id, message)
    change = {**body, "expectedRevision": revision, "changeLog": "import"}
    key = _key(Path(known.path), body, f"{known.document_id}\0{revision}")
    data = client.send("PATCH", f"/v1/documents/{known.document_id}", change, key)["data"]
    memory.put(Imported(known.path, known.document_id, data["revision"]))
    return Outcome(known.path, "updated", known.document_id)


def _key(path: Path, body: dict[str, Any], basis: str) -> str:
    return hashlib.sha256(f"import\0{path}\0{json.dumps(body)}\0{basis}".encode()).hexdigest()


def title_of(path: Path, text: str) -> str:
    """Take the first heading of level 1, else the file's name."""
    for line in text.splitlines()[:200]:
        if line.startswith("# ") and line[2:].strip():
            return line[2:].strip()
    return path.stem
