"""Takes the files of an archive: texts are kept until the history that names them comes, which makes the item."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from app.features.imports import queries
from app.features.imports.schemas import RECORDS, Counts, LabelRecord, PromptRevisionRecord, VersionRecord
from app.features.prompts.schemas import canonical
from app.features.prompts.service import State, names_in
from app.features.uploads import service as uploads
from app.features.uploads.schemas import UploadedFile
from app.gate.arguments import parse_args
from app.gate.index import index_job
from app.kit import archive
from app.kit.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from app.features.imports.schemas import (
        CollectionRecord,
        DocumentRecord,
        Entry,
        FileRecord,
        PromptRecord,
        PromptState,
        RevisionRecord,
    )
    from app.gate.operation import Context


async def take(ctx: Context, import_id: UUID, entries: Sequence[Entry]) -> Counts:
    """Take files in the archive's order; an item whose id is taken stays as it is.

    Raises:
        InvalidRequest: a file is none of an archive, or a history is not one; the message names it.
    """
    counts = {"created": 0, "existing": 0, "texts": 0}
    for entry in entries:
        counts[await _take(ctx, import_id, entry)] += 1
    if counts["created"]:
        ctx.enqueue(index_job(ctx.workspace_id))
    return Counts(created=counts["created"], existing=counts["existing"], texts=counts["texts"])


async def _take(ctx: Context, import_id: UUID, entry: Entry) -> str:
    if entry.path == archive.MANIFEST:
        if not archive.is_manifest(entry.text or ""):
            raise _refused(entry.path, f"this release reads version {archive.VERSION} of {archive.FORMAT}")
        return "texts"
    found = archive.parse_path(entry.path)
    if found is None:
        raise _refused(entry.path, "is no file of an archive")
    folder, item_id, rest = found
    if rest != ".jsonl":
        await _keep_for_later(ctx, import_id, entry, item_id)
        return "texts"
    first, following = _records(folder, entry)
    if first.id != item_id:
        raise _refused(entry.path, "its first line has another id")
    if await queries.item_exists(ctx.tx, folder, item_id):
        return "existing"
    try:
        return "created" if await _WRITERS[folder](ctx, import_id, first, following) else "existing"
    except InvalidRequest as error:
        raise _refused(entry.path, error.message) from error


async def _keep_for_later(ctx: Context, import_id: UUID, entry: Entry, document_id: UUID) -> None:
    """Keep a text, or a piece of a document's file, until the history comes that names it."""
    if entry.path == f"documents/{document_id}{archive.ORIGINAL}":
        if entry.base64 is None:
            raise _refused(entry.path, "comes as base64")
        await queries.add_piece(ctx.tx, import_id, _key_of_file(document_id), entry.base64)
        return
    text = archive.without_front_matter(entry.text or "")
    if text is None:
        raise _refused(entry.path, "must begin with front matter between lines of ---")
    await queries.put_text(ctx.tx, import_id, archive.digest_of(text), text)


def _refused(path: str, message: str) -> InvalidRequest:
    return InvalidRequest(f"{path}: {message}", details=[{"field": path, "message": message}])


