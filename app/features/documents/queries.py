"""SQL of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.paging import PAGE_BYTES, Sort
from app.kit.revision import expected
from app.store.tx import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.features.documents.schemas import (
        CreateDocument,
        DeleteDocument,
        ListDocuments,
        PatchDocument,
        RestoreVersion,
    )
    from app.gate.operation import Call, Context
    from app.kit.guarded import Lease
    from app.store.tx import Tx

GET = "SELECT * FROM document_get($1, $2, $3, $4)"

_CREATE = "SELECT * FROM document_create($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"

_WRITE = "SELECT * FROM document_write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"

_LOCK = "SELECT * FROM document_lock($1, $2, $3, $4, $5)"

_DELETE = "SELECT * FROM document_delete($1, $2, $3, $4, $5, $6, $7)"

_ITEM = """
d.id, d.title, d.status, d.status_reason, d.source_type, d.source_url, d.tags, d.current_version, d.revision,
encode(d.content_hash, 'hex') AS content_hash, d.created_at, d.last_changed_at
"""

# The cursor is the (time, id) of the last row seen; tags are ANDed over the tag rows.
_LISTS = {
    sort: f"""
SELECT {_ITEM}, text_trust(d.hands, d.created_by, $9) AS trust
  FROM documents d
 WHERE d.workspace_id = $1 AND d.deleted_at IS NULL
   AND ($2::text IS NULL OR position(lower($2) IN lower(d.title)) > 0)
   AND ($3::timestamptz IS NULL OR (d.{sort.column}, d.id) < ($3, $4::uuid))
   AND (cardinality($5::text[]) = 0 OR (
        SELECT count(*) FROM document_tags t
         WHERE t.workspace_id = $1 AND t.document_id = d.id AND t.tag = ANY($5)) = cardinality($5))
   AND ($7::uuid IS NULL OR EXISTS (
        SELECT FROM collection_items i
         WHERE i.workspace_id = $1 AND i.collection_id = $7 AND i.item_type = 'document' AND i.item_id = d.id))
   AND ($8::text IS NULL OR d.status = $8)
 ORDER BY d.{sort.column} DESC, d.id DESC
 LIMIT $6
"""
    for sort in Sort
}

# A row whose predecessors on the page fill it already comes without its text: it only tells that there is more.
_VERSIONS = f"""
SELECT v.id, v.version, v.revision, v.title, v.tags, v.user_name, v.change_log, v.created_at,
       document_trust(d, v.revision, $6) AS trust,
       before <= {PAGE_BYTES} AS fits, CASE WHEN before <= {PAGE_BYTES} THEN c.content END AS content
  FROM (SELECT r.id, r.version, r.revision, r.title, r.tags, r.author_name AS user_name, r.change_log,
               r.decided_at AS created_at, r.content_digest,
               coalesce(sum(octet_length(c.content)) OVER (ORDER BY r.decided_at DESC, r.id DESC
                            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW), 0) AS before
          FROM (SELECT * FROM document_revisions r
                 WHERE r.workspace_id = $1 AND r.document_id = $2 AND r.content_changed
                   AND ($3::timestamptz IS NULL OR (r.decided_at, r.id) < ($3, $4::uuid))
                 ORDER BY r.decided_at DESC, r.id DESC
                 LIMIT $5) AS r
          LEFT JOIN contents c ON c.workspace_id = r.workspace_id AND c.digest = r.content_digest) AS v
  JOIN documents d ON d.workspace_id = $1 AND d.id = $2
  LEFT JOIN contents c ON c.workspace_id = $1 AND c.digest = v.content_digest
 ORDER BY v.created_at DESC, v.id DESC
