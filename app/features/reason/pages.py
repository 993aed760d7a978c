"""Pages of answers: a question with its cited answer, and a citation opened in its document."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from app.edge.errors import status_of
from app.edge.web.forms import choices, filled, filters
from app.edge.web.page import Page, call, form, gate_of, person, redirect, render
from app.features.collections import operations as collections
from app.features.documents import operations as documents
from app.features.reason import operations
from app.features.reason.citations import said_as
from app.features.reason.kept import KeptAnswers
from app.features.reason.schemas import Answer
from app.features.search.schemas import MAX_QUERY
from app.gate.prose import Prose
from app.kit.errors import AppError, NotFound
from app.kit.markdown.html import QUOTED_ID
from app.kit.paging import MAX_LIMIT
from app.kit.schema import Model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.reason.schemas import Citation

PATH: Final = "/dashboard/ask"
FIELDS: Final = ("q", "collection", "document")
_MARK = re.compile(r"[ \t]*\[\[([0-9a-f-]{36})\]\]")
_BULLET: Final = "- "


class _Kept(Model):
    """What is kept of an answer: all that its page shows."""

    asked: dict[str, str]
    answer: Answer


class _Forgotten(NotFound):
    """The answer was given more than an hour ago, or to another session."""

    def __init__(self) -> None:
        super().__init__("This answer is kept no longer: an answer stays for an hour. Ask again.")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an answer: whether it is an item of a list, and its pieces, each a text or the number of a citation."""

    is_item: bool
    pieces: list[str | int]


async def ask(request: Request) -> Response:
    """Offer to ask a question of everything, of a collection, or of a document; or show an answer that is kept."""
    asked = filters(request, *FIELDS, "answer")
    token = asked.pop("answer")
    if not token:
        return await _shown(request, asked)
    found = await gate_of(request).get(KeptAnswers).find(await person(request), token)
    if found is None:
        return await _shown(request, asked, error=_Forgotten())
    kept = _Kept.model_validate_json(found)
    return await _shown(request, kept.asked, kept.answer)


async def answer(request: Request) -> Response:
    """Answer a question from stored text, at an address of its own, so that the browser finds it again."""
    fields = await form(request)
    asked = {name: fields.get(name, "").strip() for name in FIELDS}
    scope = filled({"collectionId": asked["collection"], "documentId": asked["document"]})
    try:
        found = (await call(request, operations.reason, query=asked["q"][:MAX_QUERY], **scope)).data
    except AppError as error:
        return await _shown(request, asked, error=error)
    kept = _Kept(asked=asked, answer=found).model_dump_json(by_alias=True).encode()
    token = await gate_of(request).get(KeptAnswers).keep(await person(request), kept)
    return redirect(f"{PATH}?answer={token}") if token else await _shown(request, asked, found)


async def _shown(
    request: Request, asked: Mapping[str, str], found: Answer | None = None, error: AppError | None = None
) -> Response:
    places, some = await asyncio.gather(
        call(request, collections.list_collections, limit=MAX_LIMIT),
        call(request, documents.list_documents, limit=1),
    )
    document = None
    if asked["document"] and error is None:
        document = (await call(request, documents.get_document, documentId=asked["document"])).data
    return render(
        request,
        "ask.html",
        status_of(error) if error else 200,
        asked=asked,
        document=document,
        collections=choices(places.data, "name", "Everything"),
        has_documents=bool(some.data),
        answer=found,
        lines=_lines(found.answer, found.citations) if found else [],
        longest=MAX_QUERY,
        quoted_id=QUOTED_ID,
        error=error.message if error else "",
    )


def _lines(text: str, citations: Sequence[Citation]) -> list[Line]:
    """Cut an answer at its lines and marks; a mark becomes the number of its citation, counted from 1."""
    found = []
    for line in filter(str.strip, text.splitlines()):
        parts = _MARK.split(line.removeprefix(_BULLET))
        pieces: list[str | int] = []
        for said, chunk in zip(parts[::2], [*parts[1::2], ""], strict=True):
            pieces += [said, *_numbers(chunk, line, citations)]
        found.append(Line(line.startswith(_BULLET), [piece for piece in pieces if piece]))
    return found


def _numbers(chunk: str, line: str, citations: Sequence[Citation]) -> list[int]:
    """Give the number of a passage's citation: of several, the one whose quote stands in the line."""
    of_chunk = [(number, one) for number, one in enumerate(citations, 1) if str(one.chunk_id) == chunk]
    quoted = [number for number, one in of_chunk if said_as(one.quote) in line]
    return (quoted or [number for number, _ in of_chunk])[:1]


async def citation(request: Request) -> Response:
    """Open a document at a quoted passage: as it is now, or, where it no longer says this, as it was cited."""
    cited = (await call(request, operations.open_citation, citationId=request.path_params["id"])).data
    place = cited.current or cited
    shown = await call(request, documents.get_document, documentId=str(cited.document_id), asOf=str(place.revision))
    text, span = shown.data.content, (place.start_index, place.end_index)
    html = await gate_of(request).get(Prose).html((await person(request)).workspace_id, text, span)
    pieces = (text[: span[0]], text[slice(*span)], text[span[1] :])
    shown_here: dict[str, Any] = {"cited": cited, "document": shown.data, "html": html, "pieces": pieces}
    return render(request, "citation.html", **shown_here, quoted_id=QUOTED_ID)


PAGES = [
    Page(PATH, ask),
    Page(PATH, answer, ("POST",)),
    Page("/dashboard/citations/{id}", citation),
]
