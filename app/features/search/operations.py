"""Finding items by meaning, by words or literally."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.features.collections import service as collections
from app.features.collections.errors import CollectionNotFound
from app.features.documents.errors import DocumentNotFound
from app.features.documents.service import read_document
from app.features.prompts.errors import PromptNotFound
from app.features.prompts.service import read_prompt
from app.features.search import queries
from app.features.search.copies import fold
from app.features.search.errors import ItemNotFound
from app.features.search.members import join
from app.features.search.past import service as past
from app.features.search.ranking import queries as ranking
from app.features.search.schemas import (
    MAX_LIMIT,
    NAMED_COPIES,
    CollectionHit,
    DocumentCopy,
    DocumentHit,
    FetchedItem,
    FetchItem,
    FindByQuery,
    Hits,
    IndexState,
    ItemMetadata,
    Kind,
    MatchedItem,
    PromptHit,
    ResultLink,
    ResultLinks,
    Search,
    SearchMeta,
    SearchMode,
    SearchResult,
    SearchScope,
)
from app.features.search.service import embed_question, interleave, rank, rerank
from app.gate.operation import Context, query
from app.gate.policy import Rate, Scope
from app.gate.site import Site
from app.kit.asof import moment
from app.kit.errors import InsufficientScope
from app.kit.ids import parse_id
from app.kit.markdown import path_of
from app.kit.trust import Trust, farthest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    import asyncpg

    from app.features.search.service import Hit, Meaning
    from app.store.tx import Tx

READ_SCOPES = (Scope.PROMPTS_READ, Scope.DOCUMENTS_READ)
LINKS = 10
MEMBERS = 100
EXCERPT = 500
SPARE = 20
"""Hits that may take the places of copies."""

_HIDDEN = "Copies of few texts took all places; tags or a collection narrow the search to others."
_NOTHING = "Nothing has these words or a meaning near them; semantic=false looks for the letters, also within words."

_SCOPES = {kind: collections.READ_SCOPES[kind.item] for kind in (Kind.PROMPTS, Kind.DOCUMENTS, Kind.COLLECTIONS)}
_Found = dict[Kind, list[dict[str, Any]]]
_Text = tuple[str, str, Trust | None]
"""Title, text, and whose it is."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was found, of how much, whether words alone decided, and what is to be said of it."""

    found: _Found
    index: IndexState
    by_words: bool = False
    notices: tuple[str | None, ...] = ()


@query("search.items", scope=READ_SCOPES, rate=Rate.READONLY)
async def search_items(ctx: Context, args: Search) -> SearchResult:
    """Find prompts, documents and collections.

    `semantic=true` ranks by words and meaning together; `semantic=false` finds the literal text in titles, descriptions
    and whole bodies, also before indexing is done. Only types that the credential may read are searched. `meta` says
    what was searched and how much of it is not in the index yet: nothing found is not the same as not indexed.

    `asOf`, a time, searches documents as they were then, but for those in the trash now: by words alone, over at most
    200 of them, and `meta.notice` says how many; with `semantic=false` over all. `revision` of a hit reads it.
    """
    found, meta = await _find(ctx, args)
    data = Hits(
        prompts=[_prompt_hit(hit) for hit in found[Kind.PROMPTS]],
        documents=[_document_hit(hit) for hit in found[Kind.DOCUMENTS]],
        collections=[_collection_hit(hit) for hit in found[Kind.COLLECTIONS]],
    )
    return SearchResult(data=data, meta=meta)


@query("search.links", scope=READ_SCOPES, rate=Rate.READONLY)
async def search_links(ctx: Context, args: FindByQuery) -> ResultLinks:
    """Find items by meaning and give their ids and the addresses where a person can open them."""
    site = ctx.get(Site)
    found, meta = await _find(ctx, Search(q=args.query, limit=LINKS))
    ranked = {kind: [(hit["id"], hit["score"]) for hit in hits] for kind, hits in found.items()}
    titles = {hit["id"]: hit["title"] for hits in found.values() for hit in hits}
    links = [
        ResultLink(id=f"{kind.item}_{item}", title=titles[item], url=site.item_url(kind.value, item))
        for kind, item in interleave(ranked, LINKS)
    ]
    return ResultLinks(results=links, meta=meta)


