"""SQL of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.paging import PAGE_BYTES

if TYPE_CHECKING:
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
    from app.kit.revision import Precondition
    from app.store.tx import Tx

GET = "SELECT * FROM document_get($1, $2)"

_CREATE = "SELECT * FROM document_create($1, $2, $3, $4, $5, $6, $7, $8, $9)"

_WRITE = "SELECT * FROM document_write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)"

_DELETE = "SELECT * FROM document_delete($1, $2, $3, $4, $5, $6, $7)"

_ITEM = """
d.id, d.title, d.status, d.status_reason, d.source_type, d.source_url, d.tags, d.current_version, d.revision,
encode(d.content_hash, 'hex') AS content_hash, d.created_at, d.last_changed_at
"""

# The cursor is the (created_at, id) of the last row seen; tags are ANDed over the tag rows.
_LIST = f"""
SELECT {_ITEM}
  FROM documents d
 WHERE d.workspace_id = $1 AND d.deleted_at IS NULL
   AND ($2::text IS NULL OR position(lower($2) IN lower(d.title)) > 0)
   AND ($3::timestamptz IS NULL OR (d.created_at, d.id) < ($3, $4::uuid))
   AND (cardinality($5::text[]) = 0 OR (
        SELECT count(*) FROM document_tags t
         WHERE t.workspace_id = $1 AND t.document_id = d.id AND t.tag = ANY($5)) = cardinality($5))
 ORDER BY d.created_at DESC, d.id DESC
 LIMIT $6
"""

# A row whose predecessors on the page fill it already comes without its text: it only tells that there is more.
_VERSIONS = f"""
SELECT v.id, v.version, v.revision, v.title, v.tags, v.user_name, v.change_log, v.created_at,
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
  LEFT JOIN contents c ON c.workspace_id = $1 AND c.digest = v.content_digest
 ORDER BY v.created_at DESC, v.id DESC
"""

_EXISTS = "SELECT EXISTS (SELECT FROM documents WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL)"


def _expected(precondition: Precondition | None) -> tuple[tuple[int, ...] | None, tuple[str, ...] | None]:
    return (precondition.revisions, precondition.hashes) if precondition else (None, None)


async def insert_document(
    ctx: Context,
    document_id: UUID,
    revision_id: UUID,
    args: CreateDocument,
    source: tuple[str, str | None],
    call: Call,
) -> asyncpg.Record:
    """Insert a document at revision 1, from a source of a type and perhaps an address; returns its hash and time."""
    row = await ctx.tx.fetchrow(
        _CREATE,
        ctx.workspace_id,
        document_id,
        args.title,
        args.content,
        args.tags,
        *source,
        revision_id,
        call,
    )
    assert row is not None
    return row


async def update_document_if_current(
    ctx: Context, args: PatchDocument, revision_id: UUID, call: Call
) -> asyncpg.Record:
    """Change a document when precondition and lease hold; the row tells the outcome and the current state."""
    return await _write(ctx, args, (args.title, args.content, args.tags, None), revision_id, call)


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
        *_expected(args.precondition),
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
        *_expected(args.precondition),
        call,
        args.lease_digest,
        args.lease_fence,
    )
    assert row is not None
    return row


async def list_documents(
    tx: Tx, args: ListDocuments, after: tuple[datetime, UUID] | None, limit: int
) -> list[asyncpg.Record]:
    """List documents, newest first, after a cursor."""
    created_at, document_id = after or (None, None)
    return await tx.fetch(_LIST, tx.workspace_id, args.search, created_at, document_id, args.tags, limit)


async def list_versions(
    tx: Tx, document_id: UUID, after: tuple[datetime, UUID] | None, limit: int
) -> list[asyncpg.Record]:
    """List a document's versions, newest first, after a cursor."""
    decided_at, version_id = after or (None, None)
    return await tx.fetch(_VERSIONS, tx.workspace_id, document_id, decided_at, version_id, limit)


async def document_exists(tx: Tx, document_id: UUID) -> bool:
    """Tell whether a document is there and not in the trash."""
    return bool(await tx.fetchval(_EXISTS, tx.workspace_id, document_id))
