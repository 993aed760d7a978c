"""Pages of prompts: the list, one prompt, and writing it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from app.edge.web.forms import BULK, choices, filled, filters, kept, orders, tags_of, ticked
from app.edge.web.page import Page, call, form, panels, redirect, render
from app.features.collections import operations as collections
from app.features.collections.schemas import ItemType
from app.features.prompts import operations
from app.features.prompts.editing import EDITING
from app.features.prompts.history import HISTORY
from app.kit.errors import AppError, RevisionMismatch
from app.kit.paging import MAX_LIMIT

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

PATH: Final = "/dashboard/prompts"
PAGE_SIZE: Final = 50
STATES = [("", "Not archived"), ("all", "Archived too")]


async def prompts(request: Request) -> Response:
    """List prompts, narrowed by text, tag and collection, with the archived ones if wanted."""
    return await _listed(request)


async def _listed(request: Request, status: int = 200, error: str = "") -> Response:
    chosen = filters(request, "q", "tag", "collection", "archived", "sort", "cursor")
    wanted = {
        "q": chosen["q"],
        "tags": tags_of(chosen["tag"]),
        "collectionId": chosen["collection"],
        "sort": chosen["sort"],
        "cursor": chosen["cursor"],
        "includeArchived": chosen["archived"] == "all" or None,
    }
    found, places = await asyncio.gather(
        call(request, operations.list_prompts, limit=PAGE_SIZE, **filled(wanted)),
        call(request, collections.list_collections, limit=MAX_LIMIT),
    )
    return render(
        request,
        "prompts.html",
        status,
        prompts=found.data,
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
        return await _listed(request, 400, "Tick the prompts that you mean first.")
    done = 0
    try:
        if action == "collect":
            to = fields.get("collection", "")
            await call(request, collections.add_items, collectionId=to, itemIds=ids, itemType=ItemType.PROMPT)
        else:
            for one in ids:
                await _apply(request, one, fields)
                done += 1
    except AppError as error:
        return await _listed(request, 409, f"{done} of {len(ids)} were done. {error.message}")
    return redirect(f"{PATH}?{fields['back']}" if fields.get("back") else PATH, BULK.get(action, ""))


async def _apply(request: Request, prompt_id: str, fields: dict[str, str]) -> None:
    if fields.get("action") == "delete":
        await call(request, operations.delete_prompt, promptId=prompt_id)
        return
    found = (await call(request, operations.get_prompt, promptId=prompt_id)).data
    tag = fields.get("tag", "").strip()
    if tag not in found.tags:
        tags = [*found.tags, tag]
        await call(request, operations.update_prompt, promptId=prompt_id, expectedRevision=found.revision, tags=tags)


async def prompt(request: Request) -> Response:
    """Show a prompt with its variables and labels."""
    return await _shown(request)


async def _shown(request: Request, status: int = 200, error: str = "") -> Response:
    here = request.path_params["id"]
    asked = filled(filters(request, "label"))
    found, labels = await asyncio.gather(
        call(request, operations.get_prompt, promptId=here, **asked),
        call(request, operations.list_labels, promptId=here),
    )
    more = await panels(request, "prompts", found.data)
    return render(request, "prompt.html", status, prompt=found.data, labels=labels.data, panels=more, error=error)


async def delete(request: Request) -> Response:
    """Move a prompt to the trash, unless it was changed since it was shown."""
    fields = await form(request)
    known = filled({"expectedRevision": fields.get("revision", "")})
    try:
        await call(request, operations.delete_prompt, promptId=request.path_params["id"], **known)
    except RevisionMismatch:
        return await _shown(
            request, 409, "It was changed meanwhile, so that it was not deleted. This is how it is now."
        )
    return redirect(PATH, "trashed")


async def archive(request: Request) -> Response:
    """Take a prompt out of the lists, or put it back."""
    fields = await form(request)
    here = request.path_params["id"]
    await call(request, operations.update_prompt, promptId=here, isArchived=fields.get("archived") == "yes")
    return redirect(f"{PATH}/{here}", "saved")


PAGES = [
    Page(PATH, prompts),
    Page(f"{PATH}/bulk", bulk, ("POST",)),
    *EDITING,
    Page(f"{PATH}/{{id}}/delete", delete, ("POST",)),
    Page(f"{PATH}/{{id}}/archive", archive, ("POST",)),
    *HISTORY,
    Page(f"{PATH}/{{id}}", prompt),
]