@query(
    "search.fetch",
    scope=READ_SCOPES,
    rate=Rate.READONLY,
    raises=(ItemNotFound, DocumentNotFound, PromptNotFound, CollectionNotFound, InsufficientScope),
)
async def fetch_item(ctx: Context, args: FetchItem) -> FetchedItem:
    """Read one item as text by the id that a search gave."""
    name, _, raw = args.id.partition("_")
    kind, item_id = next((kind for kind in _SCOPES if kind.item == name), None), parse_id(raw)
    if kind is None or item_id is None:
        raise ItemNotFound
    if _SCOPES[kind] not in ctx.principal.scopes:
        raise InsufficientScope((_SCOPES[kind].value,))
    title, text, trust = await _READERS[kind](ctx, item_id)
    url = ctx.get(Site).item_url(kind.value, item_id)
    return FetchedItem(id=args.id, title=title, text=text, url=url, metadata=ItemMetadata(type=name), trust=trust)


async def _document_text(ctx: Context, document_id: UUID) -> _Text:
    document = await read_document(ctx, document_id)
    return document.title, f"# {document.title}\n\n{document.content}", document.trust


async def _prompt_text(ctx: Context, prompt_id: UUID) -> _Text:
    async with ctx.snapshot() as tx:
        prompt = await read_prompt(tx, prompt_id, reader=ctx.principal.user_id)
    parts = (f"# {prompt['title']}", prompt["description"], prompt["content"])
    return prompt["title"], "\n\n".join(part for part in parts if part), prompt["trust"]


async def _collection_text(ctx: Context, collection_id: UUID) -> _Text:
    async with ctx.snapshot() as tx:
        collection = await collections.read_collection(ctx, tx, collection_id)
        members = await collections.list_members(ctx, tx, collection_id, MEMBERS)
    lines = [f"- {row['title']} ({row['item_type']}_{row['item_id']})" for row in members]
    if collection.item_count > len(lines):
        lines.append(f"- … and {collection.item_count - len(lines)} more")
    parts = (f"# {collection.name}", collection.description, "\n".join(lines))
    trust = farthest(collection.trust, *(row["trust"] for row in members))
    return collection.name, "\n\n".join(part for part in parts if part), trust


_READERS = {Kind.DOCUMENTS: _document_text, Kind.PROMPTS: _prompt_text, Kind.COLLECTIONS: _collection_text}


async def _find(ctx: Context, args: Search) -> tuple[_Found, SearchMeta]:
    everything = [Kind.DOCUMENTS] if args.as_of is not None else list(_SCOPES)
    searched = everything if args.type is Kind.ALL else [args.type]
    kinds = _readable(ctx, searched)
    answer = await _find_kinds(ctx, args, kinds)
    return {kind: answer.found.get(kind, []) for kind in _SCOPES}, _meta(ctx, args, kinds, answer)


def _readable(ctx: Context, kinds: Collection[Kind]) -> list[Kind]:
    return [kind for kind, scope in _SCOPES.items() if kind in kinds and scope in ctx.principal.scopes]


