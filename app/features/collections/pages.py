"""Pages of collections: the list, one collection with its members, and writing it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from app.edge.errors import status_of
from app.edge.web.forms import as_written, differing, filled, filters, kept, orders, tag_text, tags_of, ticked
from app.edge.web.page import Page, call, form, panels, person, redirect, render
from app.features.collections import operations
from app.features.collections.schemas import DEFAULT_ICON, ItemType
from app.kit.errors import AppError, InvalidRequest, RevisionMismatch

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.collections.schemas import ChangeItems, Collection
    from app.gate.operation import Operation

PATH: Final = "/dashboard/collections"
PAGE_SIZE: Final = 50
COLORS = ["#2f5d50", "#3366cc", "#8e44ad", "#b8433b", "#c77d0a", "#5b7f1d", "#0f7f8c", "#5c625f"]
"""Offered to begin with; any other can be chosen."""


async def collections(request: Request) -> Response:
    """List collections, narrowed by name or description and by tag."""
    return await _listed(request)


async def _listed(request: Request, status: int = 200, error: str = "") -> Response:
    chosen = filters(request, "q", "tag", "sort", "cursor")
    wanted = {"search": chosen["q"], "tags": tags_of(chosen["tag"]), "sort": chosen["sort"], "cursor": chosen["cursor"]}
    found = await call(request, operations.list_collections, limit=PAGE_SIZE, **filled(wanted))
    return render(
        request,
        "collections.html",
        status,
        collections=found.data,
        after=found.pagination.cursor,
        chosen=chosen,
        kept=kept(chosen),
        orders=orders(chosen),
        error=error,
    )


async def bulk(request: Request) -> Response:
    """Move the collections that were ticked to the trash."""
    fields = await form(request)
    ids = ticked(fields)
    if not ids or fields.get("action") != "delete":
        return await _listed(request, 400, "Tick the collections that you mean first.")
    for one in ids:
        await call(request, operations.delete_collection, collectionId=one)
    return redirect(f"{PATH}?{fields['back']}" if fields.get("back") else PATH, "trashed")


async def new(request: Request) -> Response:
    """Make a new collection."""
    return await _editor(request, {})


async def create(request: Request) -> Response:
    """Keep a new collection, once however often the form is sent."""
    fields = await form(request)
    try:
        made = await call(request, operations.create_collection, once=fields.get("once"), **_wanted(None, fields))
    except AppError as error:
        return await _editor(request, fields, error)
    return redirect(f"{PATH}/{made.data.id}")


async def collection(request: Request) -> Response:
    """Show a collection with its members."""
    return await _shown(request)


async def _shown(request: Request, status: int = 200, error: str = "") -> Response:
    here = request.path_params["id"]
    after = filters(request, "cursor")
    found, items = await asyncio.gather(
        call(request, operations.get_collection, collectionId=here),
        call(request, operations.list_items, collectionId=here, limit=PAGE_SIZE, **filled(after)),
    )
    return render(
        request,
        "collection.html",
        status,
        collection=found.data,
        items=items.data,
        after=items.pagination.cursor,
        first=bool(after["cursor"]),
        panels=await panels(request, "collections", found.data),
        error=error,
    )


async def remove(request: Request) -> Response:
    """Take the members that were ticked out of a collection; they stay themselves."""
    fields = await form(request)
    here = request.path_params["id"]
    chosen = [one.partition(".") for one in ticked(fields)]
    for kind in ItemType:
        if ids := [item for name, _, item in chosen if name == kind.value]:
            await call(request, operations.remove_items, collectionId=here, itemIds=ids, itemType=kind)
    if not chosen:
        return await _shown(request, 400, "Tick the members that you mean first.")
    return redirect(f"{PATH}/{here}", "removed")


async def edit(request: Request) -> Response:
    """Open a collection in a form."""
    found = (await call(request, operations.get_collection, collectionId=request.path_params["id"])).data
    return await _editor(request, _fields(found))


def _fields(found: Collection) -> dict[str, str]:
    return {
        "name": found.name,
        "description": found.description,
        "icon": found.icon,
        "color": found.color or "",
        "tags": tag_text(found.tags),
        "revision": str(found.revision),
    }


async def save(request: Request) -> Response:
    """Save what the form changed of a collection that is still as the form showed it."""
    fields = await form(request)
    here = request.path_params["id"]
    if not fields.get("revision", "").isdigit():
        raise InvalidRequest("The form cannot be read.")
    now = (await call(request, operations.get_collection, collectionId=here)).data
    wanted = _wanted(now, fields)
    state = {name: getattr(now, name) for name in wanted} | {"color": now.color or ""}
    changes = differing(state, wanted)
    try:
        if changes:
            expected = fields["revision"]
            await call(request, operations.update_collection, collectionId=here, expectedRevision=expected, **changes)
    except RevisionMismatch as error:
        draft = fields | {"revision": str(now.revision)}
        return await _editor(request, draft, error, now=now)
    except AppError as error:
        return await _editor(request, fields, error)
    return redirect(f"{PATH}/{here}", "saved" if changes else "unchanged")


def _wanted(now: Collection | None, fields: dict[str, str]) -> dict[str, Any]:
    color = fields.get("other", "") if fields.get("color") == "other" else fields.get("color", "")
    return {
        "name": fields.get("name", "").strip(),
        "description": as_written(now.description if now else "", fields.get("description", "")),
        "icon": fields.get("icon", "").strip() or DEFAULT_ICON,
        "color": color,
        "tags": tags_of(fields.get("tags", ""), now.tags if now else ()),
    }


async def _editor(
    request: Request, fields: dict[str, str], error: AppError | None = None, now: Collection | None = None
) -> Response:
    await person(request)
    blank = {"name": "", "description": "", "icon": DEFAULT_ICON, "color": "", "other": "", "tags": "", "once": ""}
    return render(
        request,
        "collection_edit.html",
        status_of(error) if error else 200,
        draft=blank | fields,
        is_new="revision" not in fields,
        colors=COLORS,
        now=now,
        error=error.message if error and now is None else "",
    )


async def delete(request: Request) -> Response:
    """Move a collection to the trash; its members stay."""
    fields = await form(request)
    known = filled({"expectedRevision": fields.get("revision", "")})
    try:
        await call(request, operations.delete_collection, collectionId=request.path_params["id"], **known)
    except RevisionMismatch:
        return await _shown(
            request, 409, "It was changed meanwhile, so that it was not deleted. This is how it is now."
        )
    return redirect(PATH, "trashed")


async def place(request: Request) -> Response:
    """Put an item into a collection, from its own page."""
    return await _held(request, operations.add_items, "added")


async def displace(request: Request) -> Response:
    """Take an item out of a collection, from its own page."""
    return await _held(request, operations.remove_items, "removed")


async def _held(request: Request, change: Operation[ChangeItems, Any], done: str) -> Response:
    fields = await form(request)
    kind, item_id = request.path_params["kind"], request.path_params["id"]
    await call(request, change, collectionId=fields.get("collection", ""), itemIds=[item_id], itemType=kind)
    return redirect(f"/dashboard/{kind}s/{item_id}", done)


PAGES = [
    Page(PATH, collections),
    Page(f"{PATH}/bulk", bulk, ("POST",)),
    Page(f"{PATH}/new", new),
    Page(f"{PATH}/new", create, ("POST",)),
    Page(f"{PATH}/{{id}}/edit", edit),
    Page(f"{PATH}/{{id}}/edit", save, ("POST",)),
    Page(f"{PATH}/{{id}}/remove", remove, ("POST",)),
    Page(f"{PATH}/{{id}}/delete", delete, ("POST",)),
    Page(f"{PATH}/of/{{kind}}/{{id}}/add", place, ("POST",)),
    Page(f"{PATH}/of/{{kind}}/{{id}}/remove", displace, ("POST",)),
    Page(f"{PATH}/{{id}}", collection),
]
