"""What the official suite wants of a server, at a path of its own in the real service: factory, guard, endpoint, gate.

`create_app` is a factory for `tests.support.serve`. The suite's tools stand beside the product's, not among them, and
each call of one is admitted by the gate as a call of an operation.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from starlette.routing import Route

import app.main
from app.edge import errors
from app.edge.discovery import protected_resource
from app.edge.mcp.endpoint import Endpoint
from app.edge.mcp.guard import Guard
from app.edge.mcp.origin import Origins
from app.edge.mcp.rpc import ADDED_HEADERS, CREDENTIAL
from app.edge.mcp.surface import Surface
from app.features.accounts.operations import get_me

if TYPE_CHECKING:
    from fastapi import FastAPI
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from app.settings import Settings

PATH = "/conformance"
_PAUSE_SECONDS = 0.05
_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
_WAV = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"
_HINT = CacheHint(ttl_ms=1000, scope="private")
_CACHED = (
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
)
_ADMITTED = frozenset({"tools/call", "prompts/get", "resources/read"})
Asked = types.InputRequiredResult


def create_app(settings: Settings) -> FastAPI:
    """Build the service with one more surface, wholly authenticated."""
    made = app.main.create_app(settings)
    surface = Surface(PATH, ())
    endpoint = Endpoint(surface, settings.max_body_bytes, lambda _: suite_server()._lowlevel_server)
    guard = Guard(
        surface,
        endpoint,
        origins=Origins(settings.url),
        resource=f"{settings.url}{PATH}",
        metadata_url=protected_resource.metadata_url(settings, PATH),
        body_limit=settings.max_body_bytes,
    )
    made.state.mcp.append(endpoint)
    made.router.routes.append(Route(PATH, guard))
    return made


async def _admit(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Let the gate count a call and refuse whom it would refuse the product's own."""
    if ctx.method in _ADMITTED:
        scope = ctx.request.scope
        admission = await scope["app"].state.gate.admit(get_me, scope[CREDENTIAL])
        scope[ADDED_HEADERS].extend(errors.rate_headers(admission.rate))
    return await call_next(ctx)


def suite_server() -> MCPServer[Any]:
    """Make a server with everything that the suite's scenarios name."""
    server: MCPServer[Any] = MCPServer(
        "conformance",
        version="1",
        cache_hints=dict.fromkeys(_CACHED, _HINT),
        subscriptions=False,
        middleware=[_admit],
        log_level="WARNING",
    )
    for tool in (*_CONTENT_TOOLS, *_ASKING_TOOLS):
        server.add_tool(tool, description="A tool of the suite", structured_output=False)
    _add_resources(server)
    _add_prompts(server)
    return server


# -- tools that answer -----------------------------------------------------------------------------------------------


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=text)


def _image() -> types.ImageContent:
    return types.ImageContent(data=base64.b64encode(_PNG).decode(), mime_type="image/png")


def _embedded(uri: str, text: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def test_simple_text() -> list[types.TextContent]:
    return [_text("This is a simple text response for testing.")]


def test_image_content() -> list[types.ImageContent]:
    return [_image()]


def test_audio_content() -> list[types.AudioContent]:
    return [types.AudioContent(data=base64.b64encode(_WAV).decode(), mime_type="audio/wav")]


def test_embedded_resource() -> list[types.EmbeddedResource]:
    return [_embedded("test://embedded-resource", "This is an embedded resource content.")]


def test_multiple_content_types() -> list[types.ContentBlock]:
    data = json.dumps({"test": "data", "value": 123})
    embedded = _embedded("test://mixed-content-resource", data, "application/json")
    return [_text("Multiple content types test:"), _image(), embedded]


def test_error_handling() -> list[types.TextContent]:
    raise ToolError("This tool intentionally returns an error for testing")


async def test_tool_with_progress(ctx: Context[Any, Any]) -> list[types.TextContent]:
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100)
        await asyncio.sleep(_PAUSE_SECONDS)
    return [_text("Done")]


async def test_tool_with_logging(ctx: Context[Any, Any]) -> list[types.TextContent]:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(line)
        await asyncio.sleep(_PAUSE_SECONDS)
    return [_text("Done")]


async def test_logging_tool(ctx: Context[Any, Any]) -> list[types.TextContent]:
    await ctx.info("Said to those who asked for it")
    return [_text("Done")]


async def test_streaming_elicitation(ctx: Context[Any, Any]) -> list[types.TextContent] | Asked:
    await ctx.report_progress(1, 2)
    return test_input_required_result_elicitation(ctx)


def test_missing_capability(ctx: Context[Any, Any]) -> list[types.TextContent]:
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        needed = types.ClientCapabilities(sampling=types.SamplingCapability())
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        shown = data.model_dump(mode="json", by_alias=True, exclude_none=True)
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This needs sampling", shown)
    return [_text("Done")]


_CONTENT_TOOLS = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    test_tool_with_logging,
    test_logging_tool,
    test_streaming_elicitation,
    test_missing_capability,
)


