"""SQL of prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.features.prompts.schemas import canonical
from app.kit.paging import PAGE_BYTES, Sort
from app.store.tx import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.features.prompts.schemas import ListPrompts
    from app.features.prompts.service import State, Version
    from app.gate.operation import Context
    from app.store.postgres import Database
    from app.store.tx import Tx

_ITEM = """
p.id, p.title, p.description, p.published_at IS NOT NULL AS is_public, p.archived AS is_archived, p.tags, p.variables,
p.current_version, p.revision, encode(p.content_hash, 'hex') AS content_hash, p.created_at, p.last_changed_at, v.names,
p.views, p.copies
"""

_FULL = f"""
{_ITEM}, p.parameters, v.content, v.version, v.id AS version_id, text_trust(p.hands, p.created_by, $4) AS trust
"""

# Only versions keep who made them: a revision that made none may be of all who had a hand in the prompt.
_TRUST_THEN = """
CASE WHEN p.hands <> 'outside' AND p.created_by = {reader} AND {revision} = v.version AND NOT EXISTS (
          SELECT FROM prompt_versions x
           WHERE x.workspace_id = $1 AND x.prompt_id = $2 AND x.version <= v.version AND x.author_id <> {reader})
     THEN NULL ELSE text_trust(p.hands, p.created_by, {reader}) END AS trust
"""

_GET = f"""
SELECT {_FULL}
  FROM prompts p
  JOIN prompt_versions v ON v.workspace_id = p.workspace_id AND v.prompt_id = p.id
 WHERE p.workspace_id = $1 AND p.id = $2 AND p.deleted_at IS NULL
   AND v.version = CASE WHEN $3::text IS NULL THEN p.current_version ELSE (
       SELECT l.version FROM prompt_labels l WHERE l.workspace_id = $1 AND l.prompt_id = $2 AND l.label = $3) END
"""

_AS_OF = f"""
SELECT p.id, r.title, r.description, r.published AS is_public, r.archived AS is_archived, r.tags, r.variables,
       r.version AS current_version, r.revision, encode(r.content_hash, 'hex') AS content_hash, p.created_at,
       r.decided_at AS last_changed_at, v.names, p.views, p.copies, r.parameters, v.content, v.version,
       v.id AS version_id, {_TRUST_THEN.format(revision="r.revision", reader="$5")}
  FROM prompts p
  JOIN prompt_revisions r ON r.workspace_id = p.workspace_id AND r.prompt_id = p.id
  JOIN prompt_versions v ON v.workspace_id = p.workspace_id AND v.prompt_id = p.id AND v.version = r.version
 WHERE p.workspace_id = $1 AND p.id = $2 AND p.deleted_at IS NULL
   AND ($3::bigint IS NULL OR r.revision = $3) AND ($4::timestamptz IS NULL OR r.decided_at <= $4)
 ORDER BY r.revision DESC
 LIMIT 1
"""

# The cursor is the (time, id) of the last row seen.
_LISTS = {
    sort: f"""
SELECT {_ITEM}, text_trust(p.hands, p.created_by, $9) AS trust
  FROM prompts p
  JOIN prompt_versions v ON v.workspace_id = p.workspace_id AND v.prompt_id = p.id AND v.version = p.current_version
 WHERE p.workspace_id = $1 AND p.deleted_at IS NULL
   AND ($2::text IS NULL OR position(lower($2) IN lower(p.title)) > 0
        OR position(lower($2) IN lower(p.description)) > 0 OR position(lower($2) IN lower(v.content)) > 0)
   AND ($3::timestamptz IS NULL OR (p.{sort.column}, p.id) < ($3, $4::uuid))
   AND p.tags @> $5::text[]
   AND ($6 OR NOT p.archived)
   AND ($8::uuid IS NULL OR EXISTS (
        SELECT FROM collection_items i
         WHERE i.workspace_id = $1 AND i.collection_id = $8 AND i.item_type = 'prompt' AND i.item_id = p.id))
 ORDER BY p.{sort.column} DESC, p.id DESC
 LIMIT $7
"""
    for sort in Sort
}

# By itself, so that what is read behind the lock is read by a later snapshot: a join could miss its partner.
_LOCK = """
SELECT true FROM prompts WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE
"""

# A write of a prompt's row that makes a revision, which is kept.
_KEEPING = """
WITH written AS ({write} RETURNING *)
INSERT INTO prompt_revisions (workspace_id, prompt_id, revision, version, title, description, tags, variables,
                              parameters, archived, published, content_hash, decided_at)
