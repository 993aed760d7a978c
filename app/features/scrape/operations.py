"""What can be done with web pages (contract: operations 15 and 16)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from app.features.collections import service as collections
from app.features.collections.errors import CollectionNotFound
from app.features.documents import service as documents
from app.features.documents.errors import DocumentNotFound
from app.features.documents.schemas import MAX_TITLE, CreateDocument, Document, DocumentAck, PatchDocument
from app.features.scrape import queries
from app.features.scrape.errors import (
    NotFromUrl,
    PageFailed,
    PageForbidden,
    PageInside,
    PageTimedOut,
    PageTypeUnsupported,
    PageUnreadable,
)
from app.features.scrape.remote import Pages
from app.features.scrape.schemas import Page, RefreshDocument, ScrapeDocument, Validators
from app.gate.operation import Context, effect
from app.gate.policy import Feature, Meter, Rate, Scope
from app.kit.errors import InvalidRequest, PreconditionRequired
from app.kit.schema import One, storable

_REFUSALS = (PageInside, PageFailed, PageTimedOut, PageForbidden, PageTypeUnsupported, PageUnreadable)
URL = "url"
"""The source type of documents that were kept from a page."""


async def _fetch(ctx: Context, args: ScrapeDocument) -> Page:
    """Fetch the page, after what would be refused anyway."""
    await collections.check_place(ctx, args.collection_id)
    return await ctx.get(Pages).read(ctx.workspace_id, args.url, Validators())


@effect(
    "documents.scrape",
    prepare=_fetch,
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.SCRAPE,
    feature=Feature.WEB_PAGES,
    spends=(Meter.DOCUMENTS, Meter.STORAGE_BYTES, Meter.SCRAPES_MONTH),
    raises=(*_REFUSALS, InvalidRequest, CollectionNotFound),
)
async def scrape_document(ctx: Context, args: ScrapeDocument, page: Page) -> One[Document]:
    """Keep a web page as a document: its main text as Markdown, its title, and its address as `sourceUrl`.

    The page must be public and its site's robots.txt must allow it. Plain text, Markdown and JSON are kept as they are.
    """
    source_url = page.canonical or page.url
    title = (args.title or (page.title or "").strip() or storable(_name(page.url)))[:MAX_TITLE].strip()
    new = CreateDocument(title=title, content=page.content or "", tags=args.tags, collection_id=args.collection_id)
    document = await documents.create(ctx, new, source_type=URL, source_url=source_url)
    await queries.put_source(ctx.tx, document.id, page)
    return One(data=document)


@dataclass(frozen=True, slots=True)
class _Fetched:
    """A page, and the revision of the document that it was fetched for, unless the caller named one otherwise."""

    page: Page
    revision: int | None


async def _fetch_again(ctx: Context, args: RefreshDocument) -> _Fetched:
    """Judge the write as it would be judged now, then ask the page's server whether the page changed."""
    complete = ctx.keyed and args.if_match is not None and args.precondition is not None
    async with ctx.snapshot() as tx:
        row = await queries.read_source(tx, args, complete=complete)
    if row is None:
        raise DocumentNotFound
    if row["source_type"] != URL:
        raise NotFromUrl
    if row["outcome"] == "incomplete":
        msg = "A lease-managed document is refreshed with If-Match and an Idempotency-Key; send both with the lease."
        raise PreconditionRequired(msg)
    documents.check(row, args.precondition)
    known = Validators(row["etag"], row["last_modified"])
    page = await ctx.get(Pages).read(ctx.workspace_id, row["url"], known)
    return _Fetched(page, row["revision"] if args.precondition is None else args.expected_revision)


@effect(
    "documents.refresh",
    prepare=_fetch_again,
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.SCRAPE,
    feature=Feature.WEB_PAGES,
    spends=(Meter.STORAGE_BYTES, Meter.SCRAPES_MONTH),
    raises=(*_REFUSALS, *documents.WRITE_REFUSALS, NotFromUrl),
)
async def refresh_document(ctx: Context, args: RefreshDocument, fetched: _Fetched) -> One[DocumentAck]:
    """Bring a document up to date from its web page, as a new version; `noop: true` when the page did not change.

    Title and tags stay. An edit made while the page is fetched is never overwritten, whether or not the revision is
    named that the refresh is based on. A lease-managed document needs `If-Match`, an `Idempotency-Key` and the lease.
    """
    page = fetched.page
    change = PatchDocument(
        document_id=args.document_id,
        if_match=args.if_match,
        expected_revision=fetched.revision,
        lease_id=args.lease_id,
        lease_fence=args.lease_fence,
        change_log=args.change_log,
        **({} if page.content is None else {"content": page.content}),
    )
    acknowledged = await documents.change(ctx, change)
    if page.content is not None:
        await queries.put_source(ctx.tx, args.document_id, page)
    return One(data=acknowledged)


def _name(url: str) -> str:
    """Name a page that has no title by its address."""
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]).strip() or parts.netloc