"""

# The cursor is the (created_at, id) of the last row seen.
_REVISIONS = """
SELECT r.id, r.revision, r.version, r.content_changed, encode(r.content_hash, 'hex') AS content_hash, r.title, r.tags,
       r.author_name AS user_name, r.change_log, r.decided_at AS created_at,
       document_trust(d, r.revision, $6) AS trust
  FROM document_revisions r
  JOIN documents d ON d.workspace_id = r.workspace_id AND d.id = r.document_id
 WHERE r.workspace_id = $1 AND r.document_id = $2
   AND ($3::timestamptz IS NULL OR (r.decided_at, r.id) < ($3, $4::uuid))
 ORDER BY r.decided_at DESC, r.id DESC
 LIMIT $5
"""

# Revisions of an import may lack fields: they cannot be shown as they were.
_AS_OF = """
SELECT d.id, r.title, d.status, d.status_reason, d.source_type, d.source_url, r.tags, r.version AS current_version,
       r.revision, encode(r.content_hash, 'hex') AS content_hash, d.created_at, r.decided_at AS last_changed_at,
       c.content, d.policy, document_trust(d, r.revision, $5) AS trust
  FROM documents d
  JOIN document_revisions r ON r.workspace_id = d.workspace_id AND r.document_id = d.id
  LEFT JOIN contents c ON c.workspace_id = r.workspace_id AND c.digest = r.content_digest
 WHERE d.workspace_id = $1 AND d.id = $2 AND d.deleted_at IS NULL
   AND ($3::bigint IS NULL OR r.revision = $3) AND ($4::timestamptz IS NULL OR r.decided_at <= $4)
 ORDER BY r.revision DESC
 LIMIT 1
"""

_CONTENTS = """
SELECT r.revision, c.content
  FROM document_revisions r
  JOIN contents c ON c.workspace_id = r.workspace_id AND c.digest = r.content_digest
 WHERE r.workspace_id = $1 AND r.document_id = $2 AND r.revision = ANY($3::int[]) AND octet_length(c.content) <= $4
   AND EXISTS (SELECT FROM documents d WHERE d.workspace_id = $1 AND d.id = $2 AND d.deleted_at IS NULL)
"""

_UNDELETE = "SELECT * FROM document_undelete($1, $2, $3, $4)"

_LOCK_TRASHED = "SELECT * FROM document_lock_trashed($1, $2, $3, $4)"

_LEASE_SECONDS = """
SELECT greatest(1, ceil(extract(epoch FROM lease_expires_at - clock_timestamp())))::int
  FROM documents WHERE workspace_id = $1 AND id = $2
"""

_NOTHING = "SELECT content_put($1, text_digest(''), '')"

# The tombstone: id, revision and fence stay, so that none is given out again.
_BURY = """
UPDATE documents
   SET purged_at = clock_timestamp(), title = '', tags = '{}', frontmatter = NULL, slug = NULL, source_url = NULL,
       status_reason = NULL, language = NULL, page_sha = NULL, frontmatter_digest = NULL,
       title_digest = text_digest(''), content_digest = text_digest(''), tags_digest = text_digest(''),
       content_hash = document_hash(text_digest(''), text_digest(''), text_digest(''))
 WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NOT NULL AND purged_at IS NULL
RETURNING revision
"""

_ERASE_TAGS = "DELETE FROM document_tags WHERE workspace_id = $1 AND document_id = $2"

_ERASE_REVISIONS = """
DELETE FROM document_revisions WHERE workspace_id = $1 AND document_id = $2 RETURNING content_digest, content_changed
"""

# Whoever writes the same text now holds its row: wait, and look for users afterwards.
_LOCK_CONTENTS = "SELECT FROM contents WHERE workspace_id = $1 AND digest = ANY ($2) ORDER BY digest FOR UPDATE"

_ERASE_CONTENTS = """
DELETE FROM contents c
 WHERE c.workspace_id = $1 AND c.digest = ANY ($2)
   AND NOT EXISTS (SELECT FROM document_revisions r WHERE r.workspace_id = $1 AND r.content_digest = c.digest)
   AND NOT EXISTS (SELECT FROM documents d WHERE d.workspace_id = $1 AND d.content_digest = c.digest)
