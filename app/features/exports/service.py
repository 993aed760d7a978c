"""Writes archives: a step is one transaction that adds the next items as parts."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from typing import TYPE_CHECKING, Any

from app.features.documents.service import TYPED
from app.features.exports import queries
from app.kit import archive
from app.kit.trust import Trust, hidden_in
from app.store import blobs
from app.store.jobs import Job

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database
    from app.store.tx import Tx

EXPORT_JOB = "export_workspace"
KINDS = ("documents", "prompts", "collections")
"""In the archive's order: collections name what came before."""

_PART_BYTES = 4 * 1024 * 1024
_STEP_ITEMS = 100
_TURN_SECONDS = 2.0
_SETTLE_SECONDS = 40.0
_POLL_SECONDS = 0.05


class NotSettled(RuntimeError):
    """Writes that began before an export last longer than any may; a sweep tries again."""


def export_job(workspace_id: UUID, export_id: UUID) -> Job:
    """Ask for an export to go on."""
    return Job(EXPORT_JOB, {"workspace": str(workspace_id), "export": str(export_id)}, merges=True)


class Parts:
    """The parts that a step adds: entries are gathered, and kept as soon as there are enough."""

    def __init__(self, tx: Tx, export_id: UUID, count: int) -> None:
        self._tx = tx
        self._export_id = export_id
        self._gathered: list[bytes] = []
        self._size = 0
        self.count = count
        self.written = 0

    async def add(self, path: str, content: bytes) -> None:
        """Add a file."""
        await self.add_raw(archive.tar_entry(path, content))

    async def add_raw(self, entry: bytes) -> None:
        """Add what stands in the tar."""
        self._gathered.append(entry)
        self._size += len(entry)
        self.written += len(entry)
        if self._size >= _PART_BYTES:
            await self.flush()

    async def flush(self) -> None:
        """Keep what is gathered as a part."""
        if not self._gathered:
            return
        part = await asyncio.to_thread(archive.pack, b"".join(self._gathered))
        self._gathered, self._size = [], 0
        self.count += 1
        await queries.insert_part(self._tx, self._export_id, self.count, await blobs.put(self._tx, part))


async def settle(database: Database, workspace_id: UUID) -> None:
    """Wait until every write that began before is over, so that all up to a watermark that lies behind is seen.

    Raises:
        NotSettled: that takes longer than a statement may.
    """
    async with database.tx(workspace_id) as tx:
        transaction = await queries.transaction_id(tx)
    deadline = time.monotonic() + _SETTLE_SECONDS
    while not await queries.is_settled(database, transaction):
        if time.monotonic() > deadline:
            raise NotSettled
        await asyncio.sleep(_POLL_SECONDS)


async def work(database: Database, workspace_id: UUID, export_id: UUID) -> bool:
    """Go on with an export for a while; tells whether something is left to do."""
    async with database.snapshot(workspace_id) as tx:
        row = await queries.get_export(tx, export_id)
    if row is not None and not row["kind"]:
        await settle(database, workspace_id)
    deadline = time.monotonic() + _TURN_SECONDS
    while time.monotonic() < deadline:
        async with database.tx(workspace_id) as tx:
            if not await step(tx, export_id):
                return False
    return True


async def step(tx: Tx, export_id: UUID) -> bool:
    """Write the next items of an export that is settled; False when it is ready, or somebody else's."""
    row = await queries.lock_export(tx, export_id)
    if row is None:
        return False
    parts = Parts(tx, export_id, row["parts"])
    if not row["kind"]:
        await parts.add(archive.MANIFEST, archive.manifest())
        return await _go_on(tx, row, parts, KINDS[0], (None, None), 0)
    kind, watermark = row["kind"], row["watermark"]
    done, seen = 0, (row["seen_at"], row["seen_id"])
    for item in await queries.next_items(tx, kind, watermark, seen, _STEP_ITEMS):
        await _WRITERS[kind](tx, item, watermark, parts)
        done, seen = done + 1, (item["created_at"], item["id"])
        if parts.written >= _PART_BYTES:
            break
    if done:
        return await _go_on(tx, row, parts, kind, seen, done)
    following = KINDS[KINDS.index(kind) + 1 :]
    if not following:
        await parts.add_raw(archive.END)
    return await _go_on(tx, row, parts, following[0] if following else kind, (None, None), 0, ready=not following)


async def _go_on(
    tx: Tx,
    row: asyncpg.Record,
    parts: Parts,
    kind: str,
    seen: tuple[datetime | None, UUID | None],
    items: int,
    *,
    ready: bool = False,
) -> bool:
    await parts.flush()
    await queries.advance(tx, row["id"], kind, seen, items, parts.count - row["parts"], done=ready)
    return not ready


async def _write_document(tx: Tx, item: asyncpg.Record, watermark: datetime, parts: Parts) -> None:
    revisions = await queries.list_revisions(tx, item["id"], watermark)
    if not revisions:
        return  # it was created within the moment of the watermark
    last, place = revisions[-1], f"documents/{item['id']}"
    for _, (row, *_) in itertools.groupby(revisions, key=lambda row: row["version"]):
        digest = row["content_digest"]
        if digest is not None and row["version"] != last["version"]:
            text = await queries.get_text(tx, digest)
            await parts.add(f"{place}/v{row['version']}.md", _markdown(_version_of(row), text, item["source_type"]))
    text = await queries.get_text(tx, last["content_digest"])
    fields = {
        "id": item["id"],
        "title": last["title"],
        "tags": last["tags"],
        "revision": last["revision"],
        "version": last["version"],
        "contentHash": last["content_hash"],
        "sourceUrl": item["source_url"],
        "createdAt": item["created_at"],
        "lastChangedAt": last["decided_at"],
    }
    await parts.add(f"{place}.md", _markdown(fields, text, item["source_type"]))
    first = {
        "type": "document",
        "id": item["id"],
        "createdAt": item["created_at"],
        "sourceType": item["source_type"],
        "sourceUrl": item["source_url"],
        "file": await _write_file(tx, item["id"], place, parts),
    }
    await parts.add(f"{place}.jsonl", archive.json_lines([first, *map(_revision, revisions)]))


