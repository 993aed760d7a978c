"""Every path that agents and crawlers look for: one table, from which routes, lists of them, and their tests come."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import pydantic_core
from starlette.responses import Response
from starlette.routing import Route

from app.edge.asgi import header
from app.edge.discovery import cards
from app.edge.discovery.pages import PAGES, respond
from app.edge.discovery.wording import text
from app.edge.rest.openapi import CONTENT_SIGNAL
from app.edge.revalidation import revalidated
from app.edge.web import static
from app.gate.policy import MEANINGS

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.edge.discovery.facts import Facts

MARKDOWN = "text/markdown; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"
JSON = "application/json"
LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
DIRECTORY = "application/http-message-signatures-directory+json"


@dataclass(frozen=True, slots=True)
class Published:
    """A path with its media type, what it is in a few words, and what makes its body of the facts."""

    path: str
    media_type: str
    about: str
    body: Callable[[Facts], bytes]
    link: str = ""


def _json(make: Callable[[Facts], Any]) -> Callable[[Facts], bytes]:
    return lambda facts: pydantic_core.to_json(make(facts))


def _text(name: str) -> Callable[[Facts], bytes]:
    return lambda facts: page_text(name, facts).encode()


def page_text(name: str, facts: Facts) -> str:
    """Fill in a text of the site, which may name the others."""
    served = [item for item in SURFACES if facts.issuer == facts.url or item.path != _OWN_ISSUER]
    more: dict[str, Any] = {"signal": CONTENT_SIGNAL, "meanings": MEANINGS, "published": served}
    if name == "llms-full.txt":
        rest = [face for face in facts.faces if not face.core]
        more |= {"agents": page_text("agents.md", facts), "rest": rest, "schema": _schema}
    return text(name, facts, **more)


def _schema(tool: Any) -> str:
    return json.dumps(tool.input_schema, indent=2, ensure_ascii=False)


def _sitemap(facts: Facts) -> bytes:
    paths = [page.path for page in PAGES] + ["/docs", *(guide.path for guide in facts.guides)]
    urls = "".join(f"<url><loc>{escape(facts.url + path)}</loc></url>" for path in dict.fromkeys(paths))
    start = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return f"{start}{urls}</urlset>\n".encode()


_CARD = functools.partial(cards.mcp_card, with_tools=True)
PUBLISHED = [
    Published("/AGENTS.md", MARKDOWN, "how agents use this service", _text("agents.md")),
    Published("/llms.txt", PLAIN, "a short index for language models (llmstxt.org)", _text("llms.txt")),
    Published("/llms-full.txt", PLAIN, "the same with all operations and tools", _text("llms-full.txt")),
    Published("/agent.json", JSON, "Agent Web Protocol 0.2 manifest", _json(cards.agent_web_protocol)),
    Published("/.well-known/agent.json", JSON, "OpenAI plugin manifest", _json(cards.plugin)),
    Published("/.well-known/ai-plugin.json", JSON, "OpenAI plugin manifest, by its other name", _json(cards.plugin)),
    Published("/.well-known/agent-card.json", JSON, "A2A agent card", _json(cards.agent_card)),
    Published(
        "/.well-known/mcp.json",
        JSON,
        "MCP server card (SEP-1649)",
        _json(functools.partial(cards.mcp_card, with_tools=False)),
    ),
    Published("/.well-known/mcp/server-card.json", JSON, "MCP server card with every tool", _json(_CARD)),
    Published("/mcp/server-card", cards.SERVER_CARD, "MCP server card (SEP-2127)", _json(cards.registry_card)),
    Published("/.well-known/mcp/server-card", cards.SERVER_CARD, "the same card", _json(cards.registry_card)),
    Published("/.well-known/ai-catalog.json", JSON, "catalogue of these cards", _json(cards.ai_catalog)),
    Published(
        "/.well-known/api-catalog",
        LINKSET,
        "API catalogue (RFC 9727)",
        _json(cards.api_catalog),
        link='</.well-known/api-catalog>; rel="api-catalog"',
    ),
    Published(
        "/.well-known/http-message-signatures-directory",
        DIRECTORY,
        "keys of Web Bot Auth (RFC 9421): none, since this service fetches unsigned",
        _json(lambda facts: {"keys": []}),  # noqa: ARG005
    ),
    Published("/robots.txt", PLAIN, "rules for crawlers, with content signals", _text("robots.txt")),
    Published("/sitemap.xml", "application/xml", "all public pages", _sitemap),
    Published("/icon.svg", "image/svg+xml", "the icon", lambda facts: static.body("icon.svg")),  # noqa: ARG005
]


_OWN_ISSUER = "/.well-known/oauth-authorization-server"


@dataclass(frozen=True, slots=True)
class Surface:
    """A path that is served elsewhere, for lists of all of them."""

    path: str
    about: str


SURFACES = [
    *(Surface(item.path, item.about) for item in PUBLISHED if item.path not in ("/icon.svg", "/sitemap.xml")),
    *(Surface(page.twin, f"{page.about}, as Markdown") for page in PAGES),
    Surface("/agent", "what an agent can do here, as JSON or Markdown by `Accept`"),
    Surface("/docs/llms.txt", "index of the handbook; each page is its address plus `.md`"),
    Surface("/docs/llms-full.txt", "the whole handbook as Markdown"),
    Surface(
        "/docs-mcp", "MCP endpoint of the handbook: `search_docs`, `read_docs_page`, `list_docs_pages`; no sign-in"
    ),
    Surface("/openapi.json", "OpenAPI 3.1 of the core"),
    Surface("/api/openapi.yaml", "the same as YAML"),
    Surface("/openapi/full.json", "OpenAPI 3.1 of all operations"),
    Surface(_OWN_ISSUER, "authorization server metadata (RFC 8414)"),
    Surface("/.well-known/oauth-protected-resource", "resource metadata of `/mcp` (RFC 9728)"),
    Surface("/.well-known/oauth-protected-resource/v1", "of the REST API"),
    Surface("/.well-known/oauth-protected-resource/mcp", "of `/mcp`"),
    Surface("/.well-known/oauth-protected-resource/grok-mcp", "of `/grok-mcp`"),
    Surface("/.well-known/oauth-protected-resource/mcp/all", "of `/mcp/all`"),
]


def fixed(request: Request, body: bytes, media_type: str, link: str = "") -> Response:
    """Answer with what is the same for everybody until the service is updated."""
    headers = {"cache-control": "public, max-age=300", "content-signal": CONTENT_SIGNAL, "content-type": media_type}
    if link:
        headers["link"] = link
    return revalidated(request, Response(body, headers=headers))


def routes(facts: Facts) -> list[Route]:
    """Serve all of them, and the pages about the service."""
    twins = [Published(page.twin, MARKDOWN, page.about, _text(page.text)) for page in PAGES if page.text]
    made = [Route(item.path, _serving(item, facts), methods=["GET"]) for item in (*PUBLISHED, *twins)]
    made += [Route(page.path, respond(page), methods=["GET"]) for page in PAGES if page.text]
    return [*made, Route("/agent", _agent(facts), methods=["GET"])]


def _serving(item: Published, facts: Facts) -> Callable[[Request], Any]:
    body = functools.cache(lambda: item.body(facts))

    async def answer(request: Request) -> Response:
        return fixed(request, body(), item.media_type, item.link)

    return answer


def _agent(facts: Facts) -> Callable[[Request], Any]:
    as_json, as_text = facts.capabilities.to_json(), functools.cache(lambda: page_text("agent.md", facts).encode())

    async def answer(request: Request) -> Response:
        """Choose by `Accept`: JSON unless Markdown or plain text is asked for."""
        accepted = header(request.scope, b"accept") or ""
        wants_text = "json" not in accepted and ("text/markdown" in accepted or "text/plain" in accepted)
        body, media_type = (as_text(), MARKDOWN) if wants_text else (as_json, JSON)
        response = fixed(request, body, media_type)
        response.headers["vary"] = "accept"
        return response

    return answer
