"""SQL of imports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.store.tx import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.store.postgres import Database
    from app.store.tx import Tx

_ABANDONED_DAYS = 7

_START_IMPORT = """
INSERT INTO imports (workspace_id, id, created_by, created_at) VALUES ($1, $2, $3, clock_timestamp())
"""

_GET_IMPORT = """
SELECT i.id, i.finished_at, i.created_at, count(c.number)::int AS chunks,
       coalesce(sum((c.counts ->> 'created')::int), 0)::int AS created,
       coalesce(sum((c.counts ->> 'existing')::int), 0)::int AS existing,
       coalesce(sum((c.counts ->> 'texts')::int), 0)::int AS texts
  FROM imports i
  LEFT JOIN import_chunks c ON c.workspace_id = i.workspace_id AND c.import_id = i.id
 WHERE i.workspace_id = $1 AND i.id = $2
 GROUP BY i.workspace_id, i.id
"""

_LOCK_IMPORT = "SELECT finished_at FROM imports WHERE workspace_id = $1 AND id = $2 FOR UPDATE"

_CHUNK = "SELECT digest, counts FROM import_chunks WHERE workspace_id = $1 AND import_id = $2 AND number = $3"

_LAST_CHUNK = "SELECT coalesce(max(number), 0) FROM import_chunks WHERE workspace_id = $1 AND import_id = $2"

_INSERT_CHUNK = """
INSERT INTO import_chunks (workspace_id, import_id, number, digest, counts) VALUES ($1, $2, $3, $4, $5)
"""

_FINISH = """
UPDATE imports SET finished_at = clock_timestamp() WHERE workspace_id = $1 AND id = $2 AND finished_at IS NULL
"""

_DROP_TEXTS = "DELETE FROM import_texts WHERE workspace_id = $1 AND import_id = $2"

_ABANDONED = f"""
SELECT i.workspace_id, i.id FROM imports i
 WHERE i.finished_at IS NULL AND i.created_at < clock_timestamp() - interval '{_ABANDONED_DAYS} days'
 LIMIT $1
"""

_PUT_TEXT = """
INSERT INTO import_texts (workspace_id, import_id, digest, content) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
"""

_TAKE_TEXTS = """
DELETE FROM import_texts WHERE workspace_id = $1 AND import_id = $2 AND digest = ANY ($3) RETURNING digest, content
"""

_KEEP_TEXTS = f"""
WITH taken AS ({_TAKE_TEXTS})
INSERT INTO contents (workspace_id, digest, content) SELECT $1, digest, content FROM taken ON CONFLICT DO NOTHING
"""

# Held until the transaction ends, so that no purge forgets them meanwhile.
_KEPT_TEXTS = "SELECT digest FROM contents WHERE workspace_id = $1 AND digest = ANY ($2) FOR KEY SHARE"

_EXISTS = {
    "documents": "SELECT EXISTS (SELECT FROM documents WHERE workspace_id = $1 AND id = $2)",
    "prompts": "SELECT EXISTS (SELECT FROM prompts WHERE workspace_id = $1 AND id = $2)",
    "collections": "SELECT EXISTS (SELECT FROM collections WHERE workspace_id = $1 AND id = $2)",
}

_INSERT_DOCUMENT = """
INSERT INTO documents (workspace_id, id, title, tags, title_digest, content_digest, tags_digest, content_hash, revision,
                       current_version, source_type, source_url, hands, created_by, created_at, last_changed_at)
SELECT $1, $2, $3, $4, d.title, $5, d.tags, document_hash(d.title, $5, d.tags), $6, $7, $8, $9, 'outside', $10,
       least($11, clock_timestamp()), least($12, clock_timestamp())
  FROM (SELECT text_digest($3) AS title, text_digest(array_to_string($4::text[], E'\\x1f')) AS tags) AS d
ON CONFLICT DO NOTHING
"""

_INSERT_TAGS = (
    "INSERT INTO document_tags (workspace_id, tag, document_id) SELECT $1, tag, $2 FROM unnest($3::text[]) AS tag"
)

# What was not kept of a revision counts as empty in its hash.
_INSERT_REVISIONS = """
INSERT INTO document_revisions (workspace_id, document_id, revision, id, version, content_changed, title, tags,
                                content_digest, content_hash, action, change_log, author_id, author_name, grant_id,
                                agent, decided_at)