SELECT workspace_id, id, revision, current_version, title, description, tags, variables, parameters, archived,
       published_at IS NOT NULL, content_hash, last_changed_at FROM written
RETURNING decided_at, revision
"""

_INSERT = _KEEPING.format(
    write="""
INSERT INTO prompts (workspace_id, id, title, description, tags, variables, parameters, archived, content_hash,
                     created_by, created_at, last_changed_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, at, at FROM clock_timestamp() AS at
"""
)

_UPDATE = _KEEPING.format(
    write="""
UPDATE prompts
   SET title = $4, description = $5, tags = $6, variables = $7, parameters = $8, archived = $9, content_hash = $10,
       revision = revision + 1, current_version = current_version + $11, last_changed_at = clock_timestamp(),
       hands = CASE WHEN hands = 'one' AND created_by <> $12 THEN 'several' ELSE hands END
 WHERE workspace_id = $1 AND id = $2 AND revision = $3 AND deleted_at IS NULL
"""
)

_INSERT_VERSION = """
INSERT INTO prompt_versions (workspace_id, prompt_id, version, id, revision, content, names, change_log, author_id,
                             author_name, grant_id, agent, decided_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
"""

_DELETE = """
UPDATE prompts SET deleted_at = clock_timestamp(), deleted_by = $4
 WHERE workspace_id = $1 AND id = $2 AND revision = $3 AND deleted_at IS NULL
"""

# A row whose predecessors on the page fill it already comes without its text: it only tells that there is more. What
# was said beside the text is that of the revision that made the version, where it was kept.
_VERSIONS = f"""
SELECT v.id, v.version, v.revision, s.title, s.description, s.tags, s.variables, v.names, v.user_name, v.change_log,
       v.created_at, {_TRUST_THEN.format(revision="v.revision", reader="$5")}, before <= {PAGE_BYTES} AS fits,
       CASE WHEN before <= {PAGE_BYTES} THEN v.content END AS content,
       ARRAY(SELECT l.label FROM prompt_labels l
              WHERE l.workspace_id = $1 AND l.prompt_id = $2 AND l.version = v.version ORDER BY l.label) AS labels
  FROM (SELECT r.id, r.version, r.revision, r.content, r.names, r.author_name AS user_name, r.change_log,
               r.decided_at AS created_at,
               coalesce(sum(octet_length(r.content)) OVER (ORDER BY r.version DESC
                            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW), 0) AS before
          FROM prompt_versions r
         WHERE r.workspace_id = $1 AND r.prompt_id = $2
           AND ($3::uuid IS NULL OR r.version < (SELECT x.version FROM prompt_versions x
                                                  WHERE x.workspace_id = $1 AND x.prompt_id = $2 AND x.id = $3))
         ORDER BY r.version DESC
         LIMIT $4) AS v
  JOIN prompts p ON p.workspace_id = $1 AND p.id = $2
  LEFT JOIN prompt_revisions s ON s.workspace_id = $1 AND s.prompt_id = $2 AND s.revision = v.revision
 ORDER BY v.version DESC
"""

_VERSION = "SELECT version, content FROM prompt_versions WHERE workspace_id = $1 AND prompt_id = $2 AND id = $3"

_EXISTS = "SELECT EXISTS (SELECT FROM prompts WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL)"

_UNDELETE = """
UPDATE prompts SET deleted_at = NULL, deleted_by = NULL
 WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND purged_at IS NULL
RETURNING revision
"""

# Also in the trash, so that a prompt that comes back says what is so.
_PUBLISH = _KEEPING.format(
    write="""
UPDATE prompts SET published_at = CASE WHEN $3 THEN clock_timestamp() END, revision = revision + 1,
       last_changed_at = clock_timestamp()
 WHERE workspace_id = $1 AND id = $2 AND purged_at IS NULL AND (published_at IS NOT NULL) <> $3
"""
)

_COUNT = """
UPDATE prompts p SET {column} = p.{column} + n.count
  FROM (SELECT workspace_id, id, sum(count)::bigint AS count
          FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS r(workspace_id, id, count)
         GROUP BY workspace_id, id) AS n
 WHERE p.workspace_id = n.workspace_id AND p.id = n.id
"""
_COUNTS = {column: _COUNT.format(column=column) for column in ("views", "copies")}

# The tombstone: id and revision stay, so that none is given out again.
_BURY = """
UPDATE prompts
   SET purged_at = clock_timestamp(), title = '', description = '', tags = '{}', variables = NULL, parameters = '{}',
       content_hash = text_digest(''), published_at = NULL
 WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND purged_at IS NULL
RETURNING revision
"""

_ERASE_LABELS = "DELETE FROM prompt_labels WHERE workspace_id = $1 AND prompt_id = $2"

_ERASE_VERSIONS = "DELETE FROM prompt_versions WHERE workspace_id = $1 AND prompt_id = $2"

_ERASE_REVISIONS = "DELETE FROM prompt_revisions WHERE workspace_id = $1 AND prompt_id = $2"

_LABELS = """
SELECT l.label, l.version, v.id AS version_id, l.moved_by_name AS user_name, l.moved_at
  FROM prompt_labels l
  JOIN prompt_versions v ON v.workspace_id = l.workspace_id AND v.prompt_id = l.prompt_id AND v.version = l.version
 WHERE l.workspace_id = $1 AND l.prompt_id = $2 AND ($3::text IS NULL OR l.label = $3)
 ORDER BY l.label
"""

# A label that points there already is left as it is.
_SET_LABEL = """
INSERT INTO prompt_labels AS l (workspace_id, prompt_id, label, version, moved_by_name, moved_at)
VALUES ($1, $2, $3, $4, $5, clock_timestamp())
ON CONFLICT (workspace_id, prompt_id, label) DO UPDATE
   SET version = excluded.version, moved_by_name = excluded.moved_by_name, moved_at = excluded.moved_at
 WHERE l.version <> excluded.version
RETURNING true
"""

_REMOVE_LABEL = """
DELETE FROM prompt_labels WHERE workspace_id = $1 AND prompt_id = $2 AND label = $3 RETURNING true
"""


async def get_prompt(
    tx: Tx, prompt_id: UUID, label: str | None = None, reader: UUID | None = None
) -> asyncpg.Record | None:
    """Read a prompt with its current text, or with that of the version with a label."""
    return await tx.fetchrow(_GET, tx.workspace_id, prompt_id, label, reader)


async def read_as_of(tx: Tx, prompt_id: UUID, at: int | datetime, reader: UUID) -> asyncpg.Record | None:
    """Read a prompt as it was at a revision or time."""
    revision, moment = (at, None) if isinstance(at, int) else (None, at)
    return await tx.fetchrow(_AS_OF, tx.workspace_id, prompt_id, revision, moment, reader)


async def prompt_exists(tx: Tx, prompt_id: UUID) -> bool:
    """Tell whether a prompt is there and not in the trash."""
    return bool(await tx.fetchval(_EXISTS, tx.workspace_id, prompt_id))


async def list_prompts(
    tx: Tx, args: ListPrompts, after: tuple[datetime, UUID] | None, limit: int, reader: UUID
) -> list[asyncpg.Record]:
    """List prompts, in the order asked for, after a cursor."""
    created_at, prompt_id = after or (None, None)
    values = (args.q, created_at, prompt_id, args.tags, args.include_archived, limit, args.collection_id, reader)
    return await tx.fetch(_LISTS[args.sort], tx.workspace_id, *values)


async def lock_prompt(tx: Tx, prompt_id: UUID) -> asyncpg.Record | None:
    """Hold a prompt until the transaction ends, and read it as it is then."""
    if await tx.fetchval(_LOCK, tx.workspace_id, prompt_id) is None:
        return None
    return await get_prompt(tx, prompt_id)


async def insert_prompt(ctx: Context, prompt_id: UUID, state: State, version: Version) -> None:
    """Insert a prompt at revision and version 1."""
    values = (*_columns(state), ctx.principal.user_id)
    decided_at = await ctx.tx.fetchval(_INSERT, ctx.workspace_id, prompt_id, *values)
    await _insert_version(ctx, prompt_id, version, decided_at)


async def update_prompt(ctx: Context, prompt_id: UUID, revision: int, state: State, version: Version | None) -> None:
    """Write the next revision of a locked prompt, with a version when its text changed."""
    values = (*_columns(state), 0 if version is None else 1, ctx.principal.user_id)
    decided_at = await ctx.tx.fetchval(_UPDATE, ctx.workspace_id, prompt_id, revision, *values)
    assert decided_at is not None
    if version is not None:
        await _insert_version(ctx, prompt_id, version, decided_at)


async def delete_prompt(ctx: Context, prompt_id: UUID, revision: int) -> None:
    """Move a locked prompt to the trash."""
    await ctx.tx.fetchval(_DELETE, ctx.workspace_id, prompt_id, revision, ctx.principal.user_id)


async def undelete_prompt(tx: Tx, prompt_id: UUID) -> int | None:
    """Take a prompt out of the trash; gives its revision, None when it is not there."""
    revision: int | None = await tx.fetchval(_UNDELETE, tx.workspace_id, prompt_id)
    return revision


async def set_published(tx: Tx, prompt_id: UUID, *, published: bool) -> int | None:
    """Note whether a public link is live, as a revision; gives it, None when that was noted already."""
    row = await tx.fetchrow(_PUBLISH, tx.workspace_id, prompt_id, published)
    return None if row is None else row["revision"]


async def count_reads(database: Database, column: str, reads: Sequence[tuple[UUID, UUID, int]]) -> None:
    """Add to the numbers of views or copies, by workspace and prompt."""
    await database.system_rows(_COUNTS[column], *map(list, zip(*reads, strict=True)))


async def bury_prompt(tx: Tx, prompt_id: UUID) -> int | None:
    """Make a tombstone of a deleted prompt; gives its revision, None when it is not in the trash."""
    revision: int | None = await tx.fetchval(_BURY, tx.workspace_id, prompt_id)
    return revision


async def erase_versions(tx: Tx, prompt_id: UUID) -> dict[str, int]:
    """Remove versions, revisions and labels of a buried prompt."""
    await tx.execute(_ERASE_REVISIONS, tx.workspace_id, prompt_id)
    labels = await tx.execute(_ERASE_LABELS, tx.workspace_id, prompt_id)
    versions = await tx.execute(_ERASE_VERSIONS, tx.workspace_id, prompt_id)
    return {"labels": count_of(labels), "versions": count_of(versions)}


async def list_versions(tx: Tx, prompt_id: UUID, after: UUID | None, limit: int, reader: UUID) -> list[asyncpg.Record]:
    """List a prompt's versions, newest first, after the one with an id."""
    return await tx.fetch(_VERSIONS, tx.workspace_id, prompt_id, after, limit, reader)


async def get_version(tx: Tx, prompt_id: UUID, version_id: UUID) -> asyncpg.Record | None:
    """Read the number and the text of a version."""
    return await tx.fetchrow(_VERSION, tx.workspace_id, prompt_id, version_id)


async def list_labels(tx: Tx, prompt_id: UUID, label: str | None = None) -> list[asyncpg.Record]:
    """List a prompt's labels by name, or look for one."""
    return await tx.fetch(_LABELS, tx.workspace_id, prompt_id, label)


async def set_label(ctx: Context, prompt_id: UUID, label: str, version: int) -> bool:
    """Point a label of a locked prompt at a version; tells whether that moved it."""
    values = (label, version, ctx.principal.user_name)
    return bool(await ctx.tx.fetchval(_SET_LABEL, ctx.workspace_id, prompt_id, *values))


async def remove_label(ctx: Context, prompt_id: UUID, label: str) -> bool:
    """Take a label of a locked prompt away; tells whether it was there."""
    return bool(await ctx.tx.fetchval(_REMOVE_LABEL, ctx.workspace_id, prompt_id, label))


def _columns(state: State) -> tuple[Any, ...]:
    parameters = canonical(state.parameters)
    values = (state.title, state.description, state.tags, state.variables_json, parameters, state.archived)
    return (*values, state.digest())


async def _insert_version(ctx: Context, prompt_id: UUID, version: Version, decided_at: datetime) -> None:
    principal = ctx.principal
    await ctx.tx.fetchval(
        _INSERT_VERSION,
        ctx.workspace_id,
        prompt_id,
        version.number,
        version.id,
        version.revision,
        version.content,
        version.names,
        version.change_log,
        principal.user_id,
        principal.user_name,
        principal.grant_id,
        principal.agent,
        decided_at,
    )
