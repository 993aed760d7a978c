"""Pages about the service for people: Markdown of ours as HTML, in the look of all pages, for everybody."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from app.edge.rest.openapi import CONTENT_SIGNAL
from app.edge.revalidation import revalidated
from app.edge.web.page import HOME, redirect, render, visitor
from app.kit.markdown.html import own_html

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from app.edge.discovery.facts import Facts

_rendered = functools.lru_cache(100)(own_html)
_OPEN = {
    "cache-control": "public, max-age=300",
    "content-signal": CONTENT_SIGNAL,
    "access-control-allow-origin": "*",
}
"""Pages about the service are the same for everybody who is not signed in, and pages of every origin may read them."""
_OWN = {"cache-control": "private, no-cache", "content-signal": CONTENT_SIGNAL}
"""With the head of the dashboard they are one person's."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page with its twin in Markdown; `text` names its template, unless a feature serves both."""

    path: str
    twin: str
    title: str
    about: str
    text: str


PAGES = [
    SitePage("/", "/index.md", "Prompts and documents for agents", "the start page", "index.md"),
    SitePage("/pricing", "/pricing.md", "Plans and limits", "plans and limits", "pricing.md"),
    SitePage("/about", "/about.md", "About", "who runs this service", "about.md"),
    SitePage("/chatgpt-app", "/chatgpt-app.md", "ChatGPT App", "the ChatGPT App", "chatgpt-app.md"),
    SitePage("/mcp-server", "/mcp-server.md", "MCP server", "the MCP server", "mcp-server.md"),
    SitePage("/status", "/status.md", "Status", "whether the service can serve just now", ""),
]


def respond(page: SitePage) -> Callable[[Request], Awaitable[Response]]:
    """Make what answers with a page; the start page leads people who are signed in to their dashboard."""

    async def answer(request: Request) -> Response:
        from app.edge.discovery.site import page_text

        if page.path == "/" and await visitor(request) is not None:
            return redirect(HOME)
        facts: Facts = request.app.state.facts
        response = await public(request, page.title, page_text(page.text, facts), page.twin)
        if page.path == "/":  # it is another one for whoever is signed in, also in a browser that kept this one
            response.headers["cache-control"] = _OWN["cache-control"]
        return response

    return answer


async def public(request: Request, title: str, markdown: str, twin: str, *, status: int = 200, **more: Any) -> Response:
    """Show a text of ours as a page that caches may keep; with the dashboard's head for whoever is signed in, alone."""
    who = await visitor(request)
    html = Markup(_rendered(markdown))  # noqa: S704  rendered from our own text, in which HTML is text
    facts: Facts = request.app.state.facts
    shown: dict[str, Any] = {"title": title, "html": html, "twin": twin, "facts": facts, "template": "public.html"}
    shown |= more
    response = render(request, shown.pop("template"), status, **shown)
    response.headers.update((_OPEN if who is None else _OWN) | {"vary": "cookie"})
    return revalidated(request, response)
