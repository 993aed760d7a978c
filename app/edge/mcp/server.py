"""The one handler set behind every surface: tools, stored prompts and resources through the gate."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pydantic_core
from mcp.server.caching import CacheHint
from mcp.shared.exceptions import MCPError

from app import version
from app.edge import errors
from app.edge.mcp.listening import QuietServer, acknowledge
from app.edge.mcp.rpc import ADDED_HEADERS, CREDENTIAL, INTERNAL_ERROR, INVALID_PARAMS, REFUSED
from app.gate.arguments import parse_args
from app.gate.gate import Credential
from app.kit.errors import AppError, InvalidRequest, NotFound
from app.kit.sanitize import one_line, sanitize
from app.kit.schema import unstorable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.lowlevel import Server

    from app.edge.asgi import Scope
    from app.edge.mcp.surface import Surface
    from app.edge.mcp.tool import Tool
    from app.gate.gate import Gate
    from app.gate.operation import Operation
    from app.kit.schema import Model

log = logging.getLogger(__name__)
NAME = "context-repo"
_IDEMPOTENCY_KEY = "contextrepo/idempotencyKey"
_AGENT = "contextrepo/agentId"
_PUBLIC = CacheHint(ttl_ms=300_000, scope="public")


def build(surface: Surface) -> Server[Any]:
    """Make the SDK's server of a surface."""
    handlers = Handlers(surface)
    server: Server[Any] = QuietServer(
        NAME,
        version=version(),
        title="Context Repo",
        instructions=surface.instructions,
        cache_hints={
            "server/discover": _PUBLIC,
            "tools/list": _PUBLIC,
            "resources/list": _PUBLIC,
            "resources/templates/list": _PUBLIC,
        },
        get_tool_input_schema=handlers.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_subscriptions_listen=acknowledge,
    )
    server.middleware[:] = [_decode_arguments]
    return server


class Handlers:
    """The SDK's callbacks of one surface."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """Tell the SDK which arguments are mirrored as headers (none are)."""
        tool = self._surface.by_name.get(name)
        return tool.input_schema if tool else None

    async def list_tools(self, ctx: ServerRequestContext[Any, Any], params: Any) -> types.ListToolsResult:  # noqa: ARG002
        """List the tools on one page, in the contract's order."""
        _refuse_cursor(params)
        return types.ListToolsResult(tools=[tool.wire for tool in self._surface.tools])

    async def call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Run a tool; a refusal is a failed result that the model can read."""
        tool = self._surface.by_name.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {one_line(params.name, 100)}")
        scope = scope_of(ctx)
        try:
            return await _call(tool, params.arguments or {}, scope, _meta(ctx))
        except AppError as error:
            scope[ADDED_HEADERS].extend(errors.timing_headers(error))
            return failed(error, scope["request_id"])
        except Exception:
            log.exception("unexpected error", extra={"request_id": scope["request_id"]})
            return failed(errors.internal(scope["request_id"]), scope["request_id"])

    async def list_resources(self, ctx: ServerRequestContext[Any, Any], params: Any) -> types.ListResourcesResult:  # noqa: ARG002
        """List the public documents, and what each caller has one of."""
        _refuse_cursor(params)
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=item.uri,
                    name=item.name,
                    title=item.title,
                    description=item.description,
                    mime_type=item.mime_type,
                )
                for item in self._surface.listed
            ]
        )

    async def list_templates(
        self,
        ctx: ServerRequestContext[Any, Any],  # noqa: ARG002  the same for everybody
        params: Any,
    ) -> types.ListResourceTemplatesResult:
        """List the templates of stored objects."""
        _refuse_cursor(params)
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=item.uri,
                    name=item.name,
                    title=item.title,
                    description=item.description,
                    mime_type=item.mime_type,
                )
                for item in self._surface.templates
                if item.parameter is not None
            ]
        )

    async def read_resource(
        self, ctx: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a public document, or a stored object through its operation."""
        for resource in self._surface.resources:
            if resource.uri == params.uri:
                contents = [_contents(params.uri, resource.mime_type, resource.read())]
                return types.ReadResourceResult(contents=list(contents), ttl_ms=_PUBLIC.ttl_ms, cache_scope="public")
        for template in self._surface.templates:
            if (raw := template.match(params.uri)) is not None:
                async with _refusing(ctx, params.uri):
                    result, args = await _read(ctx, template.operation, raw)
                text = sanitize(template.text(result, args))
                return types.ReadResourceResult(contents=[_contents(params.uri, template.mime_type, text)])
        raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": params.uri})

    async def list_prompts(self, ctx: ServerRequestContext[Any, Any], params: Any) -> types.ListPromptsResult:
        """List the caller's stored prompts, a page at a time."""
        source = self._surface.prompts
        if source is None:
            _refuse_cursor(params)
            return types.ListPromptsResult(prompts=[])
        async with _refusing(ctx):
            raw = source.page(params.cursor if params is not None else None)
            result, _ = await _read(ctx, source.listing, raw)
        return source.listed(result)

    async def get_prompt(
        self, ctx: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Give a stored prompt with the caller's values in it."""
        source = self._surface.prompts
        if source is None:
            raise MCPError(INVALID_PARAMS, f"Prompt not found: {one_line(params.name, 100)}")
        async with _refusing(ctx):
            result, _ = await _read(ctx, source.reading, {source.name_field: params.name})
            return source.filled(result, params.arguments or {})


@contextlib.asynccontextmanager
async def _refusing(ctx: ServerRequestContext[Any, Any], uri: str | None = None) -> AsyncIterator[None]:
    """Carry a refusal, or a fault of ours without its cause, where there is no result to fail."""
    try:
        yield
    except AppError as error:
        scope = scope_of(ctx)
        scope[ADDED_HEADERS].extend(errors.timing_headers(error))
        raise _rpc_error(error, scope["request_id"], uri) from error
    except Exception as error:
        request_id = scope_of(ctx)["request_id"]
        log.exception("unexpected error", extra={"request_id": request_id})
        raise _rpc_error(errors.internal(request_id), request_id, uri) from error


async def _read(
    ctx: ServerRequestContext[Any, Any], operation: Operation[Any, Any], raw: dict[str, Any]
) -> tuple[Any, Model]:
    """Run a reading operation; gives its result and its arguments."""
    scope = scope_of(ctx)
    gate: Gate = scope["app"].state.gate
    admission = await gate.admit(operation, _credential(scope, _meta(ctx)))
    args = parse_args(operation.args, raw)
    answer = await gate.run(admission, operation, args, request_id=scope["request_id"])
    return answer.result, args


async def _call(tool: Tool, arguments: dict[str, Any], scope: Scope, meta: dict[str, Any]) -> types.CallToolResult:
    gate: Gate = scope["app"].state.gate
    operation = tool.operation
    admission = await gate.admit(operation, _credential(scope, meta))
    scope[ADDED_HEADERS].extend(errors.rate_headers(admission.rate))
    args = tool.parse(arguments)
    key = _key(tool, arguments, meta) if operation.writes else None
    try:
        answer = await gate.run(admission, operation, args, request_id=scope["request_id"], idempotency_key=key)
    except NotFound:
        if tool.when_absent is None or tool.structured is None:
            raise
        return _succeeded(tool.when_absent(arguments), tool.structured(arguments))
    body = tool.structured(arguments) if tool.structured else pydantic_core.from_json(answer.body)
    return _succeeded(tool.text(answer.result, args), body)


def _key(tool: Tool, arguments: dict[str, Any], meta: dict[str, Any]) -> str | None:
    named = tool.key(arguments)
    return _text_of(meta, _IDEMPOTENCY_KEY) if named is None else named


def _succeeded(text: str, structured: dict[str, Any]) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=sanitize(text))], structured_content=structured)


