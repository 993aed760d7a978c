"""What can be done with prompts (contract: operations 1 to 7), and labels that point at their versions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.features.collections import service as collections
from app.features.collections.errors import CollectionNotFound
from app.features.prompts import queries
from app.features.prompts.errors import (
    LabelNotFound,
    PromptNotFound,
    PromptRevisionNotFound,
    PromptVersionNotFound,
)
from app.features.prompts.schemas import (
    MAX_LABELS,
    ChangedPrompt,
    CreatePrompt,
    DeletePrompt,
    GetPrompt,
    ListLabels,
    ListPrompts,
    ListPromptVersions,
    PatchPrompt,
    Prompt,
    PromptAck,
    PromptItem,
    PromptLabel,
    PromptVersion,
    RemoveLabel,
    RestorePromptVersion,
    SetLabel,
)
from app.features.prompts.service import State, Version, fields, read_as_of, read_prompt, version_fields
from app.gate.index import index_job
from app.gate.operation import Context, command, query
from app.gate.policy import Meter, Rate, Scope
from app.kit import cursor
from app.kit.asof import point
from app.kit.errors import InvalidRequest, PreconditionConflict, RevisionMismatch
from app.kit.ids import new_id
from app.kit.paging import clamped, fitting, paged, pagination, place_after
from app.kit.schema import One, Page, Pagination

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.kit.revision import Precondition

_GUARDED = (PromptNotFound, RevisionMismatch, PreconditionConflict)


@query("prompts.list", scope=Scope.PROMPTS_READ, rate=Rate.READONLY, raises=(CollectionNotFound,))
async def list_prompts(ctx: Context, args: ListPrompts) -> Page[PromptItem]:
    """List prompts without their text, newest first or by `sort`; narrow by literal text or tags."""
    limit, notice = clamped(args.limit)
    place = place_after(args.cursor, args.sort)
    async with ctx.snapshot() as tx:
        if args.collection_id is not None:
            await collections.require(tx, args.collection_id)
        rows = await queries.list_prompts(tx, args, place, limit + 1, ctx.principal.user_id)
    return paged(rows, limit, notice, lambda row: PromptItem.model_validate(fields(row)), args.sort)


@command(
    "prompts.create",
    scope=Scope.PROMPTS_WRITE,
    rate=Rate.API,
    spends=(Meter.PROMPTS, Meter.STORAGE_BYTES),
    raises=(InvalidRequest, CollectionNotFound),
)
async def create_prompt(ctx: Context, args: CreatePrompt) -> One[Prompt]:
    """Create a prompt. Each `${name}` of its text is a variable, unless `variables` declares them.

    Where the declared variables and those of the text differ, `warnings` says so. With `collectionId` it is a member of
    that collection from the start; a key that is restricted to collections must name one of them.
    """
    prompt_id = new_id()
    await collections.place(ctx, args.collection_id, "prompt", prompt_id)
    await queries.insert_prompt(ctx, prompt_id, State.of(args), Version(1, 1, args.content))
    ctx.emit("prompt.created", prompt_id, 1)
    ctx.enqueue(index_job(ctx.workspace_id))
    return One(data=Prompt.model_validate(await read_prompt(ctx.tx, prompt_id, reader=ctx.principal.user_id)))


@query(
    "prompts.get",
    scope=Scope.PROMPTS_READ,
    rate=Rate.READONLY,
    raises=(PromptNotFound, LabelNotFound, PromptRevisionNotFound),
)
async def get_prompt(ctx: Context, args: GetPrompt) -> One[Prompt]:
    """Read a prompt with its text and variables; `label` chooses the version that the label points at.

    `asOf`, a revision or a time, gives all of it as of then but `stats`, which are those of now.
    """
    reader = ctx.principal.user_id
    async with ctx.snapshot() as tx:
        if args.as_of is not None:
            return One(data=Prompt.model_validate(await read_as_of(tx, args.prompt_id, point(args.as_of), reader)))
        return One(data=Prompt.model_validate(await read_prompt(tx, args.prompt_id, args.label, reader)))


@command("prompts.update", scope=Scope.PROMPTS_WRITE, rate=Rate.API, spends=(Meter.STORAGE_BYTES,), raises=_GUARDED)
async def update_prompt(ctx: Context, args: PatchPrompt) -> One[ChangedPrompt]:
    """Change a prompt; what is left out stays. Only a change of `content` makes a version.

    Name the revision that the change is based on, in `If-Match` or `expectedRevision`, and a concurrent edit is never
    overwritten. A write that changes nothing answers `noop: true`.
    """
    row = await _locked(ctx, args)
    if args.is_public is not None and args.is_public is not row["is_public"]:
        msg = "isPublic: is read-only: a person publishes a prompt from the dashboard"
        raise InvalidRequest(msg, details=[{"field": "isPublic", "message": msg}])
    changed = await _write(ctx, row, State.stored(row).patched(args), args.change_log)
    now = await read_prompt(ctx.tx, args.prompt_id, reader=ctx.principal.user_id)
    return One(data=ChangedPrompt.model_validate(now | {"noop": not changed}))


@command("prompts.delete", scope=Scope.PROMPTS_WRITE, rate=Rate.API, raises=_GUARDED)
async def delete_prompt(ctx: Context, args: DeletePrompt) -> None:
    """Move a prompt to the trash; its id answers 404 from then on."""
    row = await _locked(ctx, args)
    await queries.delete_prompt(ctx, args.prompt_id, row["revision"])
    ctx.emit("prompt.deleted", args.prompt_id, row["revision"])
    ctx.enqueue(index_job(ctx.workspace_id))


@query("prompts.versions", scope=Scope.PROMPTS_READ, rate=Rate.READONLY, raises=(PromptNotFound,))
async def list_prompt_versions(ctx: Context, args: ListPromptVersions) -> Page[PromptVersion]:
    """List a prompt's versions with their text and labels, newest first; the first is the current one."""
    limit, notice = clamped(args.limit)
    after = cursor.decode(args.cursor)[1] if args.cursor else None
    async with ctx.snapshot() as tx:
        if not await queries.prompt_exists(tx, args.prompt_id):
            raise PromptNotFound
        rows = await queries.list_versions(tx, args.prompt_id, after, limit + 1, ctx.principal.user_id)
    found, notice = fitting(rows, limit, notice)
    items = [PromptVersion.model_validate(version_fields(row)) for row in found]
    return Page(data=items, pagination=pagination(rows, len(found)), notice=notice)


