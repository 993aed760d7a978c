"""SQL of the index of prompts and collections. An item's terms stand at the level of its kind, under its own id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.features.indexing import queries
from app.features.indexing.queries import COUNTED, Tally

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from app.store.postgres import Database
    from app.store.tx import Tx

KINDS: Final = {
    "prompt": """
        SELECT p.id, p.title, p.description, v.content
          FROM prompts p
          JOIN prompt_versions v
            ON v.workspace_id = p.workspace_id AND v.prompt_id = p.id AND v.version = p.current_version
         WHERE p.workspace_id = $1""",
    "collection": """
        SELECT c.id, c.name AS title, c.description, '' AS content FROM collections c WHERE c.workspace_id = $1""",
}
"""The kinds of items, each with the statement that gives what is indexed of it."""

_BEHIND = """
((deleted_at IS NULL AND indexed_revision < revision) OR (deleted_at IS NOT NULL AND indexed_revision > 0))
"""

_SWEEP = " UNION ".join(f"SELECT workspace_id FROM {kind}s WHERE {_BEHIND}" for kind in KINDS)

# What is embedded: the beginning, since a model reads no more; terms are taken of everything.
_PENDING = f"""
SELECT b.id, b.revision, b.deleted_at IS NOT NULL AS deleted,
       coalesce(s.title || E'\\n' || s.description || E'\\n' || left(s.content, $3), '') AS body
  FROM (SELECT id, revision, deleted_at, last_changed_at FROM {{kind}}s
         WHERE workspace_id = $1 AND {_BEHIND} ORDER BY last_changed_at, id LIMIT $2) AS b
  LEFT JOIN ({{source}}) AS s ON s.id = b.id
 ORDER BY b.last_changed_at, b.id
"""

# Rows are locked in one order. Whoever finds nothing changed here was late: another worker did the work, or the item
# moved on, and will be found again.
_SETTLE = """
WITH locked AS MATERIALIZED (
  SELECT i.id, w.deleted
    FROM unnest($2::uuid[], $3::int[], $4::bool[]) AS w(id, revision, deleted)
    JOIN {kind}s i ON i.workspace_id = $1 AND i.id = w.id AND i.revision = w.revision
                  AND (i.deleted_at IS NOT NULL) = w.deleted
                  AND i.indexed_revision <> CASE WHEN w.deleted THEN 0 ELSE i.revision END
   ORDER BY i.id FOR NO KEY UPDATE OF i)
UPDATE {kind}s i SET indexed_revision = CASE WHEN locked.deleted THEN 0 ELSE i.revision END
  FROM locked
 WHERE i.workspace_id = $1 AND i.id = locked.id
RETURNING i.id
"""

_FORGET = "DELETE FROM index_entries WHERE workspace_id = $1 AND kind = $2 AND item_id = ANY($3) RETURNING text_digest"

_ENTER = """
INSERT INTO index_entries (workspace_id, kind, item_id, text_digest)
SELECT $1, $2, id, digest FROM unnest($3::uuid[], $4::bytea[]) AS t(id, digest)
"""

# In pieces, since a text search vector has an end; the title counts twice.
_PIECE: Final = 50_000
_PUT_TERMS = f"""
WITH changed AS (
  INSERT INTO postings (workspace_id, level, language, term, chunk_id, tf, length)
  SELECT $1, $2, language, term, id, tf, sum(tf) OVER (PARTITION BY id)
    FROM (SELECT w.language, piece.id, t.term, sum(piece.weight * t.tf)::int AS tf
            FROM unnest($3::uuid[], $4::text[]) AS w(id, language)
            JOIN (SELECT s.id, 2 AS weight, s.title AS body FROM ({{source}}) AS s
                  UNION ALL
                  SELECT s.id, 1, s.description FROM ({{source}}) AS s
                  UNION ALL
                  SELECT s.id, 1, substr(s.content, start, {_PIECE})
                    FROM ({{source}}) AS s, generate_series(1, length(s.content), {_PIECE}) AS start
                 ) AS piece ON piece.id = w.id
           CROSS JOIN LATERAL search_terms(w.language, piece.body) AS t
           WHERE piece.id = ANY($3)
           GROUP BY w.language, piece.id, t.term) AS counted
  RETURNING language, level, chunk_id, tf)
{COUNTED}
"""


@dataclass(frozen=True, slots=True)
class Pending:
    """An item whose index is behind, with the text to embed."""

    id: UUID
    revision: int
    deleted: bool
    body: str


async def list_pending_workspaces(database: Database) -> list[UUID]:
    """List the workspaces in which the index of prompts or collections is behind."""
    return [row["workspace_id"] for row in await database.system_rows(_SWEEP)]


async def list_pending(tx: Tx, kind: str, limit: int, characters: int) -> list[Pending]:
    """List items of a kind that are behind, the oldest change first."""
    sql = _PENDING.format(kind=kind, source=KINDS[kind])
    return [Pending(**dict(row)) for row in await tx.fetch(sql, tx.workspace_id, limit, characters)]


async def settle(tx: Tx, kind: str, items: Sequence[Pending]) -> set[UUID]:
    """Hold items and note that they are indexed; gives those that are still as they were read."""
    columns = ([item.id for item in items], [item.revision for item in items], [item.deleted for item in items])
    return {row["id"] for row in await tx.fetch(_SETTLE.format(kind=kind), tx.workspace_id, *columns)}


async def forget(tx: Tx, kind: str, ids: Sequence[UUID], tally: Tally) -> list[bytes]:
    """Take items out of the index; gives the digests of the texts that they had."""
    await queries.delete_postings(tx, ids, tally)
    return [row["text_digest"] for row in await tx.fetch(_FORGET, tx.workspace_id, kind, ids)]


async def enter(
    tx: Tx, kind: str, ids: Sequence[UUID], languages: Sequence[str], digests: Sequence[bytes], tally: Tally
) -> None:
    """Put items into the index: their terms, and the digests under which their vectors stand."""
    tally.add(await tx.fetch(_PUT_TERMS.format(source=KINDS[kind]), tx.workspace_id, kind, ids, languages))
    await tx.execute(_ENTER, tx.workspace_id, kind, ids, digests)