async def _find_kinds(ctx: Context, args: Search, kinds: Sequence[Kind]) -> _Answer:
    limit = min(args.limit, MAX_LIMIT)
    if not kinds:
        return _Answer({}, IndexState(total=0, pending=0), by_words=args.as_of is not None)
    if args.as_of is not None:
        then = await past.find(ctx, args, moment(args.as_of), limit)
        state = IndexState(total=then.total, pending=0)
        return _Answer({Kind.DOCUMENTS: then.hits}, state, by_words=True, notices=(then.notice,))
    meaning = await embed_question(ctx, args.q) if args.semantic else None
    looked_at = _readable(ctx, _SCOPES) if Kind.COLLECTIONS in kinds else kinds  # they are found by members, too
    async with ctx.snapshot() as tx:
        if meaning is None:
            return _Answer(*await _literally(ctx, tx, args, kinds, looked_at))
        found, index, said = await _by_meaning(ctx, tx, args, kinds, looked_at, meaning)
    documents, unordered = await rerank(ctx, args.q, found.get(Kind.DOCUMENTS, []), _shown)
    found = {kind: (documents if kind is Kind.DOCUMENTS else found[kind])[:limit] for kind in kinds}
    return _Answer(found, index, by_words=meaning.notice is not None, notices=(meaning.notice, unordered, said))


def _shown(hit: Mapping[str, Any]) -> str:
    """Give of a document what a reranker judges it by: its title, and the passage that matches best."""
    return f"{hit['title']}\n{hit['highlight'] or ''}"


def _meta(ctx: Context, args: Search, kinds: Sequence[Kind], answer: _Answer) -> SearchMeta:
    notices = [notice for notice in answer.notices if notice is not None]
    if not kinds:
        wanted = Kind.DOCUMENTS if args.type is Kind.ALL else args.type  # of all, only the documents of then can lack
        scope = _SCOPES[wanted].value
        notices.append(f"Nothing was searched: this credential lacks the scope {scope}; use one that was granted it.")
    by_meaning = SearchMode.LEXICAL if answer.by_words else SearchMode.HYBRID
    if args.limit > MAX_LIMIT:
        notices.append(f"limit {args.limit} is over the cap; at most {MAX_LIMIT} are returned.")
    return SearchMeta(
        semantic=args.semantic,
        query=args.q,
        mode=by_meaning if args.semantic else SearchMode.LITERAL,
        as_of=args.as_of,
        scope=SearchScope(types=list(kinds), tags=args.tags, restricted=ctx.principal.collections is not None),
        index=answer.index,
        pending=answer.index.pending,
        notice=" ".join(notices) or None,
    )


async def _literally(
    ctx: Context, tx: Tx, args: Search, kinds: Sequence[Kind], looked_at: Sequence[Kind]
) -> tuple[_Found, IndexState]:
    limit = min(args.limit, MAX_LIMIT)
    items, reader = [kind.item for kind in looked_at], ctx.principal.user_id
    rows = await queries.find_literally(tx, items, args.q, args.tags, limit, reader)
    states = await queries.count_indexed(tx, items, args.tags)
    found = {Kind(f"{item}s"): [dict(row) | {"score": None} for row in hits] for item, hits in rows.items()}
    if Kind.COLLECTIONS in kinds and (members := _members(found)):
        memberships = await queries.list_memberships(tx, list(members), args.tags, reader)
        found[Kind.COLLECTIONS] = join(found[Kind.COLLECTIONS], members, memberships)[:limit]
    return {kind: found[kind] for kind in kinds}, _state(states)


async def _by_meaning(
    ctx: Context, tx: Tx, args: Search, kinds: Sequence[Kind], looked_at: Sequence[Kind], meaning: Meaning
) -> tuple[_Found, IndexState, str | None]:
    """Rank in one statement, describe the best in another; again, and deeper, where copies took all places."""
    first, *deeper = ranking.DEPTHS
    found, index, hidden = await _ranked(ctx, tx, args, kinds, looked_at, meaning, first)
    for candidates in deeper:
        if not hidden:
            break
        found, index, hidden = await _ranked(ctx, tx, args, kinds, looked_at, meaning, candidates)
    said = _HIDDEN if hidden else None
    if index.total and not any(found[kind] for kind in kinds):
        said = _NOTHING
    return {kind: found[kind] for kind in kinds}, index, said


