"""Pages that add sample data and take it back, by the operations that everybody has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from app.edge.web.page import HOME, Page, call, every, form, redirect, render
from app.features.collections import operations as collections
from app.features.documents import operations as documents
from app.features.prompts import operations as prompts
from app.features.samples.service import COLLECTION, DOCUMENTS, PROMPTS, TAG

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.samples.service import Sample

PATH: Final = "/dashboard/samples"


async def add(request: Request) -> Response:
    """Add the sample data, once however often the form is sent."""
    once = (await form(request)).get("once") or "sample"
    made = (await call(request, collections.create_collection, once=f"{once}.c", **COLLECTION)).data
    place = str(made.id)
    for number, sample in enumerate(DOCUMENTS):
        await _add_document(request, f"{once}.d{number}", sample, place)
    for number, sample in enumerate(PROMPTS):
        fields = {"title": sample.title, "description": sample.description, "content": sample.content}
        key = f"{once}.p{number}"
        await call(request, prompts.create_prompt, once=key, **fields, tags=sample.tags, collectionId=place)
    return redirect(f"/dashboard/collections/{place}")


async def _add_document(request: Request, once: str, sample: Sample, place: str) -> None:
    first = sample.earlier or sample.content
    fields: dict[str, Any] = {"title": sample.title, "content": first, "tags": sample.tags, "collectionId": place}
    made = (await call(request, documents.create_document, once=once, **fields)).data
    if sample.earlier:
        change = {"content": sample.content, "changeLog": sample.change_log}
        key, named = f"{once}.v2", {"documentId": str(made.id), "expectedRevision": made.revision}
        await call(request, documents.update_document, once=key, **named, **change)


async def review(request: Request) -> Response:
    """Show what would go with the sample data."""
    found = await _found(request)
    return render(request, "samples.html", items=found, tag=TAG)


async def _found(request: Request) -> list[tuple[str, Any]]:
    return [
        *[("documents", one) for one in await every(request, documents.list_documents, tags=[TAG])],
        *[("prompts", one) for one in await every(request, prompts.list_prompts, tags=[TAG], includeArchived=True)],
        *[("collections", one) for one in await every(request, collections.list_collections, tags=[TAG])],
    ]


async def reset(request: Request) -> Response:
    """Move the sample data to the trash; an item that was changed since it was listed here stays."""
    fields = await form(request)
    for kind, item in await _found(request):
        if fields.get(f"item.{item.id}") != str(item.revision):
            continue
        known = {"expectedRevision": item.revision}
        if kind == "documents":
            await call(request, documents.delete_document, documentId=str(item.id), **known)
        elif kind == "prompts":
            await call(request, prompts.delete_prompt, promptId=str(item.id), **known)
        else:
            await call(request, collections.delete_collection, collectionId=str(item.id), **known)
    return redirect(HOME)


PAGES = [
    Page(PATH, review),
    Page(PATH, add, ("POST",)),
    Page(f"{PATH}/reset", reset, ("POST",)),
]