SELECT $1, $2, r.revision, r.id, r.version, r.content_changed, r.title, r.tags, decode(r.text, 'hex'),
       document_hash(text_digest(coalesce(r.title, '')), coalesce(decode(r.text, 'hex'), text_digest('')),
                     text_digest(coalesce(array_to_string(r.tags, E'\\x1f'), ''))),
       'import', r.change_log, $4, r.user_name, $5, r.agent, least(r.decided_at, clock_timestamp())
  FROM jsonb_to_recordset($3) AS r(revision int, id uuid, version int, content_changed bool, title text, tags text[],
                                   text text, change_log text, user_name text, agent text, decided_at timestamptz)
ON CONFLICT DO NOTHING
"""

_INSERT_PROMPT = """
INSERT INTO prompts (workspace_id, id, title, description, tags, variables, parameters, archived, content_hash,
                     revision, current_version, hands, created_by, created_at, last_changed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'outside', $12, least($13, clock_timestamp()),
        least($14, clock_timestamp()))
ON CONFLICT DO NOTHING
"""

_INSERT_VERSIONS = """
INSERT INTO prompt_versions (workspace_id, prompt_id, version, id, revision, content, names, change_log, author_id,
                             author_name, grant_id, agent, decided_at)
SELECT $1, $2, r.version, r.id, r.revision, r.content, r.names, r.change_log, $4, r.user_name, $5, r.agent,
       least(r.decided_at, clock_timestamp())
  FROM jsonb_to_recordset($3) AS r(version int, id uuid, revision int, content text, names text[], change_log text,
                                   user_name text, agent text, decided_at timestamptz)
ON CONFLICT DO NOTHING
"""

# A prompt that is not published here was not published here before.
_INSERT_PROMPT_REVISIONS = """
INSERT INTO prompt_revisions (workspace_id, prompt_id, revision, version, title, description, tags, variables,
                              parameters, archived, published, content_hash, decided_at)
SELECT $1, $2, r.revision, r.version, r.title, r.description, r.tags, r.variables::json, r.parameters::json, r.archived,
       false, decode(r.hash, 'hex'), least(r.decided_at, clock_timestamp())
  FROM jsonb_to_recordset($3) AS r(revision int, version int, title text, description text, tags text[], variables text,
                                   parameters text, archived bool, hash text, decided_at timestamptz)
ON CONFLICT DO NOTHING
"""

_INSERT_LABELS = """
INSERT INTO prompt_labels (workspace_id, prompt_id, label, version, moved_by_name, moved_at)
SELECT $1, $2, r.label, r.version, r.user_name, least(r.moved_at, clock_timestamp())
  FROM jsonb_to_recordset($3) AS r(label text, version int, user_name text, moved_at timestamptz)
ON CONFLICT DO NOTHING
"""

_INSERT_COLLECTION = """
INSERT INTO collections (workspace_id, id, name, description, color, icon, tags, content_hash, revision, created_by,
                         created_at, last_changed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, collection_hash($3, $4, $5, $6, $7), $8, $9, least($10, clock_timestamp()),
        least($11, clock_timestamp()))
ON CONFLICT DO NOTHING
"""

# Members that are not here are left out.
_INSERT_MEMBERS = """
INSERT INTO collection_items (workspace_id, collection_id, item_type, item_id, added_by, added_at)
SELECT $1, $2, r.item_type, r.item_id, $4, least(r.added_at, clock_timestamp())
  FROM jsonb_to_recordset($3) AS r(item_type text, item_id uuid, added_at timestamptz)
  JOIN items x ON x.workspace_id = $1 AND x.kind = r.item_type AND x.id = r.item_id