async def _ranked(
    ctx: Context,
    tx: Tx,
    args: Search,
    kinds: Sequence[Kind],
    looked_at: Sequence[Kind],
    meaning: Meaning,
    candidates: int,
) -> tuple[_Found, IndexState, bool]:
    """Rank so many candidates; also tells whether copies took the places of documents that were not looked at."""
    rows = await ranking.rank(
        tx, [kind.item for kind in looked_at], args.q, args.tags, meaning.vector, meaning.serving, candidates
    )
    most = max(min(args.limit, MAX_LIMIT) + SPARE, candidates // 2)
    kept = {kind: rank(meaning.serving.model, rows[kind.item], meaning.weight)[:most] for kind in looked_at}
    more = len(rows.get("document", ())) > candidates or len(kept.get(Kind.DOCUMENTS, ())) == most
    counted = [row for hits in rows.values() for row in hits if row["id"] is None]
    found = await _described(ctx, tx, args, kinds, kept)
    # Few hits are no reason: in any larger workspace there are more candidates than hits that count.
    documents = found.get(Kind.DOCUMENTS, ())
    hidden = more and len(documents) < min(args.limit, MAX_LIMIT) and any(hit.get("copies") for hit in documents)
    return found, _state(counted), hidden


async def _described(
    ctx: Context, tx: Tx, args: Search, kinds: Sequence[Kind], kept: Mapping[Kind, Sequence[Hit]]
) -> _Found:
    tags = args.tags if Kind.COLLECTIONS in kinds else None
    described, memberships = await queries.describe(
        tx, {hit.id: hit.passage for hits in kept.values() for hit in hits}, ctx.principal.user_id, tags
    )
    found = {
        kind: [dict(described[hit.id]) | {"score": hit.score} for hit in hits if hit.id in described]
        for kind, hits in kept.items()
    }
    if memberships:
        found[Kind.COLLECTIONS] = join(found[Kind.COLLECTIONS], _members(found), memberships)
    if Kind.DOCUMENTS in found:
        found[Kind.DOCUMENTS] = fold(found[Kind.DOCUMENTS])
    return found


def _members(found: _Found) -> dict[UUID, dict[str, Any]]:
    """Give the found items that may be members of collections, best first."""
    several = [hit for kind in (Kind.DOCUMENTS, Kind.PROMPTS) for hit in found.get(kind, ())]
    return {hit["id"]: hit for hit in sorted(several, key=lambda hit: -(hit["score"] or 0.0))}


def _state(rows: Sequence[asyncpg.Record]) -> IndexState:
    return IndexState(total=sum(row["total"] for row in rows), pending=sum(row["pending"] for row in rows))


def _named(hit: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: hit[name] for name in (*names, "score")}


def _prompt_hit(hit: Mapping[str, Any]) -> PromptHit:
    return PromptHit(prompt_id=hit["id"], **_named(hit, "title", "description", "trust"))


def _copy(hit: Mapping[str, Any]) -> DocumentCopy:
    return DocumentCopy(document_id=hit["id"], title=hit["title"], trust=hit["trust"])


def _document_hit(hit: Mapping[str, Any]) -> DocumentHit:
    text = hit["highlight"] or ""
    highlight = (text if hit["score"] is None else text[:EXCERPT]) or None
    fields = _named(hit, "title", "status", "chunk_id", "trust")
    copies = hit.get("copies", ())
    fields["copies"] = [_copy(copy) for copy in copies[:NAMED_COPIES]]
    fields["more_copies"] = len(copies[NAMED_COPIES:])
    fields["section_path"] = path_of(hit.get("section_path") or ())[:EXCERPT] or None
    return DocumentHit(document_id=hit["id"], highlight=highlight, revision=hit.get("revision"), **fields)


def _collection_hit(hit: Mapping[str, Any]) -> CollectionHit:
    matched = [
        MatchedItem(type=member["kind"], id=member["id"], **_named(member, "title", "trust"))
        for member in hit.get("matched", ())
    ]
    return CollectionHit(
        collection_id=hit["id"], name=hit["title"], matched_items=matched, **_named(hit, "description", "trust")
    )