async def _write_file(tx: Tx, document_id: UUID, place: str, parts: Parts) -> dict[str, Any] | None:
    """Write the file that a document was made from; gives what its history says of it."""
    row = await queries.get_file(tx, document_id)
    if row is None:
        return None
    await parts.add(place + archive.ORIGINAL, row["content"])
    return {"name": row["name"], "mediaType": row["media_type"], "digest": row["digest"].hex()}


def _markdown(fields: dict[str, Any], text: str, source_type: str = TYPED) -> bytes:
    """Write a text with what a reader should know of it; who of the members wrote it, its history says by name."""
    count = hidden_in([fields, text])
    trust = None if source_type == TYPED else Trust.EXTERNAL
    return archive.with_front_matter(fields | {"trust": trust, "hiddenCharacters": count or None}, text)


def _version_of(row: asyncpg.Record) -> dict[str, Any]:
    return {"version": row["version"], "userName": row["user_name"], "decidedAt": row["decided_at"]}


def _revision(row: asyncpg.Record) -> dict[str, Any]:
    digest = row["content_digest"]
    return {
        "type": "revision",
        "id": row["id"],
        "revision": row["revision"],
        "version": row["version"],
        "contentChanged": row["content_changed"],
        "title": row["title"],
        "tags": row["tags"],
        "text": digest.hex() if digest is not None else None,
        "changeLog": row["change_log"],
        "userName": row["user_name"],
        "agent": row["agent"],
        "decidedAt": row["decided_at"],
    }


async def _write_prompt(tx: Tx, item: asyncpg.Record, watermark: datetime, parts: Parts) -> None:
    versions = await queries.list_versions(tx, item["id"], watermark)
    revisions = await queries.list_prompt_revisions(tx, item["id"], watermark)
    if not versions or not revisions:
        return  # it was created within the moment of the watermark
    last, now, place = versions[-1], revisions[-1], f"prompts/{item['id']}"
    for row in versions[:-1]:
        text = await queries.get_version_text(tx, item["id"], row["version"])
        await parts.add(f"{place}/v{row['version']}.md", _markdown(_version_of(row), text))
    fields = {"id": item["id"]} | {name: now[name] for name in ("title", "description", "tags", "version")}
    text = await queries.get_version_text(tx, item["id"], last["version"])
    await parts.add(f"{place}.md", _markdown(fields, text))
    first = {
        "type": "prompt",
        "id": item["id"],
        **_said(now),
        "createdAt": item["created_at"],
        "lastChangedAt": now["decided_at"],
    }
    labels = await queries.list_labels(tx, item["id"], watermark)
    known = {row["version"] for row in versions}
    earlier = [
        {"type": "revision", **_said(row), "version": row["version"], "decidedAt": row["decided_at"]}
        for row in revisions[:-1]
    ]
    labelled = [_label(row) for row in labels if row["version"] in known]
    lines = [first, *map(_version, versions), *earlier, *labelled]
    await parts.add(f"{place}.jsonl", archive.json_lines(lines))


def _said(row: asyncpg.Record) -> dict[str, Any]:
    """Give what a revision of a prompt says beside its text."""
    return {
        "title": row["title"],
        "description": row["description"],
        "tags": row["tags"],
        "variables": json.loads(row["variables"]) if row["variables"] is not None else None,
        "parameters": json.loads(row["parameters"]),
        "archived": row["archived"],
        "revision": row["revision"],
    }


def _version(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "type": "version",
        "id": row["id"],
        "version": row["version"],
        "revision": row["revision"],
        "text": row["digest"].hex(),
        "changeLog": row["change_log"],
        "userName": row["user_name"],
        "agent": row["agent"],
        "decidedAt": row["decided_at"],
    }


def _label(row: asyncpg.Record) -> dict[str, Any]:
    return {
        "type": "label",
        "label": row["label"],
        "version": row["version"],
        "userName": row["user_name"],
        "movedAt": row["moved_at"],
    }


async def _write_collection(tx: Tx, item: asyncpg.Record, watermark: datetime, parts: Parts) -> None:
    first = {
        "type": "collection",
        "id": item["id"],
        "name": item["name"],
        "description": item["description"],
        "color": item["color"],
        "icon": item["icon"],
        "tags": item["tags"],
        "revision": item["revision"],
        "createdAt": item["created_at"],
        "lastChangedAt": item["last_changed_at"],
    }
    members = [
        {"type": "item", "itemType": row["item_type"], "itemId": row["item_id"], "addedAt": row["added_at"]}
        for row in await queries.list_members(tx, item["id"], watermark)
    ]
    await parts.add(f"collections/{item['id']}.jsonl", archive.json_lines([first, *members]))


_WRITERS = {"documents": _write_document, "prompts": _write_prompt, "collections": _write_collection}
