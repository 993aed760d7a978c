"""Pages of documents: the list, one document, and writing it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from app.edge.web.forms import BULK, MAX_TEXT, MAX_TEXT_BYTES, choices, filled, filters, kept, orders, tags_of, ticked
from app.edge.web.page import Page, call, form, gate_of, panels, person, redirect, render
from app.edge.web.wording import told
from app.features.collections import operations as collections
from app.features.collections.schemas import ItemType
from app.features.documents import operations
from app.features.documents.editing import EDITING, shown_editor
from app.features.documents.history import HISTORY
from app.gate.prose import Prose
from app.kit.errors import AppError, RevisionMismatch
from app.kit.markdown.html import begins_with, contents
from app.kit.paging import MAX_LIMIT

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.documents.schemas import Document
    from app.kit.markdown.html import Entry

PATH: Final = "/dashboard/documents"
PAGE_SIZE: Final = 50
_OUTLINED: Final = 2_000
"""Characters of a text from which on it has a table of contents, if it has this many headings:"""
_FEWEST_HEADINGS: Final = 3
_MOST_HEADINGS: Final = 200
STATES = [
    ("", "Any state"),
    ("ready", "Ready"),
    ("pending", "Waiting for the index"),
    ("processing", "Being indexed"),
    ("failed", "Not searchable"),
]


async def documents(request: Request) -> Response:
    """List documents, narrowed by title, tag, collection and state."""
    return await _listed(request)


async def _listed(request: Request, status: int = 200, error: str = "") -> Response:
    chosen = filters(request, "q", "tag", "collection", "status", "sort", "cursor")
    wanted = {
        "search": chosen["q"],
        "tags": tags_of(chosen["tag"]),
        "collectionId": chosen["collection"],
        "status": chosen["status"],
        "sort": chosen["sort"],
        "cursor": chosen["cursor"],
    }
    found, places = await asyncio.gather(
        call(request, operations.list_documents, limit=PAGE_SIZE, **filled(wanted)),
        call(request, collections.list_collections, limit=MAX_LIMIT),
    )
    return render(
        request,
        "documents.html",
        status,
        documents=found.data,
        after=found.pagination.cursor,
        chosen=chosen,
        kept=kept(chosen),
        orders=orders(chosen),
        states=STATES,
        collections=places.data,
        collection_choices=choices(places.data, "name", "Any collection"),
        error=error,
    )


async def bulk(request: Request) -> Response:
    """Do one thing with all that were ticked: put into a collection, tag, or move to the trash."""
    fields = await form(request)
    ids, action = ticked(fields), fields.get("action", "")
    if not ids:
        return await _listed(request, 400, "Tick the documents that you mean first.")
    try:
        refused = await _apply(request, action, ids, fields)
    except AppError as error:
        return await _listed(request, 400, error.message)
    if refused:
        return await _listed(request, 409, f"{len(refused)} of {len(ids)} stayed as they were: {refused[0]}")
    return redirect(_back(fields), BULK[action])


async def _apply(request: Request, action: str, ids: list[str], fields: dict[str, str]) -> list[str]:
    if action == "collect":
        to = fields.get("collection", "")
        await call(request, collections.add_items, collectionId=to, itemIds=ids, itemType=ItemType.DOCUMENT)
        return []
    if action == "tag":
        items: list[dict[str, Any]] = [
            item for one in ids if (item := await _tagged(request, one, fields.get("tag", ""))) is not None
        ]
    elif action == "delete":
        items = [{"op": "delete", "documentId": one} for one in ids]
    else:
        return ["choose what to do with them."]
    if not items:
        return []
    answer = await call(request, operations.batch_documents, items=items)
    return [told(item.error["reason"], item.error["message"]) for item in answer.data if item.error is not None]


async def _tagged(request: Request, document_id: str, tag: str) -> dict[str, Any] | None:
    """Say how a document gets one more tag; nothing where it has it."""
    found = (await call(request, operations.get_document, documentId=document_id)).data
    if tag.strip() in found.tags:
        return None
    tags = [*found.tags, tag.strip()]
    return {"op": "update", "documentId": document_id, "expectedRevision": found.revision, "tags": tags}


def _back(fields: dict[str, str]) -> str:
    return f"{PATH}?{fields['back']}" if fields.get("back") else PATH


async def new(request: Request) -> Response:
    """Write a new document."""
    chosen = filters(request, "collection")
    return await shown_editor(request, {"collection": chosen["collection"]})


async def create(request: Request) -> Response:
    """Keep a new document, once however often the form is sent; or show how it will look."""
    fields = await form(request, MAX_TEXT_BYTES)
    if fields.get("action") == "preview":
        return await shown_editor(request, fields, preview=True)
    text = fields.get("content", "").replace("\r\n", "\n")
    args = {"title": fields.get("title", "").strip(), "content": text, "tags": tags_of(fields.get("tags", ""))}
    try:
        made = await call(
            request,
            operations.create_document,
            once=fields.get("once"),
            **args,
            **filled({"collectionId": fields.get("collection", "")}),
        )
    except AppError as error:
        return await shown_editor(request, fields, error=error)
    return redirect(f"{PATH}/{made.data.id}")


async def document(request: Request) -> Response:
    """Show a document as a page, or as it is stored; with `asOf`, as it was at a revision or time."""
    return await _shown(request)


async def _shown(request: Request, status: int = 200, error: str = "") -> Response:
    raw = request.query_params.get("as") == "stored"
    here, asked = request.path_params["id"], filled(filters(request, "asOf"))
    found = (await call(request, operations.get_document, documentId=here)).data
    if asked:
        then = (await call(request, operations.get_document, documentId=here, **asked)).data
        if then.revision != found.revision:
            return await _past(request, then, found)
    more, html = await asyncio.gather(panels(request, "documents", found), _html(request, "" if raw else found.content))
    return render(
        request,
        "document.html",
        status,
        document=found,
        panels=more,
        raw=raw,
        html=None if raw else html,
        titled=begins_with(html or "", found.title),
        outline=_outline(html or "") if len(found.content) >= _OUTLINED else [],
        editable=len(found.content) <= MAX_TEXT,
        error=error,
    )


async def _past(request: Request, then: Document, now: Document) -> Response:
    html = await _html(request, then.content)
    titled = begins_with(html or "", then.title)
    return render(request, "document_past.html", document=then, now=now, html=html, titled=titled)


async def _html(request: Request, text: str) -> str | None:
    return await gate_of(request).get(Prose).html((await person(request)).workspace_id, text)


def _outline(html: str) -> list[tuple[int, Entry]]:
    """List the headings of the two upper levels with their depth, without one that stands above all others."""
    found = contents(html)
    if found and all(entry.level > found[0].level for entry in found[1:]):
        found = found[1:]
    top = min((entry.level for entry in found), default=0)
    listed = [(entry.level - top, entry) for entry in found if entry.level <= top + 1]
    return listed[:_MOST_HEADINGS] if len(listed) >= _FEWEST_HEADINGS else []


async def delete(request: Request) -> Response:
    """Move a document to the trash, unless it was changed since it was shown."""
    fields = await form(request)
    known = filled({"expectedRevision": fields.get("revision", "")})
    try:
        await call(request, operations.delete_document, documentId=request.path_params["id"], **known)
    except RevisionMismatch:
        return await _shown(request, 409, "It was changed meanwhile, so that it was not deleted. This is its text now.")
    except AppError as error:
        if error.reason not in ("LEASE_REQUIRED", "LEASE_LOST"):
            raise
        return await _shown(request, 409, error.message)
    return redirect(PATH, "trashed")


PAGES = [
    Page(PATH, documents),
    Page(f"{PATH}/bulk", bulk, ("POST",)),
    Page(f"{PATH}/new", new),
    Page(f"{PATH}/new", create, ("POST",)),
    Page(f"{PATH}/{{id}}/delete", delete, ("POST",)),
    *EDITING,
    *HISTORY,
    Page(f"{PATH}/{{id}}", document),
]
