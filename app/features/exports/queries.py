"""SQL of exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.store import blobs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database
    from app.store.tx import Tx

KEPT_HOURS = 24
"""How long an archive is kept."""

_STALLED_SECONDS = 30

_EXPORT = f"""
id, state, watermark, kind, seen_at, seen_id, items_done, items_total, parts, created_at, finished_at,
created_at + interval '{KEPT_HOURS} hours' AS expires_at
"""

_START_EXPORT = f"""
INSERT INTO exports (workspace_id, id, state, watermark, kind, items_done, items_total, parts, created_by, created_at)
SELECT $1, $2, 'running', now.at, '', 0, (SELECT count(*) FROM items WHERE workspace_id = $1 AND deleted_at IS NULL),
       0, $3, now.at
  FROM (SELECT clock_timestamp() AS at) AS now
RETURNING {_EXPORT}
"""

_GET_EXPORT = f"SELECT {_EXPORT} FROM exports WHERE workspace_id = $1 AND id = $2"

_LOCK_EXPORT = f"{_GET_EXPORT} AND state = 'running' FOR UPDATE SKIP LOCKED"

_ADVANCE = """
UPDATE exports
   SET kind = $3, seen_at = $4, seen_id = $5, items_done = items_done + $6, parts = parts + $7,
       state = CASE WHEN $8 THEN 'ready' ELSE 'running' END,
       finished_at = CASE WHEN $8 THEN clock_timestamp() END
 WHERE workspace_id = $1 AND id = $2
"""

_INSERT_PART = "INSERT INTO export_parts (workspace_id, export_id, number, digest) VALUES ($1, $2, $3, $4)"

_PART = "SELECT digest FROM export_parts WHERE workspace_id = $1 AND export_id = $2 AND number = $3"

_XID = "SELECT pg_current_xact_id()::text"

_SETTLED = "SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8 AS settled"

_EXPIRED = f"""
SELECT workspace_id, id FROM exports
 WHERE state <> 'gone' AND created_at < clock_timestamp() - interval '{KEPT_HOURS} hours'
 ORDER BY created_at LIMIT $1
"""

_RUNNING = f"""
SELECT workspace_id, id FROM exports
 WHERE state = 'running' AND created_at < clock_timestamp() - interval '{_STALLED_SECONDS} seconds'
"""

# Waits for the step that runs, whose parts the next statement sees.
_FORGET = """
UPDATE exports SET state = 'gone'
 WHERE workspace_id = $1 AND id = $2 AND state <> 'gone'
RETURNING id
"""

# What an archive may hold was there at its watermark (`next_items`).
_FORGET_OF = """
UPDATE exports e SET state = 'gone'
  FROM {kind}s i
 WHERE e.workspace_id = $1 AND e.state <> 'gone' AND i.workspace_id = $1 AND i.id = $2
   AND e.watermark >= i.created_at AND e.watermark < i.deleted_at
RETURNING e.id
"""

# Equal parts of other exports share a blob.
_DROP_PARTS = """
WITH gone AS (DELETE FROM export_parts WHERE workspace_id = $1 AND export_id = ANY ($2) RETURNING digest)
SELECT array_agg(DISTINCT digest) FROM gone
"""

_ITEMS = {
    "documents": "id, created_at, source_type, source_url",
    "prompts": "id, created_at",
    "collections": "id, name, description, color, icon, tags, revision, created_at, last_changed_at",
}

_REVISIONS = """
SELECT id, revision, version, content_changed, title, tags, content_digest, encode(content_hash, 'hex') AS content_hash,
       change_log, author_name AS user_name, agent, decided_at
  FROM document_revisions
 WHERE workspace_id = $1 AND document_id = $2 AND decided_at <= $3
 ORDER BY revision
"""

_TEXT = "SELECT content FROM contents WHERE workspace_id = $1 AND digest = $2"

_FILE = """
SELECT f.name, f.media_type, f.digest, b.content
  FROM document_files f
  JOIN blobs b ON b.workspace_id = f.workspace_id AND b.digest = f.digest
 WHERE f.workspace_id = $1 AND f.document_id = $2
"""

_VERSIONS = """
SELECT id, version, revision, change_log, author_name AS user_name, agent, decided_at,
       sha256(convert_to(content, 'UTF8')) AS digest
  FROM prompt_versions
 WHERE workspace_id = $1 AND prompt_id = $2 AND decided_at <= $3
 ORDER BY version
"""

_PROMPT_REVISIONS = """
SELECT revision, version, title, description, tags, variables, parameters, archived, decided_at
  FROM prompt_revisions
 WHERE workspace_id = $1 AND prompt_id = $2 AND decided_at <= $3
 ORDER BY revision
"""

_VERSION_TEXT = "SELECT content FROM prompt_versions WHERE workspace_id = $1 AND prompt_id = $2 AND version = $3"

_LABELS = """
SELECT label, version, moved_by_name AS user_name, moved_at FROM prompt_labels
 WHERE workspace_id = $1 AND prompt_id = $2 AND moved_at <= $3
 ORDER BY label
"""

_MEMBERS = """
SELECT i.item_type, i.item_id, i.added_at
  FROM collection_items i
  JOIN items x ON x.workspace_id = i.workspace_id AND x.kind = i.item_type AND x.id = i.item_id
 WHERE i.workspace_id = $1 AND i.collection_id = $2 AND i.added_at <= $3 AND x.created_at <= $3
   AND (x.deleted_at IS NULL OR x.deleted_at > $3)
 ORDER BY i.added_at, i.item_type, i.item_id