def _records(folder: str, entry: Entry) -> tuple[Any, list[Any]]:
    """Read the lines of a history: the item, then what follows."""
    head, rest = RECORDS[folder]
    known = {model.model_fields["type"].annotation.__args__[0]: model for model in rest}
    found: list[Any] = []
    for number, line in enumerate((entry.text or "").rstrip("\n").split("\n"), 1):
        try:
            raw = json.loads(line)
            model = head if number == 1 else known[raw.pop("type")]
            found.append(parse_args(model, {"type": model.model_fields["type"].annotation.__args__[0], **raw}))
        except InvalidRequest as error:
            raise _refused(entry.path, f"line {number}: {error.message}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _refused(entry.path, f"line {number}: is no record of {folder}") from error
    return found[0], found[1:]


def _row(record: BaseModel) -> dict[str, Any]:
    return record.model_dump(mode="json")


def _check_ids(fresh: bool) -> None:  # noqa: FBT001  one fact
    if not fresh:
        msg = "an id of its history stands in another item's"
        raise InvalidRequest(msg)


async def _document(ctx: Context, import_id: UUID, first: DocumentRecord, revisions: list[RevisionRecord]) -> bool:
    last = _check_revisions(revisions)
    digests = sorted({bytes.fromhex(row.text) for row in revisions if row.text is not None})
    missing = set(digests) - await queries.keep_texts(ctx.tx, import_id, digests)
    for row in revisions:
        if row.text is not None and bytes.fromhex(row.text) in missing:
            msg = f"the text of version {row.version} did not come before it, or was changed"
            raise InvalidRequest(msg)
    assert last.title is not None
    assert last.tags is not None
    assert last.text is not None
    values = (last.title, last.tags, bytes.fromhex(last.text), last.revision, last.version, first.source_type)
    source = (first.source_url, ctx.principal.user_id, first.created_at, last.decided_at)
    if not await queries.insert_document(ctx.tx, first.id, *values, *source):
        return False
    await queries.insert_tags(ctx.tx, first.id, last.tags)
    rows = [_row(row) for row in revisions]
    _check_ids(await queries.insert_revisions(ctx.tx, first.id, rows, ctx.principal.user_id, ctx.principal.grant_id))
    if first.file is not None:
        await _keep_file(ctx, import_id, first.id, first.file)
    ctx.emit("document.imported", first.id, last.revision)
    return True


def _key_of_file(document_id: UUID) -> bytes:
    """Give the digest under which a file waits: of no text, since none holds a zero byte."""
    return archive.digest_of(f"\0original of {document_id}")


async def _keep_file(ctx: Context, import_id: UUID, document_id: UUID, record: FileRecord) -> None:
    key = _key_of_file(document_id)
    waiting = (await queries.take_texts(ctx.tx, import_id, [key])).get(key, "")
    try:
        content = base64.b64decode(waiting, validate=True)
    except ValueError:
        content = b""
    if not content or hashlib.sha256(content).hexdigest() != record.digest:
        msg = "its file did not come before it, or was changed"
        raise InvalidRequest(msg)
    file = UploadedFile(name=record.name, media_type=record.media_type, content=content)
    await uploads.keep_original(ctx.tx, document_id, file)


def _check_revisions(revisions: list[RevisionRecord]) -> RevisionRecord:
    """Check that a history is one, and that its last revision is whole; gives that."""
    if not revisions or None in (revisions[-1].title, revisions[-1].tags, revisions[-1].text):
        msg = "the last revision must have title, tags and text"
        raise InvalidRequest(msg)
    for before, after in itertools.pairwise(revisions):
        if after.revision <= before.revision or after.version != before.version + after.content_changed:
            msg = f"revision {after.revision} does not follow revision {before.revision}"
            raise InvalidRequest(msg)
    if revisions[0].content_changed != (revisions[0].version > 0):
        msg = "the first revision must begin a version, unless the text was still to come: that is version 0"
        raise InvalidRequest(msg)
    return revisions[-1]


async def _prompt(ctx: Context, import_id: UUID, first: PromptRecord, lines: list[Any]) -> bool:
    versions = [line for line in lines if isinstance(line, VersionRecord)]
    last = _check_versions(first, versions)
    texts = await queries.take_texts(ctx.tx, import_id, sorted({bytes.fromhex(row.text) for row in versions}))
    rows = []
    for row in versions:
        if (text := texts.get(bytes.fromhex(row.text))) is None:
            msg = f"the text of version {row.version} did not come before it, or was changed"
            raise InvalidRequest(msg)
        rows.append(_row(row) | {"content": text, "names": names_in(text)})
    contents = {row["version"]: row["content"] for row in rows}
    state = _state(first, contents[last.version])
    values = (first.title, first.description, first.tags, state.variables_json, canonical(first.parameters))
    more = (first.archived, state.digest(), first.revision, last.version, ctx.principal.user_id)
    if not await queries.insert_prompt(ctx.tx, first.id, *values, *more, first.created_at, first.last_changed_at):
        return False
    _check_ids(await queries.insert_versions(ctx.tx, first.id, rows, ctx.principal.user_id, ctx.principal.grant_id))
    said = [_said(first, state, last.version, first.last_changed_at)]
    for line in lines:
        if isinstance(line, PromptRevisionRecord):
            if line.version not in contents or line.revision >= first.revision:
                msg = f"revision {line.revision} has no version here, or is none before the prompt's"
                raise InvalidRequest(msg)
            said.append(_said(line, _state(line, contents[line.version]), line.version, line.decided_at))
    await queries.insert_prompt_revisions(ctx.tx, first.id, said)
    labels = [_row(line) for line in lines if isinstance(line, LabelRecord) and line.version in contents]
    await queries.insert_labels(ctx.tx, first.id, labels)
    ctx.emit("prompt.imported", first.id, first.revision)
    return True


def _state(said: PromptState, content: str) -> State:
    return State(
        said.title, said.description, content, said.tags, said.variables, said.parameters, archived=said.archived
    )


def _said(record: PromptState, state: State, version: int, decided_at: datetime) -> dict[str, Any]:
    """Give the row of a prompt's revision."""
    return {
        "revision": record.revision,
        "version": version,
        "title": state.title,
        "description": state.description,
        "tags": state.tags,
        "variables": state.variables_json,
        "parameters": canonical(state.parameters),
        "archived": state.archived,
        "hash": state.digest().hex(),
        "decided_at": decided_at.isoformat(),
    }


def _check_versions(first: PromptRecord, versions: list[VersionRecord]) -> VersionRecord:
    if not versions or versions[-1].revision > first.revision:
        msg = "there must be versions, none of a later revision than the prompt"
        raise InvalidRequest(msg)
    for before, after in itertools.pairwise(versions):
        if after.version <= before.version or after.revision <= before.revision:
            msg = f"version {after.version} does not follow version {before.version}"
            raise InvalidRequest(msg)
    return versions[-1]


async def _collection(ctx: Context, import_id: UUID, first: CollectionRecord, members: list[Any]) -> bool:  # noqa: ARG001  one signature for all
    values = (first.name, first.description, first.color, first.icon, first.tags, first.revision)
    more = (ctx.principal.user_id, first.created_at, first.last_changed_at)
    if not await queries.insert_collection(ctx.tx, first.id, *values, *more):
        return False
    await queries.insert_members(ctx.tx, first.id, [_row(member) for member in members], ctx.principal.user_id)
    ctx.emit("collection.imported", first.id, first.revision)
    return True


_WRITERS: dict[str, Callable[[Context, UUID, Any, Any], Awaitable[bool]]] = {
    "documents": _document,
    "prompts": _prompt,
    "collections": _collection,
}
