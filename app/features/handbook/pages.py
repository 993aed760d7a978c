"""The handbook as pages for people, and the Markdown of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.edge.discovery.pages import public
from app.edge.discovery.site import MARKDOWN, PLAIN, fixed
from app.edge.web.page import Page
from app.features.handbook.guides import ROOT
from app.kit.errors import NotFound

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from app.features.handbook.book import Book, Leaf

_WHY = "texts of ours, the same for everybody"


def book_of(request: Request) -> Book:
    """Give the handbook of this process."""
    book: Book = request.app.state.book
    return book


async def start(request: Request) -> Response:
    """Show what there is."""
    book = book_of(request)
    return await public(request, "Handbook", book.index, f"{ROOT}.md", template="handbook.html", shelf=book.shelf)


async def page(request: Request) -> Response:
    """Show a page."""
    book, leaf = book_of(request), _leaf(request)
    twin = f"{leaf.guide.path}.md"
    return await public(request, leaf.guide.title, leaf.markdown, twin, template="handbook.html", shelf=book.shelf)


async def index(request: Request) -> Response:
    """Give the start page as Markdown."""
    return fixed(request, book_of(request).index.encode(), MARKDOWN)


async def markdown(request: Request) -> Response:
    """Give a page as Markdown."""
    return fixed(request, _leaf(request).markdown.encode(), MARKDOWN)


async def llms(request: Request) -> Response:
    """Give the index for language models."""
    return fixed(request, book_of(request).llms.encode(), PLAIN)


async def llms_full(request: Request) -> Response:
    """Give all pages as one text."""
    return fixed(request, book_of(request).llms_full.encode(), PLAIN)


def _leaf(request: Request) -> Leaf:
    found = book_of(request).leaves.get(request.path_params["name"])
    if found is None:
        raise NotFound(f"The handbook has no such page; {ROOT} lists them.")
    return found


PAGES = [
    Page(path, answer, why=_WHY, open=True)
    for path, answer in (
        (ROOT, start),
        (f"{ROOT}.md", index),
        (f"{ROOT}/llms.txt", llms),
        (f"{ROOT}/llms-full.txt", llms_full),
        (f"{ROOT}/{{name}}.md", markdown),
        (f"{ROOT}/{{name}}", page),
    )
]
