"""The editor of prompts: text and variables, and what happens when somebody else wrote meanwhile."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from app.edge.errors import status_of
from app.edge.web.diffs import columns
from app.edge.web.forms import MAX_TEXT_BYTES, as_written, choices, differing, filled, filters, tag_text, tags_of
from app.edge.web.page import Page, call, form, person, redirect, render
from app.features.collections import operations as collections
from app.features.documents.service import beside
from app.features.prompts import operations
from app.features.prompts.schemas import MAX_VARIABLES, Prompt, VariableType
from app.features.prompts.service import names_in
from app.kit import diff
from app.kit.errors import AppError, InvalidRequest, RevisionMismatch
from app.kit.paging import MAX_LIMIT

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_PATH: Final = "/dashboard/prompts"
_SPARE: Final = 3
_MOST_FIELDS: Final = 3 * (MAX_VARIABLES + _SPARE) + 20
_MOST_SHOWN: Final = 20_000
_BLANK: Final = dict.fromkeys(
    ("title", "description", "tags", "change_log", "collection", "shown", "version", "once"), ""
)

Variables = list[dict[str, str]]


async def new(request: Request) -> Response:
    """Write a new prompt."""
    return await _editor(request, filters(request, "collection"), [])


async def create(request: Request) -> Response:
    """Keep a new prompt, once however often the form is sent; or show the variables of its text."""
    fields = await form(request, MAX_TEXT_BYTES, _MOST_FIELDS)
    text = fields.get("content", "").replace("\r\n", "\n")
    written = _written(fields)
    if fields.get("action") == "preview":
        return await _editor(request, fields, written or [_row(name) for name in names_in(text)])
    args = {
        "title": fields.get("title", "").strip(),
        "description": fields.get("description", "").replace("\r\n", "\n"),
        "content": text,
        "tags": tags_of(fields.get("tags", "")),
    }
    chosen = filled({"collectionId": fields.get("collection", ""), "variables": _declared(written)})
    try:
        made = await call(request, operations.create_prompt, once=fields.get("once"), **args, **chosen)
    except AppError as error:
        return await _editor(request, fields, written, error)
    return redirect(f"{_PATH}/{made.data.id}")


async def edit(request: Request) -> Response:
    """Open a prompt in the editor."""
    found = (await call(request, operations.get_prompt, promptId=request.path_params["id"])).data
    fields = {
        "title": found.title,
        "description": found.description,
        "content": found.content,
        "tags": tag_text(found.tags),
        "revision": str(found.revision),
        "version": str(found.version_id),
        "shown": _digest(_rows(found)),
    }
    return await _editor(request, fields, _rows(found))


async def save(request: Request) -> Response:
    """Save what the form changed, on the revision that it was shown with."""
    fields = await form(request, MAX_TEXT_BYTES, _MOST_FIELDS)
    here = request.path_params["id"]
    fields.setdefault("revision", "")
    written = _written(fields)
    if fields.get("action") == "preview":
        return await _editor(request, fields, _with_new(written, fields.get("content", "")))
    if not fields["revision"].isdigit():
        raise InvalidRequest("The form cannot be read.")
    now = (await call(request, operations.get_prompt, promptId=here)).data
    changes = _changes(now, fields, written)
    if str(now.revision) != fields["revision"]:
        return await _conflict(request, fields, written, now)
    if not changes:
        return redirect(f"{_PATH}/{here}", "unchanged")
    log = filled({"changeLog": fields.get("change_log", "")})
    try:
        await call(request, operations.update_prompt, promptId=here, expectedRevision=now.revision, **changes, **log)
    except RevisionMismatch:
        now = (await call(request, operations.get_prompt, promptId=here)).data
        return await _conflict(request, fields, written, now)
    except AppError as error:
        return await _editor(request, fields, written, error)
    return redirect(f"{_PATH}/{here}", "saved")


def _changes(now: Prompt, fields: dict[str, str], written: Variables) -> dict[str, Any]:
    """Tell what the form changed of a prompt that is as the form showed it."""
    wanted = {
        "title": fields.get("title", "").strip(),
        "description": as_written(now.description, fields.get("description", "")),
        "content": as_written(now.content, fields.get("content", "")),
        "tags": tags_of(fields.get("tags", ""), now.tags),
    }
    changes = differing({name: getattr(now, name) for name in wanted}, wanted)
    if fields.get("shown") != _digest(written):
        changes["variables"] = _declared(written)
    return changes


async def _editor(
    request: Request, fields: dict[str, str], written: Variables, error: AppError | None = None
) -> Response:
    is_new = "revision" not in fields
    places = (await call(request, collections.list_collections, limit=MAX_LIMIT)).data if is_new else []
    await person(request)
    text = fields.get("content", "").replace("\r\n", "\n")
    return render(
        request,
        "prompt_edit.html",
        status_of(error) if error else 200,
        draft=_BLANK | fields | {"content": text},
        is_new=is_new,
        variables=[*written, *({"name": "", "type": "string", "description": ""} for _ in range(_SPARE))],
        types=[(kind.value, kind.value) for kind in VariableType],
        collections=choices(places, "name", "No collection"),
        error=error.message if error else "",
    )


async def _conflict(request: Request, fields: dict[str, str], written: Variables, now: Prompt) -> Response:
    """Show what was written meanwhile, keep the draft, and offer both texts in one where they fit."""
    base = await _base_text(request, fields.get("version", ""), now)
    mine = as_written(now.content if base is None else base, fields.get("content", ""))
    found: dict[str, Any] = {"theirs": None, "yours": None, "merged": None}
    if base is not None:
        size = len(base) + len(mine) + len(now.content)
        found = await beside(size, _compared, base, mine, now.content)
    return render(
        request,
        "prompt_conflict.html",
        409,
        prompt=now,
        draft=_BLANK | fields | {"content": mine},
        variables=written,
        shown=fields.get("shown", ""),
        **found,
    )


async def _base_text(request: Request, version_id: str, now: Prompt) -> str | None:
    if version_id == str(now.version_id):
        return now.content
    page = await call(request, operations.list_prompt_versions, promptId=str(now.id))
    return next((version.content for version in page.data if str(version.id) == version_id), None)


def _compared(base: str, mine: str, theirs: str) -> dict[str, Any]:
    lines = [diff.lines_of(text) for text in (base, mine, theirs)]
    return {
        "theirs": columns(diff.unified_text(lines[0], lines[2], _MOST_SHOWN)),
        "yours": columns(diff.unified_text(lines[0], lines[1], _MOST_SHOWN)),
        "merged": diff.merge(*lines).text,
    }


def _rows(found: Prompt) -> Variables:
    return [{"name": one.name, "type": one.type.value, "description": one.description or ""} for one in found.variables]


def _row(name: str) -> dict[str, str]:
    return {"name": name, "type": "string", "description": ""}


def _written(fields: dict[str, str]) -> Variables:
    """Read the rows of variables that have a name."""
    rows = [
        {part: fields.get(f"var.{number}.{part}", "").strip() for part in ("name", "type", "description")}
        for number in range(MAX_VARIABLES + _SPARE)
    ]
    return [row for row in rows if row["name"]]


def _with_new(written: Variables, text: str) -> Variables:
    """Add the variables that the text names and the rows do not."""
    known = {row["name"] for row in written}
    return [*written, *(_row(name) for name in names_in(text) if name not in known)][:MAX_VARIABLES]


def _declared(written: Variables) -> list[dict[str, str]]:
    return [filled(row) for row in written]


def _digest(rows: Variables) -> str:
    """Make the mark by which the form tells whether its rows were changed."""
    text = "\n".join(f"{row['name']}\t{row['type']}\t{row['description']}" for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()


EDITING = [
    Page(f"{_PATH}/new", new),
    Page(f"{_PATH}/new", create, ("POST",)),
    Page(f"{_PATH}/{{id}}/edit", edit),
    Page(f"{_PATH}/{{id}}/edit", save, ("POST",)),
]