"""

_EXISTS = "SELECT EXISTS (SELECT FROM documents WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL)"


async def insert_document(
    ctx: Context,
    document_id: UUID,
    revision_id: UUID,
    args: CreateDocument,
    source: tuple[str, str | None],
    call: Call,
) -> asyncpg.Record:
    """Insert a document at revision 1, from a source (type, address), into its collection; returns the outcome."""
    row = await ctx.tx.fetchrow(
        _CREATE,
        ctx.workspace_id,
        document_id,
        args.title,
        args.content,
        args.tags,
        *source,
        revision_id,
        args.collection_id,
        call,
    )
    assert row is not None
    return row


async def lock_document(ctx: Context, args: PatchDocument) -> asyncpg.Record:
    """Lock a document and read its content; the row tells whether absence or the lease refuses the write."""
    complete = ctx.keyed and args.precondition is not None
    row = await ctx.tx.fetchrow(
        _LOCK, ctx.workspace_id, args.document_id, args.lease_digest, args.lease_fence, complete
    )
    assert row is not None
    return row


async def lock_for_fill(tx: Tx, document_id: UUID) -> asyncpg.Record:
    """Lock a document for a job; the row tells whether absence or the lease refuses the write, and the content."""
    row = await tx.fetchrow(_LOCK, tx.workspace_id, document_id, None, None, False)  # noqa: FBT003  as the function has it
    assert row is not None
    return row


_TITLE = "SELECT title FROM documents WHERE workspace_id = $1 AND id = $2"


async def fill_document(
    tx: Tx, document_id: UUID, known_title: str, title: str | None, content: str, revision_id: UUID, call: Call
) -> str:
    """Write the content of a locked document, and a title where it still has the known one; gives the outcome."""
    if title is not None and await tx.fetchval(_TITLE, tx.workspace_id, document_id) != known_title:
        title = None
    values = (None, None, title, content, None, None, None, revision_id, call, None, None, False)
    outcome: str = (await tx.fetch(_WRITE, tx.workspace_id, document_id, *values))[0]["outcome"]
    return outcome


async def update_document_if_current(
    ctx: Context, args: PatchDocument, content: str | None, revision_id: UUID, call: Call
) -> asyncpg.Record:
    """Change a document when precondition and lease hold; the row tells the outcome and the current state."""
    return await _write(ctx, args, (args.title, content, args.tags, None), revision_id, call)


async def read_as_of(
    tx: Tx, document_id: UUID, at: int | datetime | None, reader: UUID | None
) -> asyncpg.Record | None:
    """Read a document as it was at a revision or time, or as it is; fields that an import lacks are None."""
    revision, moment = (at, None) if isinstance(at, int) else (None, at)
    return await tx.fetchrow(_AS_OF, tx.workspace_id, document_id, revision, moment, reader)


async def read_contents(tx: Tx, document_id: UUID, revisions: Sequence[int], most: int) -> dict[int, str]:
    """Read the contents of revisions that have one of at most `most` bytes."""
    rows = await tx.fetch(_CONTENTS, tx.workspace_id, document_id, revisions, most)
    return {row["revision"]: row["content"] for row in rows}


async def restore_version_if_current(
    ctx: Context, args: RestoreVersion, revision_id: UUID, call: Call
) -> asyncpg.Record:
    """Make a version's title, content and tags current when precondition and lease hold."""
    return await _write(ctx, args, (None, None, None, args.version_id), revision_id, call)


async def _write(
    ctx: Context,
    args: PatchDocument | RestoreVersion,
    change: tuple[str | None, str | None, list[str] | None, UUID | None],
    revision_id: UUID,
    call: Call,
) -> asyncpg.Record:
    row = await ctx.tx.fetchrow(
        _WRITE,
        ctx.workspace_id,
        args.document_id,
        *expected(args.precondition),
        *change,
        args.change_log,
        revision_id,
        call,
        args.lease_digest,
        args.lease_fence,
        ctx.keyed,
    )
    assert row is not None
    return row


