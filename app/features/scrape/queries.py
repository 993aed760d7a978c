"""SQL of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.revision import expected
from app.store.tx import count_of

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

    from app.features.scrape.schemas import Page, RefreshDocument
    from app.store.tx import Tx

# Validators count only while the document says what was fetched: an edit since then makes the page differ from it.
_SOURCE = """
SELECT d.source_type, d.revision, encode(d.content_hash, 'hex') AS content_hash,
       coalesce(s.url, d.source_url) AS url,
       CASE WHEN s.content_digest = d.content_digest THEN s.etag END AS etag,
       CASE WHEN s.content_digest = d.content_digest THEN s.last_modified END AS last_modified,
       coalesce(document_lease_refusal(d, $3, $4, $5),
                CASE WHEN revision_expected($6, $7, d.revision, d.content_hash) THEN 'current' ELSE 'mismatch' END)
         AS outcome
  FROM documents d
  LEFT JOIN document_sources s ON s.workspace_id = d.workspace_id AND s.document_id = d.id
 WHERE d.workspace_id = $1 AND d.id = $2 AND d.deleted_at IS NULL
"""

_PUT = """
INSERT INTO document_sources AS s (workspace_id, document_id, url, etag, last_modified, language, content_digest,
                                   fetched_at)
VALUES ($1, $2, $3, $4, $5, $6, text_digest($7), clock_timestamp())
ON CONFLICT (workspace_id, document_id) DO UPDATE
   SET url = excluded.url, etag = excluded.etag, last_modified = excluded.last_modified, language = excluded.language,
       content_digest = excluded.content_digest, fetched_at = excluded.fetched_at
"""

_FORGET = "DELETE FROM document_sources WHERE workspace_id = $1 AND document_id = $2"


async def read_source(tx: Tx, args: RefreshDocument, *, complete: bool) -> asyncpg.Record | None:
    """Read where a document came from, and what its refresh would be refused with now; None when it is absent."""
    return await tx.fetchrow(
        _SOURCE,
        tx.workspace_id,
        args.document_id,
        args.lease_digest,
        args.lease_fence,
        complete,
        *expected(args.precondition),
    )


async def put_source(tx: Tx, document_id: UUID, page: Page) -> None:
    """Keep where a document's text was fetched, and how to ask whether that changed."""
    known = page.validators
    await tx.execute(
        _PUT, tx.workspace_id, document_id, page.url, known.etag, known.last_modified, page.language, page.content
    )


async def forget(tx: Tx, document_id: UUID) -> int:
    """Forget where a document came from; returns how many rows went."""
    return count_of(await tx.execute(_FORGET, tx.workspace_id, document_id))