"""


async def start_export(tx: Tx, export_id: UUID, user_id: UUID) -> asyncpg.Record:
    """Insert an export whose watermark is now."""
    row = await tx.fetchrow(_START_EXPORT, tx.workspace_id, export_id, user_id)
    assert row is not None
    return row


async def get_export(tx: Tx, export_id: UUID) -> asyncpg.Record | None:
    """Read an export."""
    return await tx.fetchrow(_GET_EXPORT, tx.workspace_id, export_id)


async def lock_export(tx: Tx, export_id: UUID) -> asyncpg.Record | None:
    """Hold a running export; None when it runs no more, or another worker holds it."""
    return await tx.fetchrow(_LOCK_EXPORT, tx.workspace_id, export_id)


async def advance(
    tx: Tx, export_id: UUID, kind: str, seen: tuple[datetime | None, UUID | None], items: int, parts: int, *, done: bool
) -> None:
    """Remember how far an export is."""
    await tx.execute(_ADVANCE, tx.workspace_id, export_id, kind, *seen, items, parts, done)


async def insert_part(tx: Tx, export_id: UUID, number: int, digest: bytes) -> None:
    """Add a part to an export's archive."""
    await tx.execute(_INSERT_PART, tx.workspace_id, export_id, number, digest)


async def get_part(tx: Tx, export_id: UUID, number: int) -> bytes | None:
    """Give the digest of a part."""
    digest: bytes | None = await tx.fetchval(_PART, tx.workspace_id, export_id, number)
    return digest


async def transaction_id(tx: Tx) -> str:
    """Give the number of the transaction: whatever began to write before has a lower one."""
    return str(await tx.fetchval(_XID))


async def is_settled(database: Database, transaction: str) -> bool:
    """Tell whether all that began to write before a transaction, and this itself, is over."""
    rows = await database.system_rows(_SETTLED, transaction)
    return bool(rows[0]["settled"])


async def list_expired(database: Database, limit: int) -> Sequence[asyncpg.Record]:
    """List exports whose archives need not be kept any more."""
    return await database.system_rows(_EXPIRED, limit)


async def list_running(database: Database) -> Sequence[asyncpg.Record]:
    """List exports that should be ready by now."""
    return await database.system_rows(_RUNNING)


async def drop_archive(tx: Tx, export_id: UUID) -> None:
    """Remove an export's archive."""
    await _drop(tx, await tx.fetch(_FORGET, tx.workspace_id, export_id))


async def drop_archives_of(tx: Tx, kind: str, item_id: UUID) -> int:
    """Remove the archives that may hold an item of the trash; gives how many there were."""
    rows = await tx.fetch(_FORGET_OF.format(kind=kind), tx.workspace_id, item_id)
    await _drop(tx, rows)
    return len(rows)


async def _drop(tx: Tx, rows: Sequence[asyncpg.Record]) -> None:
    digests = await tx.fetchval(_DROP_PARTS, tx.workspace_id, [row["id"] for row in rows])
    await blobs.drop(tx, digests or [])


async def next_items(
    tx: Tx, kind: str, watermark: datetime, seen: tuple[datetime | None, UUID | None], limit: int
) -> list[asyncpg.Record]:
    """List items that were there at the watermark, the oldest first, after the last one seen."""
    return await tx.fetch(
        f"""
        SELECT {_ITEMS[kind]} FROM {kind}
         WHERE workspace_id = $1 AND created_at <= $2 AND (deleted_at IS NULL OR deleted_at > $2) AND purged_at IS NULL
           AND ($3::timestamptz IS NULL OR (created_at, id) > ($3, $4::uuid))
         ORDER BY created_at, id
         LIMIT $5
        """,
        tx.workspace_id,
        watermark,
        *seen,
        limit,
    )


async def list_revisions(tx: Tx, document_id: UUID, watermark: datetime) -> list[asyncpg.Record]:
    """List a document's revisions up to the watermark, without texts."""
    return await tx.fetch(_REVISIONS, tx.workspace_id, document_id, watermark)


async def get_text(tx: Tx, digest: bytes) -> str:
    """Read a text of documents."""
    text: str = await tx.fetchval(_TEXT, tx.workspace_id, digest)
    return text


async def get_file(tx: Tx, document_id: UUID) -> asyncpg.Record | None:
    """Read the file that a document was made from."""
    return await tx.fetchrow(_FILE, tx.workspace_id, document_id)


async def list_versions(tx: Tx, prompt_id: UUID, watermark: datetime) -> list[asyncpg.Record]:
    """List a prompt's versions up to the watermark, without texts."""
    return await tx.fetch(_VERSIONS, tx.workspace_id, prompt_id, watermark)


async def list_prompt_revisions(tx: Tx, prompt_id: UUID, watermark: datetime) -> list[asyncpg.Record]:
    """List a prompt's revisions up to the watermark."""
    return await tx.fetch(_PROMPT_REVISIONS, tx.workspace_id, prompt_id, watermark)


async def get_version_text(tx: Tx, prompt_id: UUID, version: int) -> str:
    """Read the text of a version of a prompt."""
    text: str = await tx.fetchval(_VERSION_TEXT, tx.workspace_id, prompt_id, version)
    return text


async def list_labels(tx: Tx, prompt_id: UUID, watermark: datetime) -> list[asyncpg.Record]:
    """List a prompt's labels that were set by the watermark."""
    return await tx.fetch(_LABELS, tx.workspace_id, prompt_id, watermark)


async def list_members(tx: Tx, collection_id: UUID, watermark: datetime) -> list[asyncpg.Record]:
    """List the members that a collection had at the watermark, the first added first."""
    return await tx.fetch(_MEMBERS, tx.workspace_id, collection_id, watermark)
