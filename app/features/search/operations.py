"""Finding items by meaning, by words or literally."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.documents.errors import DocumentNotFound
from app.features.documents.service import read_document
from app.features.indexing.service import LANGUAGE, Embedder
from app.features.search import queries
from app.features.search.errors import ItemNotFound
from app.features.search.schemas import (
    MAX_LIMIT,
    DocumentHit,
    FetchedItem,
    FetchItem,
    FindByQuery,
    Hits,
    ItemMetadata,
    Kind,
    ResultLink,
    ResultLinks,
    Search,
    SearchMeta,
    SearchResult,
)
from app.features.search.service import THRESHOLD, calibrated, fuse
from app.gate.operation import Context, query
from app.gate.policy import Rate, Scope
from app.gate.site import Site
from app.kit.errors import InsufficientScope
from app.kit.ids import parse_id

if TYPE_CHECKING:
    import asyncpg

    from app.store.tx import Tx

READ_SCOPES = (Scope.PROMPTS_READ, Scope.DOCUMENTS_READ)
LINKS = 10
EXCERPT = 500


@query("search.items", scope=READ_SCOPES, rate=Rate.READONLY)
async def search_items(ctx: Context, args: Search) -> SearchResult:
    """Find prompts, documents and collections.

    `semantic=true` ranks by words and meaning together; `semantic=false` finds the literal text in titles and whole
    bodies, also before indexing is done. Only types that the credential may read are searched.
    """
    limit = min(args.limit, MAX_LIMIT)
    notice = None if limit == args.limit else f"limit {args.limit} is over the cap; at most {MAX_LIMIT} are returned."
    documents: list[DocumentHit] = []
    pending = 0
    if args.type in {Kind.ALL, Kind.DOCUMENTS} and Scope.DOCUMENTS_READ in ctx.principal.scopes:
        documents, pending = await _find_documents(ctx, args, limit)
    return SearchResult(
        data=Hits(prompts=[], documents=documents, collections=[]),
        meta=SearchMeta(semantic=args.semantic, query=args.q, pending=pending, notice=notice),
    )


@query("search.links", scope=READ_SCOPES, rate=Rate.READONLY)
async def search_links(ctx: Context, args: FindByQuery) -> ResultLinks:
    """Find items by meaning and give their ids and the addresses where a person can open them."""
    site = ctx.get(Site)
    found = await search_items.function(ctx, Search(q=args.query, limit=LINKS))
    links = [
        ResultLink(id=f"document_{hit.document_id}", title=hit.title, url=site.item_url("documents", hit.document_id))
        for hit in found.data.documents
    ]
    return ResultLinks(results=links)


@query(
    "search.fetch", scope=READ_SCOPES, rate=Rate.READONLY, raises=(ItemNotFound, DocumentNotFound, InsufficientScope)
)
async def fetch_item(ctx: Context, args: FetchItem) -> FetchedItem:
    """Read one item as text by the id that a search gave."""
    kind, _, raw = args.id.partition("_")
    item_id = parse_id(raw)
    if kind != "document" or item_id is None:
        raise ItemNotFound
    if Scope.DOCUMENTS_READ not in ctx.principal.scopes:
        raise InsufficientScope((Scope.DOCUMENTS_READ.value,))
    document = await read_document(ctx, item_id)
    return FetchedItem(
        id=args.id,
        title=document.title,
        text=document.content,
        url=ctx.get(Site).item_url("documents", item_id),
        metadata=ItemMetadata(type="document"),
    )


async def _find_documents(ctx: Context, args: Search, limit: int) -> tuple[list[DocumentHit], int]:
    if not args.semantic:
        async with ctx.snapshot() as tx:
            rows = await queries.find_literally(tx, args.q, args.tags, limit)
            return [_literal_hit(row) for row in rows], await queries.count_pending(tx)
    embedder = ctx.get(Embedder)
    vector = await embedder.embed_query(args.q)  # no snapshot is open while a model thinks
    async with ctx.snapshot() as tx:
        lexical = await queries.rank_lexically(tx, LANGUAGE, args.q, args.tags)
        dense = await queries.rank_by_vector(tx, vector, embedder.name, args.tags)
        hits = await _described(tx, args.q, lexical, dense, embedder.name, limit)
        return hits, await queries.count_pending(tx)


def _literal_hit(row: asyncpg.Record) -> DocumentHit:
    return DocumentHit(
        document_id=row["id"],
        title=row["title"],
        status=row["status"],
        highlight=row["highlight"] or None,
        chunk_id=row["chunk_id"],
        score=None,
    )


async def _described(
    tx: Tx, text: str, lexical: list[asyncpg.Record], dense: list[asyncpg.Record], model: str, limit: int
) -> list[DocumentHit]:
    words = {row["id"]: row["score"] for row in lexical}
    cosines = {row["id"]: row["score"] for row in dense}
    scores = {item: calibrated(model, cosines[item]) if item in cosines else THRESHOLD for item in {**words, **cosines}}
    kept = [
        item
        for item in fuse(words, cosines, lexical[0]["bound"] if lexical else 0.0)
        if item in words or scores[item] >= THRESHOLD
    ][:limit]
    passages = {row["id"]: row["chunk"] for row in dense} | await queries.find_passages(tx, LANGUAGE, text, kept)
    described = await queries.describe_hits(tx, [(item, passages.get(item)) for item in kept])
    return [_hit(described[item], scores[item]) for item in kept if item in described]


def _hit(row: asyncpg.Record, score: float) -> DocumentHit:
    return DocumentHit(
        document_id=row["id"],
        title=row["title"],
        status=row["status"],
        highlight=(row["highlight"] or "")[:EXCERPT] or None,
        chunk_id=row["chunk_id"],
        score=score,
    )
