"""SQL of packs. A pack is seen by who sees every document that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.kit.trust import Trust
from app.store.tx import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    import asyncpg

    from app.features.packs.schemas import PackedDocument
    from app.store.postgres import Database
    from app.store.tx import Tx

KEPT_DAYS = 30
"""How long a pack is kept after it was made last."""

_DOCUMENT = """
SELECT d.id, d.title, d.revision, octet_length(t.content) AS size,
       CASE WHEN octet_length(t.content) <= $3 THEN t.content END AS content
  FROM documents d
  JOIN contents t ON t.workspace_id = d.workspace_id AND t.digest = d.content_digest
 WHERE d.workspace_id = $1 AND d.id = $2 AND d.deleted_at IS NULL
"""

# Known once the text as it is now has been indexed.
_ENDS = """
SELECT c.end_index
  FROM documents d
  JOIN chunks c ON c.workspace_id = $1 AND c.document_id = d.id AND c.level = 'paragraph'
  JOIN document_revisions r ON r.workspace_id = $1 AND r.document_id = d.id AND r.revision = c.revision
   AND r.content_digest = d.content_digest
 WHERE d.workspace_id = $1 AND d.id = $2 AND d.deleted_at IS NULL
 ORDER BY c.ordinal
"""

# The oldest member first: what is added later changes the end of a pack, not its beginning.
_MEMBERS = """
SELECT d.id, d.title, d.revision
  FROM collection_items i
  JOIN documents d ON d.workspace_id = $1 AND d.id = i.item_id AND d.deleted_at IS NULL
 WHERE i.workspace_id = $1 AND i.collection_id = $2 AND i.item_type = 'document'
   AND ($3::uuid IS NULL OR d.id = $3)
 ORDER BY i.added_at, d.id
"""

_PUT = """
INSERT INTO packs (workspace_id, hash, manifest, used_at) VALUES ($1, $2, $3, clock_timestamp())
ON CONFLICT (workspace_id, hash) DO UPDATE SET used_at = excluded.used_at
"""

_PUT_DOCUMENTS = """
INSERT INTO pack_documents (workspace_id, hash, document_id)
SELECT $1, $2, id FROM unnest($3::uuid[]) AS id
ON CONFLICT DO NOTHING
"""

# Row-level policies narrow the documents to those that the caller sees: a pack that names others does not exist then.
_GET = """
SELECT p.manifest, array(SELECT m.document_id FROM pack_documents m
                           JOIN documents d ON d.workspace_id = $1 AND d.id = m.document_id AND d.deleted_at IS NULL
                          WHERE m.workspace_id = $1 AND m.hash = p.hash) AS seen
  FROM packs p WHERE p.workspace_id = $1 AND p.hash = $2
"""

_TEXTS = """
SELECT substr(t.content, s.start_index + 1, s.end_index - s.start_index) AS content
  FROM unnest($2::uuid[], $3::int[], $4::int[], $5::int[]) WITH ORDINALITY
       AS s(document_id, revision, start_index, end_index, place)
  JOIN document_revisions r ON r.workspace_id = $1 AND r.document_id = s.document_id AND r.revision = s.revision
  JOIN contents t ON t.workspace_id = $1 AND t.digest = r.content_digest
 ORDER BY s.place
"""

# `external` is the lesser word, and the one that counts.
_TRUST = """
SELECT min(document_trust(d, quoted.revision, $4))
  FROM unnest($2::uuid[], $3::int[]) AS quoted(id, revision)
  JOIN documents d ON d.workspace_id = $1 AND d.id = quoted.id
"""

_OF_DOCUMENT = "SELECT hash FROM pack_documents WHERE workspace_id = $1 AND document_id = $2"
_OLD = f"SELECT hash FROM packs WHERE workspace_id = $1 AND used_at < clock_timestamp() - interval '{KEPT_DAYS} days'"
_LOCK = "SELECT hash FROM packs WHERE workspace_id = $1 AND hash = ANY ($2) ORDER BY hash FOR UPDATE"
_DROP_DOCUMENTS = "DELETE FROM pack_documents WHERE workspace_id = $1 AND hash = ANY ($2)"
_DROP = "DELETE FROM packs WHERE workspace_id = $1 AND hash = ANY ($2)"
_WITH_OLD = f"SELECT DISTINCT workspace_id FROM packs WHERE used_at < clock_timestamp() - interval '{KEPT_DAYS} days'"


async def read_document(tx: Tx, document_id: UUID, most: int) -> asyncpg.Record | None:
    """Read a document's title, revision, size and, where it has at most `most` bytes, content."""
    return await tx.fetchrow(_DOCUMENT, tx.workspace_id, document_id, most)


async def list_ends(tx: Tx, document_id: UUID) -> list[int]:
    """List where the passages of a document end, in the order of its text; none while the text is not indexed."""
    return [row["end_index"] for row in await tx.fetch(_ENDS, tx.workspace_id, document_id)]


async def list_members(tx: Tx, collection_id: UUID, document_id: UUID | None) -> list[asyncpg.Record]:
    """List the documents of a collection, the first added first; only one of them where it is named."""
    return await tx.fetch(_MEMBERS, tx.workspace_id, collection_id, document_id)


async def put_pack(tx: Tx, digest: bytes, manifest: dict[str, Any], documents: Sequence[UUID]) -> None:
    """Keep a manifest, or keep it for longer."""
    await tx.execute(_PUT, tx.workspace_id, digest, manifest)
    await tx.execute(_PUT_DOCUMENTS, tx.workspace_id, digest, documents)


async def get_pack(tx: Tx, digest: bytes) -> asyncpg.Record | None:
    """Read a manifest, and which of its documents are there and in the caller's reach."""
    return await tx.fetchrow(_GET, tx.workspace_id, digest)


async def read_texts(tx: Tx, spans: Sequence[tuple[UUID, int, int, int]]) -> list[str]:
    """Read characters of revisions, in order; those that are gone are left out."""
    columns = [[span[place] for span in spans] for place in range(4)]
    return [row["content"] for row in await tx.fetch(_TEXTS, tx.workspace_id, *columns)]


async def read_trust(tx: Tx, documents: Sequence[PackedDocument], reader: UUID) -> Trust | None:
    """Tell a reader whose words, but for his own, some revisions may hold."""
    columns = [[item.document_id for item in documents], [item.revision for item in documents]]
    found = await tx.fetchval(_TRUST, tx.workspace_id, *columns, reader)
    return Trust(found) if found is not None else None


async def forget(tx: Tx, document_id: UUID) -> int:
    """Remove the packs that name a document; returns how many."""
    return await _drop(tx, [row["hash"] for row in await tx.fetch(_OF_DOCUMENT, tx.workspace_id, document_id)])


async def drop_old(tx: Tx) -> int:
    """Remove the packs of the workspace that nobody made for so long; returns how many."""
    return await _drop(tx, [row["hash"] for row in await tx.fetch(_OLD, tx.workspace_id)])


async def _drop(tx: Tx, digests: list[bytes]) -> int:
    await tx.execute(_LOCK, tx.workspace_id, digests)
    await tx.execute(_DROP_DOCUMENTS, tx.workspace_id, digests)
    return count_of(await tx.execute(_DROP, tx.workspace_id, digests))


async def list_workspaces_with_old(database: Database) -> list[UUID]:
    """List the workspaces that have packs to remove."""
    return [row["workspace_id"] for row in await database.system_rows(_WITH_OLD)]