ON CONFLICT DO NOTHING
"""


async def start_import(tx: Tx, import_id: UUID, user_id: UUID) -> None:
    """Insert an import."""
    await tx.execute(_START_IMPORT, tx.workspace_id, import_id, user_id)


async def get_import(tx: Tx, import_id: UUID) -> asyncpg.Record | None:
    """Read an import with the sums of its chunks."""
    return await tx.fetchrow(_GET_IMPORT, tx.workspace_id, import_id)


async def lock_import(tx: Tx, import_id: UUID) -> asyncpg.Record | None:
    """Hold an import, so that its chunks come one after the other."""
    return await tx.fetchrow(_LOCK_IMPORT, tx.workspace_id, import_id)


async def get_chunk(tx: Tx, import_id: UUID, number: int) -> asyncpg.Record | None:
    """Read what became of a chunk."""
    return await tx.fetchrow(_CHUNK, tx.workspace_id, import_id, number)


async def last_chunk(tx: Tx, import_id: UUID) -> int:
    """Give the number of the last chunk that was taken; 0 before the first."""
    return int(await tx.fetchval(_LAST_CHUNK, tx.workspace_id, import_id))


async def insert_chunk(tx: Tx, import_id: UUID, number: int, digest: bytes, counts: dict[str, int]) -> None:
    """Remember a chunk."""
    await tx.execute(_INSERT_CHUNK, tx.workspace_id, import_id, number, digest, counts)


async def finish_import(tx: Tx, import_id: UUID) -> None:
    """End an import, and forget texts that no item took."""
    await tx.execute(_FINISH, tx.workspace_id, import_id)
    await tx.execute(_DROP_TEXTS, tx.workspace_id, import_id)


async def list_abandoned(database: Database, limit: int) -> Sequence[asyncpg.Record]:
    """List imports that nobody finished."""
    return await database.system_rows(_ABANDONED, limit)


async def put_text(tx: Tx, import_id: UUID, digest: bytes, text: str) -> None:
    """Keep a text until its item comes."""
    await tx.execute(_PUT_TEXT, tx.workspace_id, import_id, digest, text)


async def add_piece(tx: Tx, import_id: UUID, key: bytes, base64: str) -> None:
    """Keep a piece of a file until its item comes, after the pieces before it."""
    before = (await take_texts(tx, import_id, [key])).get(key, "")
    await put_text(tx, import_id, key, before + base64)


async def take_texts(tx: Tx, import_id: UUID, digests: Sequence[bytes]) -> dict[bytes, str]:
    """Take texts out of an import."""
    rows = await tx.fetch(_TAKE_TEXTS, tx.workspace_id, import_id, digests)
    return {row["digest"]: row["content"] for row in rows}


async def keep_texts(tx: Tx, import_id: UUID, digests: Sequence[bytes]) -> set[bytes]:
    """Move texts from an import to those of documents; gives the digests that are there now."""
    await tx.execute(_KEEP_TEXTS, tx.workspace_id, import_id, digests)
    rows = await tx.fetch(_KEPT_TEXTS, tx.workspace_id, digests)
    return {row["digest"] for row in rows}


async def item_exists(tx: Tx, kind: str, item_id: UUID) -> bool:
    """Tell whether an id is taken, if only by what was deleted."""
    return bool(await tx.fetchval(_EXISTS[kind], tx.workspace_id, item_id))


async def insert_document(tx: Tx, document_id: UUID, *values: Any) -> bool:
    """Insert a document as its last revision says; False when the id is taken."""
    return count_of(await tx.execute(_INSERT_DOCUMENT, tx.workspace_id, document_id, *values)) == 1


async def insert_tags(tx: Tx, document_id: UUID, tags: Sequence[str]) -> None:
    """Insert a document's tags."""
    await tx.execute(_INSERT_TAGS, tx.workspace_id, document_id, tags)


async def insert_revisions(tx: Tx, document_id: UUID, rows: Sequence[Any], user_id: UUID, grant_id: UUID) -> bool:
    """Insert a document's history; False when an id of a revision is taken."""
    tag = await tx.execute(_INSERT_REVISIONS, tx.workspace_id, document_id, rows, user_id, grant_id)
    return count_of(tag) == len(rows)


async def insert_prompt(tx: Tx, prompt_id: UUID, *values: Any) -> bool:
    """Insert a prompt; False when the id is taken."""
    return count_of(await tx.execute(_INSERT_PROMPT, tx.workspace_id, prompt_id, *values)) == 1


async def insert_versions(tx: Tx, prompt_id: UUID, rows: Sequence[Any], user_id: UUID, grant_id: UUID) -> bool:
    """Insert a prompt's versions; False when an id of one is taken."""
    tag = await tx.execute(_INSERT_VERSIONS, tx.workspace_id, prompt_id, rows, user_id, grant_id)
    return count_of(tag) == len(rows)


async def insert_prompt_revisions(tx: Tx, prompt_id: UUID, rows: Sequence[Any]) -> None:
    """Insert what a prompt's revisions said beside their texts."""
    await tx.execute(_INSERT_PROMPT_REVISIONS, tx.workspace_id, prompt_id, rows)


async def insert_labels(tx: Tx, prompt_id: UUID, rows: Sequence[Any]) -> None:
    """Insert a prompt's labels."""
    await tx.execute(_INSERT_LABELS, tx.workspace_id, prompt_id, rows)


async def insert_collection(tx: Tx, collection_id: UUID, *values: Any) -> bool:
    """Insert a collection; False when the id is taken."""
    return count_of(await tx.execute(_INSERT_COLLECTION, tx.workspace_id, collection_id, *values)) == 1


async def insert_members(tx: Tx, collection_id: UUID, rows: Sequence[Any], user_id: UUID) -> None:
    """Insert a collection's members."""
    await tx.execute(_INSERT_MEMBERS, tx.workspace_id, collection_id, rows, user_id)
