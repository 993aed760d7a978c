"""The search page over all kinds of items, with passages in place, and the page that adds what is found."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from app.edge.web.forms import filled, filters, tags_of, ticked
from app.edge.web.page import Page, call, form, gate_of, person, redirect, render
from app.features.collections import operations as collections
from app.features.collections.schemas import ItemType
from app.features.documents import operations as documents
from app.features.navigation import operations
from app.features.prompts import operations as prompts
from app.features.search import operations as search
from app.features.search.schemas import MAX_QUERY
from app.gate.prose import Prose
from app.kit.errors import AppError, InvalidRequest

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.search.schemas import Hits

PATH: Final = "/dashboard/search"
_LIMIT: Final = 50
_PASSAGES: Final = 5
_RECENT: Final = 25
_SHOWN: Final = 1200
"""Characters of a passage that are shown."""
_BEGINNING: Final = 800
"""Characters of a document that stand for it where similar ones are looked for."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FIRST_YEAR: Final = 1900
KINDS = ("documents", "prompts", "collections")


async def find(request: Request) -> Response:
    """Search all kinds by meaning or literally, or what is similar to a document; show passages of one hit in place."""
    await person(request)
    chosen = filters(request, "q", "type", "mode", "tag", "asOf", "similar", "open")
    like = None
    query = chosen["q"][:MAX_QUERY]
    if chosen["similar"]:
        like = (await call(request, documents.get_document, documentId=chosen["similar"])).data
        query = f"{like.title}\n{like.content[:_BEGINNING]}"
    found, meta, error = None, None, ""
    passages: list[tuple[str, str | None]] = []
    if query:
        literal = chosen["mode"] == "literal" and like is None
        try:
            more = filled({"asOf": _end_of(chosen["asOf"]), "tags": tags_of(chosen["tag"])})
            answer = await call(request, search.search_items, q=query, semantic=not literal, limit=_LIMIT, **more)
            found, meta = answer.data, answer.meta
            passages = await _passages(request, query, chosen["open"])
        except AppError as refusal:
            error = refusal.message
    hits = _hits(found, like.id if like else None)
    kind = chosen["type"] if chosen["type"] in KINDS else ""
    kept = {name: value for name, value in chosen.items() if name not in ("open", "type")}
    return render(
        request,
        "search.html",
        chosen=chosen | {"type": kind},
        like=like,
        hits=hits,
        total=sum(len(group) for group in hits.values()),
        limit=_LIMIT,
        meta=meta,
        passages=passages,
        kept=urlencode(filled(kept)),
        literally=urlencode(filled(kept) | {"mode": "literal"}),
        error=error,
    )


def _end_of(day: str) -> str:
    """Give the last moment of a day, by UTC; nothing of none.

    Raises:
        InvalidRequest: it is no day, or one that has not begun.
    """
    if not day:
        return ""
    try:
        found = date.fromisoformat(day if _DAY.fullmatch(day) else "")
    except ValueError:
        found = date.min
    if found.year < _FIRST_YEAR:
        raise InvalidRequest(f"Choose a day from {_FIRST_YEAR} on, written like 2026-05-01.")
    if found > datetime.now(UTC).date():
        raise InvalidRequest("That day has not begun (days begin and end by UTC). Choose today or a day before.")
    return f"{day}T23:59:59.999999Z"


def _hits(found: Hits | None, without: Any) -> dict[str, list[Any]]:
    if found is None:
        return {kind: [] for kind in KINDS}
    groups = {kind: list(getattr(found, kind)) for kind in KINDS}
    groups["documents"] = [hit for hit in groups["documents"] if hit.document_id != without]
    return groups


async def _passages(request: Request, query: str, document_id: str) -> list[tuple[str, str | None]]:
    """Find the passages of one document that answer best; gives their texts, and these as HTML."""
    if not document_id:
        return []
    answer = await call(request, operations.search_passages, query=query, documentId=document_id, limit=_PASSAGES)
    workspace_id, prose = (await person(request)).workspace_id, gate_of(request).get(Prose)
    texts = [_beginning(passage.content) for passage in answer.data.results]
    return [(text, await prose.html(workspace_id, text)) for text in texts]


def _beginning(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + " …"


async def choose(request: Request) -> Response:
    """Offer what could become a member of a collection: what a search finds, or the newest."""
    return await _offered(request)


async def _offered(request: Request, status: int = 200, error: str = "") -> Response:
    here = request.path_params["id"]
    found = (await call(request, collections.get_collection, collectionId=here)).data
    asked = filters(request, "q")["q"][:MAX_QUERY]
    items: list[dict[str, Any]] = []
    if asked:
        hits = (await call(request, search.search_items, q=asked, limit=_RECENT)).data
        items += [{"kind": "document", "id": hit.document_id, "title": hit.title} for hit in hits.documents]
        items += [{"kind": "prompt", "id": hit.prompt_id, "title": hit.title} for hit in hits.prompts]
    else:
        newest = (await call(request, documents.list_documents, limit=_RECENT)).data
        items += [{"kind": "document", "id": one.id, "title": one.title} for one in newest]
        items += [
            {"kind": "prompt", "id": one.id, "title": one.title}
            for one in (await call(request, prompts.list_prompts, limit=_RECENT)).data
        ]
    return render(request, "collection_add.html", status, collection=found, items=items, asked=asked, error=error)


async def add(request: Request) -> Response:
    """Make members of what was ticked."""
    fields = await form(request)
    here = request.path_params["id"]
    chosen = [one.partition(".") for one in ticked(fields)]
    if not chosen:
        return await _offered(request, 400, "Tick what belongs into the collection first.")
    for kind in ItemType:
        if ids := [item for name, _, item in chosen if name == kind.value]:
            await call(request, collections.add_items, collectionId=here, itemIds=ids, itemType=kind)
    return redirect(f"/dashboard/collections/{here}", "added")


PAGES = [
    Page(PATH, find),
    Page("/dashboard/collections/{id}/add", choose),
    Page("/dashboard/collections/{id}/add", add, ("POST",)),
]
