"""What can be done with imports."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import pydantic_core

from app.features.imports import queries, service
from app.features.imports.errors import ChunkDiffers, ImportEmpty, ImportFinished, ImportNotFound
from app.features.imports.schemas import MAX_ENTRIES, Chunk, Counts, Import, PutChunk, ReadImport, StartImport
from app.gate.operation import Context, command, query
from app.gate.policy import Meter, Rate, Scope
from app.kit.errors import InvalidRequest
from app.kit.ids import new_id
from app.kit.schema import One

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.tx import Tx

_WHOLE: Final[dict[str, Any]] = {
    "scope": (Scope.DOCUMENTS_WRITE, Scope.PROMPTS_WRITE),
    "every_scope": True,
    "whole_workspace": True,
}


@command("imports.start", **_WHOLE, rate=Rate.API)
async def start_import(ctx: Context, args: StartImport) -> One[Import]:  # noqa: ARG001  it has none
    """Begin to import an archive; its files follow in chunks. Needs both write scopes."""
    import_id = new_id()
    await queries.start_import(ctx.tx, import_id, ctx.principal.user_id)
    ctx.emit("import.started", import_id)
    return One(data=await _read(ctx.tx, import_id))


@command(
    "imports.put_chunk",
    **_WHOLE,
    rate=Rate.API,
    spends=(Meter.DOCUMENTS, Meter.PROMPTS, Meter.COLLECTIONS, Meter.STORAGE_BYTES),
    most=MAX_ENTRIES,
    raises=(ImportNotFound, ImportFinished, ChunkDiffers),
)
async def put_chunk(ctx: Context, args: PutChunk) -> One[Chunk]:
    """Take some files of an archive, in the archive's order: all of them, or none when one is refused.

    Items keep their ids and their history; one whose id is taken stays as it is. A chunk that is sent again answers as
    it did, so that an import can go on after a broken connection.
    """
    row = await queries.lock_import(ctx.tx, args.import_id)
    if row is None:
        raise ImportNotFound
    digest = hashlib.sha256(pydantic_core.to_json(args.entries)).digest()
    known = await queries.get_chunk(ctx.tx, args.import_id, args.number)
    if known is not None:
        if known["digest"] != digest:
            raise ChunkDiffers
        return One(data=Chunk(number=args.number, counts=Counts(**known["counts"])))
    if row["finished_at"] is not None:
        raise ImportFinished
    if args.number != (following := await queries.last_chunk(ctx.tx, args.import_id) + 1):
        msg = f"number: chunks come in their order; send number {following}"
        raise InvalidRequest(msg, details=[{"field": "number", "message": msg}])
    counts = await service.take(ctx, args.import_id, args.entries)
    await queries.insert_chunk(ctx.tx, args.import_id, args.number, digest, counts.model_dump())
    return One(data=Chunk(number=args.number, counts=counts))


@command("imports.finish", **_WHOLE, rate=Rate.API, raises=(ImportNotFound, ImportEmpty))
async def finish_import(ctx: Context, args: ReadImport) -> One[Import]:
    """End an import; texts that no item took are forgotten. Finishing a finished one changes nothing.

    An import of which no chunk was taken is none, and cannot be finished.
    """
    row = await queries.lock_import(ctx.tx, args.import_id)
    if row is None:
        raise ImportNotFound
    if row["finished_at"] is None:
        if not await queries.last_chunk(ctx.tx, args.import_id):
            raise ImportEmpty
        await queries.finish_import(ctx.tx, args.import_id)
        ctx.emit("import.finished", args.import_id)
    return One(data=await _read(ctx.tx, args.import_id))


@query("imports.get", **_WHOLE, rate=Rate.READONLY, raises=(ImportNotFound,))
async def get_import(ctx: Context, args: ReadImport) -> One[Import]:
    """Tell what an import took so far, and after which chunk to go on."""
    async with ctx.snapshot() as tx:
        return One(data=await _read(tx, args.import_id))


async def _read(tx: Tx, import_id: UUID) -> Import:
    row = await queries.get_import(tx, import_id)
    if row is None:
        raise ImportNotFound
    return Import(
        id=row["id"],
        finished=row["finished_at"] is not None,
        chunks=row["chunks"],
        counts=Counts(created=row["created"], existing=row["existing"], texts=row["texts"]),
        created_at=row["created_at"],
    )