@command(
    "prompts.restore",
    scope=Scope.PROMPTS_WRITE,
    rate=Rate.API,
    spends=(Meter.STORAGE_BYTES,),
    raises=(*_GUARDED, PromptVersionNotFound),
)
async def restore_prompt_version(ctx: Context, args: RestorePromptVersion) -> One[PromptAck]:
    """Make an earlier version's text current again, as a new version; nothing is deleted, all else stays."""
    row, source = await _locked_with_version(ctx, args)
    changed = await _write(ctx, row, replace(State.stored(row), content=source["content"]), args.change_log)
    now = await read_prompt(ctx.tx, args.prompt_id)
    return One(
        data=PromptAck.model_validate(
            {name: now[name] for name in PromptAck.model_fields.keys() & now.keys()} | {"noop": not changed}
        )
    )


@query("prompts.labels", scope=Scope.PROMPTS_READ, rate=Rate.READONLY, raises=(PromptNotFound,))
async def list_labels(ctx: Context, args: ListLabels) -> Page[PromptLabel]:
    """List a prompt's labels, 100 at most, by name, and the versions that they point at."""
    async with ctx.snapshot() as tx:
        if not await queries.prompt_exists(tx, args.prompt_id):
            raise PromptNotFound
        rows = await queries.list_labels(tx, args.prompt_id)
    items = [PromptLabel.model_validate(dict(row)) for row in rows]
    return Page(data=items, pagination=Pagination(cursor=None, has_more=False))


@command("prompts.label", scope=Scope.PROMPTS_WRITE, rate=Rate.API, raises=(*_GUARDED, PromptVersionNotFound))
async def set_label(ctx: Context, args: SetLabel) -> One[PromptLabel]:
    """Point a label at a version; one that exists is moved. The prompt's revision stays."""
    row, version = await _locked_with_version(ctx, args)
    known = {label["label"] for label in await queries.list_labels(ctx.tx, args.prompt_id)}
    if args.label not in known and len(known) >= MAX_LABELS:
        msg = f"label: a prompt has at most {MAX_LABELS} labels; remove one, or move one that it has"
        raise InvalidRequest(msg, details=[{"field": "label", "message": msg}])
    if await queries.set_label(ctx, args.prompt_id, args.label, version["version"]):
        ctx.emit("prompt.labelled", args.prompt_id, row["revision"])
    (label,) = await queries.list_labels(ctx.tx, args.prompt_id, args.label)
    return One(data=PromptLabel.model_validate(dict(label)))


@command("prompts.unlabel", scope=Scope.PROMPTS_WRITE, rate=Rate.API, raises=(*_GUARDED, LabelNotFound))
async def remove_label(ctx: Context, args: RemoveLabel) -> None:
    """Take a label away; the version stays."""
    row = await _locked(ctx, args)
    if not await queries.remove_label(ctx, args.prompt_id, args.label):
        raise LabelNotFound
    ctx.emit("prompt.unlabelled", args.prompt_id, row["revision"])


async def _locked(ctx: Context, args: PatchPrompt | DeletePrompt | RemoveLabel) -> asyncpg.Record:
    """Hold the prompt, and check the precondition behind its lock."""
    expected = args.precondition
    row = await _lock(ctx, args.prompt_id)
    _expect(expected, row)
    return row


async def _locked_with_version(
    ctx: Context, args: RestorePromptVersion | SetLabel
) -> tuple[asyncpg.Record, asyncpg.Record]:
    """Hold the prompt and find a version of it; what is absent is told before a mismatch."""
    expected = args.precondition
    row = await _lock(ctx, args.prompt_id)
    version = await queries.get_version(ctx.tx, args.prompt_id, args.version_id)
    if version is None:
        raise PromptVersionNotFound
    _expect(expected, row)
    return row, version


async def _lock(ctx: Context, prompt_id: UUID) -> asyncpg.Record:
    row = await queries.lock_prompt(ctx.tx, prompt_id)
    if row is None:
        raise PromptNotFound
    return row


def _expect(expected: Precondition | None, row: asyncpg.Record) -> None:
    if expected is not None and not expected.holds(row["revision"], row["content_hash"]):
        raise RevisionMismatch("prompt", expected, row["revision"], row["content_hash"])


async def _write(ctx: Context, row: asyncpg.Record, state: State, change_log: str | None) -> bool:
    """Make a state the next revision of a locked prompt; False when it is the present one."""
    if state.digest().hex() == row["content_hash"]:
        return False
    revision, version = row["revision"] + 1, None
    if state.content != row["content"]:
        version = Version(row["current_version"] + 1, revision, state.content, change_log)
    await queries.update_prompt(ctx, row["id"], row["revision"], state, version)
    ctx.emit("prompt.changed", row["id"], revision)
    ctx.enqueue(index_job(ctx.workspace_id))
    return True