def failed(error: AppError, request_id: str) -> types.CallToolResult:
    """Give a refusal as a tool's result: the reason and what to do as text, and the error object of REST."""
    text = f"Error: {error.reason}: {error.message}"
    return types.CallToolResult(
        content=[types.TextContent(text=sanitize(text))],
        structured_content={"error": errors.error_object(error, request_id)},
        is_error=True,
    )


def _contents(uri: str, mime_type: str, text: str) -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)


def _rpc_error(error: AppError, request_id: str, uri: str | None = None) -> MCPError:
    """Carry a refusal where there is no result to fail: the REST error object is `data`."""
    data = errors.error_object(error, request_id)
    if uri is not None:
        data["uri"] = uri
    status = data["code"]
    code = INTERNAL_ERROR if status == 500 else INVALID_PARAMS if status in {400, 404} else REFUSED  # noqa: PLR2004
    return MCPError(code, error.message, data)


def _refuse_cursor(params: Any) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "Unknown cursor: the list has one page.")


def scope_of(ctx: ServerRequestContext[Any, Any]) -> Scope:
    """Give the HTTP request that carried the message."""
    assert ctx.request is not None
    scope: Scope = ctx.request.scope
    return scope


def _meta(ctx: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    meta = (ctx.params or {}).get("_meta")
    return meta if isinstance(meta, dict) else {}


def _text_of(meta: dict[str, Any], key: str) -> str | None:
    value = meta.get(key)
    if value is None or (isinstance(value, str) and unstorable(value) is None):
        return value
    msg = f"_meta[{key!r}] must be a text without control characters."
    raise InvalidRequest(msg, details=[{"field": f"_meta.{key}", "message": msg}])


def _credential(scope: Scope, meta: dict[str, Any]) -> Credential:
    """Take the guard's credential; an agent named in the message outranks the one in the header."""
    credential: Credential = scope[CREDENTIAL]
    agent = _text_of(meta, _AGENT)
    return replace(credential, agent=agent) if agent else credential


async def _decode_arguments(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Read an argument map that arrives as JSON text, as some clients send it."""
    arguments = ctx.params.get("arguments") if ctx.params and ctx.method == "tools/call" else None
    if isinstance(arguments, str):
        try:
            decoded = pydantic_core.from_json(arguments or "{}")
        except ValueError:
            decoded = None
        if isinstance(decoded, dict):
            ctx = replace(ctx, params={**(ctx.params or {}), "arguments": decoded})
    return await call_next(ctx)
