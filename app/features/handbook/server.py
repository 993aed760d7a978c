"""`/docs-mcp`: the handbook for MCP clients, without sign-in; nothing here reads what anybody stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.shared.exceptions import MCPError
from starlette.routing import Route

from app import version
from app.edge.discovery.protected_resource import protected_resource
from app.edge.mcp.endpoint import Endpoint
from app.edge.mcp.guard import Guard
from app.edge.mcp.listening import QuietServer, acknowledge
from app.edge.mcp.origin import Origins
from app.edge.mcp.rpc import INVALID_PARAMS
from app.edge.mcp.server import failed, scope_of
from app.edge.mcp.surface import Surface
from app.features.handbook.book import MAX_RESULTS
from app.kit.errors import AppError, InvalidRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.lowlevel import Server

    from app.features.handbook.book import Book
    from app.settings import Settings

PATH = "/docs-mcp"
_BODY_LIMIT = 64 * 1024
_DEFAULT_RESULTS = 10
_MAX_QUERY = 500
_CACHED = CacheHint(ttl_ms=300_000, scope="public")
_READS = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_PAGE = {"title": {"type": "string"}, "path": {"type": "string"}, "url": {"type": "string"}}


def _list_of(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    item = {"type": "object", "properties": properties}
    return {"type": "object", "properties": {name: {"type": "array", "items": item}}}


TOOLS = [
    types.Tool(
        name="search_docs",
        title="Search the handbook",
        description="Find sections of the handbook by words. Gives title, path, address, excerpt and score.",
        input_schema={
            "type": "object",
            "properties": {
                "query": {"type": "string", "maxLength": _MAX_QUERY, "description": "Words to look for."},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_RESULTS,
                    "default": _DEFAULT_RESULTS,
                    "description": "How many sections at most.",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        output_schema=_list_of("results", {**_PAGE, "excerpt": {"type": "string"}, "score": {"type": "number"}}),
        annotations=_READS,
    ),
    types.Tool(
        name="read_docs_page",
        title="Read a page of the handbook",
        description="Read a page as Markdown, by a path or address that search_docs or list_docs_pages gave.",
        input_schema={
            "type": "object",
            "properties": {"path": {"type": "string", "description": "Path or address, with or without `.md`."}},
            "required": ["path"],
            "additionalProperties": False,
        },
        output_schema={"type": "object", "properties": {**_PAGE, "markdown": {"type": "string"}}},
        annotations=_READS,
    ),
    types.Tool(
        name="list_docs_pages",
        title="List the pages of the handbook",
        description="List every page with title, path, address and description.",
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        output_schema=_list_of("pages", {**_PAGE, "description": {"type": "string"}}),
        annotations=_READS,
    ),
]


def mount(settings: Settings, book: Book) -> tuple[Endpoint, Route]:
    """Make the endpoint and its route; anonymous calls are limited by address, as on `/mcp`."""
    instructions = f"Search and read the handbook of {settings.product_name}; it needs no sign-in."
    surface = Surface(PATH, (), instructions=instructions, open=True)
    endpoint = Endpoint(surface, _BODY_LIMIT, lambda made: _server(made, book))
    guard = Guard(
        surface,
        endpoint,
        origins=Origins(settings.url),
        resource=protected_resource(settings, PATH),
        body_limit=_BODY_LIMIT,
    )
    return endpoint, Route(PATH, guard)


def _server(surface: Surface, book: Book) -> Server[Any]:
    calls: dict[str, Callable[[Book, dict[str, Any]], types.CallToolResult]] = {
        "search_docs": _search,
        "read_docs_page": _read,
        "list_docs_pages": _list,
    }

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:  # noqa: ARG001  the same for everybody
        return types.ListToolsResult(tools=list(TOOLS))

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        call = calls.get(params.name)
        if call is None:
            raise MCPError(INVALID_PARAMS, "Unknown tool; tools/list names them.")
        try:
            return call(book, params.arguments or {})
        except AppError as error:
            return failed(error, scope_of(ctx)["request_id"])

    server: Server[Any] = QuietServer(
        "context-repo-docs",
        version=version(),
        title=f"{book.facts.product}: handbook",
        instructions=surface.instructions,
        cache_hints={"server/discover": _CACHED, "tools/list": _CACHED},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=acknowledge,
    )
    return server


def _search(book: Book, arguments: dict[str, Any]) -> types.CallToolResult:
    query, limit = arguments.get("query"), arguments.get("limit", _DEFAULT_RESULTS)
    if not isinstance(query, str) or not query.strip() or len(query) > _MAX_QUERY:
        raise _invalid("query", f"must be a text of 1 to {_MAX_QUERY} characters")
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_RESULTS:
        raise _invalid("limit", f"must be a number from 1 to {MAX_RESULTS}")
    results = book.search(query, limit)
    lines = [f"- [{item['title']}]({item['url']}): {item['excerpt']}" for item in results]
    return _succeeded("\n".join(lines) or "Nothing was found; list_docs_pages lists all pages.", {"results": results})


def _read(book: Book, arguments: dict[str, Any]) -> types.CallToolResult:
    path = arguments.get("path")
    if not isinstance(path, str):
        raise _invalid("path", "must be a text: the path or address of a page")
    leaf = book.find(path)
    if leaf is None:
        raise NotFound("Page not found; list_docs_pages lists all of them with their paths.")
    found = {"title": leaf.guide.title, "path": leaf.guide.path, "url": f"{book.facts.url}{leaf.guide.path}"}
    return _succeeded(leaf.markdown, found | {"markdown": leaf.markdown})


def _list(book: Book, arguments: dict[str, Any]) -> types.CallToolResult:  # noqa: ARG001  it takes none
    pages = [
        {
            "title": leaf.guide.title,
            "path": leaf.guide.path,
            "url": f"{book.facts.url}{leaf.guide.path}",
            "description": leaf.guide.description,
        }
        for leaf in book.leaves.values()
    ]
    lines = [f"- [{page['title']}]({page['url']}): {page['description']}" for page in pages]
    return _succeeded("\n".join(lines), {"pages": pages})


def _succeeded(text: str, structured: dict[str, Any]) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=structured)


def _invalid(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(f"{field} {message}.", details=[{"field": field, "message": message}])
