"""What can be done with exports."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from app.features.exports import queries
from app.features.exports.errors import ExportGone, ExportNotFound, ExportRunning
from app.features.exports.schemas import Archive, Export, ExportState, ReadExport, StartExport
from app.features.exports.service import export_job
from app.gate.operation import Context, command, query
from app.gate.policy import Rate, Scope
from app.kit.ids import new_id
from app.kit.schema import One
from app.store import blobs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database

_WHOLE: Final[dict[str, Any]] = {
    "scope": (Scope.DOCUMENTS_READ, Scope.PROMPTS_READ),
    "every_scope": True,
    "whole_workspace": True,
}


@command("exports.start", **_WHOLE, rate=Rate.API)
async def start_export(ctx: Context, args: StartExport) -> One[Export]:  # noqa: ARG001  it has none
    """Begin to write everything of the workspace into one archive, as it is now; needs both read scopes.

    The archive is a gzipped tar: `documents/ID.md` and `prompts/ID.md` with YAML front matter, earlier versions and
    uploaded files beside them, and for each item its history as JSON lines. It is kept for 24 hours.
    """
    export_id = new_id()
    row = await queries.start_export(ctx.tx, export_id, ctx.principal.user_id)
    ctx.emit("export.started", export_id)
    ctx.enqueue(export_job(ctx.workspace_id, export_id))
    return One(data=_export(row))


@query("exports.get", **_WHOLE, rate=Rate.READONLY, raises=(ExportNotFound,))
async def get_export(ctx: Context, args: ReadExport) -> One[Export]:
    """Tell how far an export is; when `state` is `ready`, its content can be read."""
    return One(data=_export(await _find(ctx, args.export_id)))


@query("exports.content", **_WHOLE, rate=Rate.READONLY, raises=(ExportNotFound, ExportRunning, ExportGone))
async def get_content(ctx: Context, args: ReadExport) -> Archive:
    """Download the archive of an export that is ready."""
    row = await _find(ctx, args.export_id)
    if row["state"] == ExportState.RUNNING:
        raise ExportRunning
    if row["state"] == ExportState.GONE:
        raise ExportGone
    found = Archive(filename=f"context-repo-{row['watermark']:%Y-%m-%d-%H%M%S}.tar.gz")
    found._chunks = functools.partial(_read, ctx.database, ctx.workspace_id, row["id"], row["parts"])  # noqa: SLF001
    return found


async def _find(ctx: Context, export_id: UUID) -> asyncpg.Record:
    async with ctx.snapshot() as tx:
        row = await queries.get_export(tx, export_id)
    if row is None:
        raise ExportNotFound
    return row


def _export(row: asyncpg.Record) -> Export:
    return Export.model_validate({name: row[name] for name in Export.model_fields}, by_name=True)


async def _read(database: Database, workspace_id: UUID, export_id: UUID, parts: int) -> AsyncIterator[bytes]:
    """Read an archive part by part; what ends in between cuts the answer off, which its reader sees."""
    for number in range(1, parts + 1):
        async with database.snapshot(workspace_id) as tx:
            digest = await queries.get_part(tx, export_id, number)
            part = await blobs.get(tx, digest) if digest is not None else None
        if part is None:
            raise ExportGone
        yield part