async def delete_document_if_current(ctx: Context, args: DeleteDocument, call: Call) -> asyncpg.Record:
    """Move a document to the trash when precondition and lease hold."""
    row = await ctx.tx.fetchrow(
        _DELETE,
        ctx.workspace_id,
        args.document_id,
        *expected(args.precondition),
        call,
        args.lease_digest,
        args.lease_fence,
    )
    assert row is not None
    return row


async def list_documents(
    tx: Tx, args: ListDocuments, after: tuple[datetime, UUID] | None, limit: int, reader: UUID
) -> list[asyncpg.Record]:
    """List documents, in the order asked for, after a cursor."""
    created_at, document_id = after or (None, None)
    values = (args.search, created_at, document_id, args.tags, limit, args.collection_id, args.status, reader)
    return await tx.fetch(_LISTS[args.sort], tx.workspace_id, *values)


async def list_versions(
    tx: Tx, document_id: UUID, after: tuple[datetime, UUID] | None, limit: int, reader: UUID
) -> list[asyncpg.Record]:
    """List a document's versions, newest first, after a cursor."""
    decided_at, version_id = after or (None, None)
    return await tx.fetch(_VERSIONS, tx.workspace_id, document_id, decided_at, version_id, limit, reader)


async def list_revisions(
    tx: Tx, document_id: UUID, after: tuple[datetime, UUID] | None, limit: int, reader: UUID
) -> list[asyncpg.Record]:
    """List a document's revisions without content, newest first, after a cursor."""
    decided_at, revision_id = after or (None, None)
    return await tx.fetch(_REVISIONS, tx.workspace_id, document_id, decided_at, revision_id, limit, reader)


async def document_exists(tx: Tx, document_id: UUID) -> bool:
    """Tell whether a document is there and not in the trash."""
    return bool(await tx.fetchval(_EXISTS, tx.workspace_id, document_id))


async def undelete_document(tx: Tx, document_id: UUID, lease: Lease) -> asyncpg.Record:
    """Take a document out of the trash when its lease holds; the row tells the outcome and the revision."""
    row = await tx.fetchrow(_UNDELETE, tx.workspace_id, document_id, lease.lease_digest, lease.lease_fence)
    assert row is not None
    return row


async def lock_trashed(tx: Tx, document_id: UUID, lease: Lease) -> str:
    """Lock a document in the trash; gives `trashed`, or why it may not leave it."""
    values = (tx.workspace_id, document_id, lease.lease_digest, lease.lease_fence)
    row = await tx.fetchrow(_LOCK_TRASHED, *values)
    assert row is not None
    outcome: str = row["outcome"]
    return outcome


async def lease_seconds(tx: Tx, document_id: UUID) -> int:
    """Tell for how many seconds the last lease of a document may be live."""
    seconds: int = await tx.fetchval(_LEASE_SECONDS, tx.workspace_id, document_id)
    return seconds


async def bury_document(tx: Tx, document_id: UUID) -> int | None:
    """Make a tombstone of a deleted document; gives its revision, None when it is not in the trash."""
    await tx.execute(_NOTHING, tx.workspace_id)
    revision: int | None = await tx.fetchval(_BURY, tx.workspace_id, document_id)
    return revision


async def erase_history(tx: Tx, document_id: UUID) -> dict[str, int]:
    """Remove revisions and tags of a buried document, and texts that nothing else holds."""
    await tx.execute(_ERASE_TAGS, tx.workspace_id, document_id)
    rows = await tx.fetch(_ERASE_REVISIONS, tx.workspace_id, document_id)
    digests = sorted({row["content_digest"] for row in rows if row["content_digest"] is not None})
    await tx.execute(_LOCK_CONTENTS, tx.workspace_id, digests)
    texts = await tx.execute(_ERASE_CONTENTS, tx.workspace_id, digests)
    versions = sum(row["content_changed"] for row in rows)
    return {"revisions": len(rows), "versions": versions, "texts": count_of(texts)}
