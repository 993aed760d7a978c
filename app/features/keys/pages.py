"""Pages of API keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from app.edge.web.forms import filled, ticked
from app.edge.web.page import Page, call, every, form, person, redirect, render, web_of
from app.features.collections import operations as collections
from app.features.collections.errors import CollectionNotFound
from app.features.keys import operations
from app.gate.policy import Scope
from app.kit.errors import AppError, InsufficientScope, InvalidRequest

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.collections.schemas import Collection

WORDS = {
    Scope.DOCUMENTS_READ: ("Read documents", "and collections, and search them"),
    Scope.DOCUMENTS_WRITE: ("Change documents", "create, edit, delete"),
    Scope.PROMPTS_READ: ("Read prompts", ""),
    Scope.PROMPTS_WRITE: ("Change prompts", "create, edit, delete"),
    Scope.WORKSPACE_READ: ("Read the workspace", "who changed what"),
    Scope.WORKSPACE_WRITE: ("Change the workspace", "nothing yet; kept for what agents share"),
}
LIVES = [("", "Never"), ("7", "In 7 days"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year")]
OVERLAPS = [("0", "End at once"), ("3600", "Works one more hour"), ("86400", "Works one more day")]
_PATH = "/dashboard/keys"
_MOST_COLLECTIONS = 50


async def keys(request: Request) -> Response:
    """List the keys, with a form for a new one."""
    return await _show(request)


async def _show(request: Request, status: int = 200, **more: Any) -> Response:
    found = await every(request, operations.list_keys)
    places = await _collections(request)
    allowed = request.scope["visitor"].role.scopes
    shown: dict[str, Any] = {
        "keys": found,
        "words": [(scope, *words) for scope, words in WORDS.items() if scope in allowed],
        "labels": {scope.value: label for scope, (label, _) in WORDS.items()},
        "lives": LIVES,
        "overlaps": OVERLAPS,
        "mcp_url": f"{web_of(request).url}/mcp",
        "collections": places,
        "names": {one.id: one.name for one in places},
        "within": [],
        "created": None,
        "rotated": False,
        "error": "",
        "name": "",
        "chosen": [Scope.DOCUMENTS_READ.value, Scope.PROMPTS_READ.value],
        "now": datetime.now(UTC),
    }
    return render(request, "keys.html", status, **(shown | more))


async def _collections(request: Request) -> list[Collection]:
    """List what a key can be restricted to; nothing without a plan."""
    who = await person(request)
    if who.plan is None:
        return []
    return (await call(request, collections.list_collections, limit=_MOST_COLLECTIONS)).data


async def create(request: Request) -> Response:
    """Create a key and show it, this once."""
    fields = await form(request)
    chosen = [scope.value for scope in Scope if f"scope.{scope.value}" in fields]
    within = ticked(fields, "collection.")
    days = fields.get("days", "")
    ends = datetime.now(UTC) + timedelta(days=int(days)) if days in dict(LIVES) and days else None
    try:
        made = await call(
            request,
            operations.create_key,
            name=fields.get("name", ""),
            scopes=chosen,
            expiresAt=ends,
            **filled({"collectionIds": within}),
        )
    except (InvalidRequest, InsufficientScope, CollectionNotFound) as error:
        said = _said(error, chosen)
        return await _show(request, 400, error=said, name=fields.get("name", ""), chosen=chosen, within=within)
    return await _show(request, created=made.data)


def _said(error: AppError, chosen: list[str]) -> str:
    if isinstance(error, InsufficientScope | CollectionNotFound):
        return error.message
    return "Give the key a name." if chosen else "Choose at least one thing that the key may do."


async def rotate(request: Request) -> Response:
    """Give a key a new secret and show it, this once."""
    fields = await form(request)
    overlap = fields.get("overlap", "3600")
    seconds = int(overlap) if overlap in dict(OVERLAPS) else 0
    made = await call(request, operations.rotate_key, keyId=request.path_params["id"], overlapSeconds=seconds)
    return await _show(request, created=made.data, rotated=True)


async def revoke(request: Request) -> Response:
    """End a key."""
    await form(request)
    await call(request, operations.revoke_key, keyId=request.path_params["id"])
    return redirect(_PATH)


PAGES = [
    Page(_PATH, keys),
    Page(_PATH, create, ("POST",)),
    Page(f"{_PATH}/{{id}}/rotate", rotate, ("POST",)),
    Page(f"{_PATH}/{{id}}/revoke", revoke, ("POST",)),
]
