"""The editor of documents: what it shows, how it saves, and what happens when somebody else wrote meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.edge.errors import status_of
from app.edge.web.diffs import columns
from app.edge.web.forms import MAX_TEXT_BYTES, as_written, choices, differing, tag_text, tags_of
from app.edge.web.page import Page, call, form, gate_of, person, redirect, render
from app.features.collections import operations as collections
from app.features.documents import operations
from app.features.documents.errors import RevisionNotFound
from app.gate.prose import Prose
from app.kit.errors import AppError, InvalidRequest, RevisionMismatch
from app.kit.paging import MAX_LIMIT

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.documents.schemas import Document

_PATH: Final = "/dashboard/documents"


async def shown_editor(
    request: Request, fields: dict[str, str], error: AppError | None = None, *, preview: bool = False
) -> Response:
    """Show the editor with what was written so far; without `revision` it is of a new document."""
    who = await person(request)
    places = [] if "revision" in fields else (await call(request, collections.list_collections, limit=MAX_LIMIT)).data
    text = fields.get("content", "").replace("\r\n", "\n")
    html = await gate_of(request).get(Prose).html(who.workspace_id, text) if preview else None
    return render(
        request,
        "document_edit.html",
        status_of(error) if error else 200,
        draft={"title": "", "tags": "", "change_log": "", "collection": "", "once": ""} | fields | {"content": text},
        is_new="revision" not in fields,
        html=html,
        previewed=preview,
        collections=choices(places, "name", "No collection"),
        error=error.message if error else "",
    )


async def edit(request: Request) -> Response:
    """Open a document in the editor, unless only programs write it."""
    found = (await call(request, operations.get_document, documentId=request.path_params["id"])).data
    if found.policy != "standard":
        return redirect(f"{_PATH}/{found.id}")
    return await shown_editor(request, _fields(found), preview=True)


def _fields(found: Document) -> dict[str, str]:
    return {
        "title": found.title,
        "content": found.content,
        "tags": tag_text(found.tags),
        "revision": str(found.revision),
    }


async def save(request: Request) -> Response:
    """Save what the form changed, on the revision that it was shown with; or show how it will look."""
    fields = await form(request, MAX_TEXT_BYTES)
    here = request.path_params["id"]
    fields.setdefault("revision", "")
    if fields.get("action") == "preview":
        return await shown_editor(request, fields, preview=True)
    if not fields["revision"].isdigit():
        raise InvalidRequest("The form cannot be read.")
    base = await _base(request, here, fields["revision"])
    changes = differing(_state(base), _wanted(base, fields))
    if not changes:
        return redirect(f"{_PATH}/{here}", "unchanged")
    log = {"changeLog": fields["change_log"]} if fields.get("change_log") else {}
    try:
        await call(
            request, operations.update_document, documentId=here, expectedRevision=fields["revision"], **changes, **log
        )
    except RevisionMismatch as error:
        return await _conflict(request, fields, base, error)
    except AppError as error:
        return await shown_editor(request, fields, error)
    return redirect(f"{_PATH}/{here}", "saved")


async def _base(request: Request, document_id: str, revision: str) -> Document | None:
    """Read the revision that the editor showed; None where it was not kept."""
    try:
        return (await call(request, operations.get_document, documentId=document_id, asOf=revision)).data
    except RevisionNotFound:
        return None


def _state(base: Document | None) -> dict[str, Any] | None:
    return None if base is None else {"title": base.title, "content": base.content, "tags": base.tags}


def _wanted(base: Document | None, fields: dict[str, str]) -> dict[str, Any]:
    return {
        "title": fields.get("title", "").strip(),
        "content": as_written(base.content if base else "", fields.get("content", "")),
        "tags": tags_of(fields.get("tags", ""), base.tags if base else ()),
    }


async def _conflict(
    request: Request, fields: dict[str, str], base: Document | None, refusal: RevisionMismatch
) -> Response:
    """Show what was written meanwhile, keep the draft, and offer both changes in one text where they fit."""
    now = (await call(request, operations.get_document, documentId=request.path_params["id"])).data
    wanted, before = _wanted(base, fields), _state(base)
    details: dict[str, Any] = refusal.details
    mine = wanted if before is None else {name: wanted[name] for name in wanted if wanted[name] != before[name]}
    same_revision = details.get("currentRevision") == now.revision
    merged = details.get("merged") if same_revision else None
    if "content" not in mine and before is not None:
        merged = now.content
    return render(
        request,
        "document_conflict.html",
        409,
        document=now,
        draft=wanted,
        title=mine.get("title", now.title),
        tags=tag_text(mine.get("tags", now.tags)),
        merged=merged,
        overlaps=details.get("overlaps", []),
        theirs=columns(details.get("theirs", "")) if details.get("theirs") else None,
        yours=columns(details.get("yours", "")) if details.get("yours") else None,
        base_revision=fields["revision"],
        change_log=fields.get("change_log", ""),
    )


EDITING = [
    Page(f"{_PATH}/{{id}}/edit", edit),
    Page(f"{_PATH}/{{id}}/edit", save, ("POST",)),
]