# -- tools that ask --------------------------------------------------------------------------------------------------


def _form(message: str, field: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(question: str, tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=_text(question))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=tokens))


def _given(ctx: Context[Any, Any], key: str, field: str) -> Any:
    """Read a field of a form that came back accepted; None as long as it did not."""
    answer = (ctx.input_responses or {}).get(key)
    if isinstance(answer, types.ElicitResult) and answer.action == "accept":
        return (answer.content or {}).get(field)
    return None


def test_input_required_result_elicitation(ctx: Context[Any, Any]) -> list[types.TextContent] | Asked:
    name = _given(ctx, "user_name", "name")
    if name is None:
        return Asked(input_requests={"user_name": _form("What is your name?", "name")})
    return [_text(f"Hello, {name}!")]


def test_input_required_result_sampling(ctx: Context[Any, Any]) -> list[types.TextContent] | Asked:
    answer = (ctx.input_responses or {}).get("capital_question")
    if not isinstance(answer, types.CreateMessageResult):
        return Asked(input_requests={"capital_question": _sample("What is the capital of France?", 100)})
    return [_text(answer.content.text if isinstance(answer.content, types.TextContent) else "")]


def test_input_required_result_list_roots(ctx: Context[Any, Any]) -> list[types.TextContent] | Asked:
    answer = (ctx.input_responses or {}).get("client_roots")
    if not isinstance(answer, types.ListRootsResult):
        return Asked(input_requests={"client_roots": types.ListRootsRequest()})
    return [_text(", ".join(str(root.uri) for root in answer.roots))]


def test_input_required_result_request_state(ctx: Context[Any, Any]) -> list[types.TextContent] | Asked:
    if ctx.request_state != "asked" or _given(ctx, "confirm", "ok") is None:
        return Asked(input_requests={"confirm": _form("Please confirm", "ok", "boolean")}, request_state="asked")
    return [_text("state-ok")]


def test_input_required_result_tampered_state(ctx: Context[Any, Any]) -> list[types.TextContent] | Asked:
    return test_input_required_result_request_state(ctx)


def test_input_required_result_multiple_inputs(ctx: Context[Any, Any]) -> list[types.TextContent] | Asked:
    requests: types.InputRequests = {
        "user_name": _form("What is your name?", "name"),
        "greeting": _sample("Generate a greeting", 50),
        "client_roots": types.ListRootsRequest(),
    }
    if not requests.keys() <= (ctx.input_responses or {}).keys():
        return Asked(input_requests=requests, request_state="asked")
    return [_text("All came")]


def test_input_required_result_multi_round(ctx: Context[Any, Any]) -> list[types.TextContent] | Asked:
    name = ctx.request_state if ctx.request_state not in (None, "first") else _given(ctx, "step1", "name")
    if name is None:
        return Asked(input_requests={"step1": _form("Step 1: What is your name?", "name")}, request_state="first")
    colour = _given(ctx, "step2", "color")
    if colour is None:
        return Asked(
            input_requests={"step2": _form("Step 2: What is your favorite color?", "color")}, request_state=name
        )
    return [_text(f"{name} likes {colour}")]


def test_input_required_result_capabilities(ctx: Context[Any, Any]) -> list[types.TextContent] | Asked:
    able = ctx.client_capabilities or types.ClientCapabilities()
    requests: types.InputRequests = {}
    if able.elicitation is not None:
        requests["user_name"] = _form("What is your name?", "name")
    if able.sampling is not None:
        requests["greeting"] = _sample("Generate a greeting", 50)
    return Asked(input_requests=requests) if requests else [_text("Nothing can be asked")]


_ASKING_TOOLS = (
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
)


# -- resources and prompts -------------------------------------------------------------------------------------------


def _add_resources(server: MCPServer[Any]) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        return _PNG

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002  the suite's name
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _add_prompts(server: MCPServer[Any]) -> None:
    @server.prompt(description="A prompt of the suite")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt(description="A prompt of the suite")
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="A prompt of the suite")
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803  the suite's name
        embedded = _embedded(resourceUri, "Embedded resource content for testing.")
        return [embedded, "Please process the embedded resource above."]

    @server.prompt(description="A prompt of the suite")
    def test_prompt_with_image() -> list[Any]:
        return [_image(), "Please analyze the image above."]

    @server.prompt(description="A prompt of the suite")
    def test_input_required_result_prompt(ctx: Context[Any, Any]) -> str | Asked:
        context = _given(ctx, "user_context", "context")
        if context is None:
            return Asked(input_requests={"user_context": _form("What context should the prompt use?", "context")})
        return f"In the context of {context}"

    @server.completion()
    async def complete(ref: Any, argument: types.CompletionArgument, context: Any) -> types.Completion:
        values = [word for word in ("paris", "park", "party") if word.startswith(argument.value)]
        return types.Completion(values=values, total=len(values), has_more=False)
