"""Every face of every operation, found through the features, with one way to call it and one form of outcome."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx2

from app import features
from app.edge.rest.binding import BODY_METHODS, Binding

if TYPE_CHECKING:
    from app.edge.mcp.tool import Tool
    from app.edge.rest.router import Rest
    from app.gate.operation import Operation
    from app.kit.schema import Model
    from tests.support.factories import Make, User

Args = dict[str, Any]
GARBAGE = b'{"title": '


@dataclass(frozen=True)
class Outcome:
    """What came back: HTTP status (of the error object, when a tool failed), parsed body, headers."""

    status: int
    body: Any
    headers: httpx2.Headers
    text: str

    @property
    def reason(self) -> str | None:
        error = self.body.get("error") if isinstance(self.body, dict) else None
        return error["reason"] if error else None

    def without(self, *texts: str) -> tuple[int, str]:
        """What two callers may compare: all but the request's own id, and the ids that the caller sent itself."""
        text = self.text
        for own in (self.headers["x-request-id"], *texts):
            text = text.replace(own, "…")
        return self.status, text


@dataclass(frozen=True)
class RestFace:
    """A REST route of an operation."""

    rest: Rest

    @property
    def args(self) -> type[Model]:
        return self.operation.args

    @property
    def operation(self) -> Operation[Any, Any]:
        return self.rest.operation

    @property
    def label(self) -> str:
        return f"{self.rest.method} {self.rest.path}"

    @property
    def has_body(self) -> bool:
        return self.rest.method in BODY_METHODS

    @property
    def binding(self) -> Binding:
        return Binding(self.operation.args, self.rest.path, self.rest.method)

    async def call(self, client: httpx2.AsyncClient, args: Args, **options: Any) -> Outcome:
        """Send arguments, spread over path, headers, and query or body."""
        left = dict(args)
        path = self.rest.path
        for name in self.binding.path_names:
            path = path.replace(f"{{{name}}}", str(left.pop(name)))
        headers = {}
        for header, name in self.binding.headers.items():
            if name in left:
                headers[header.decode()] = left.pop(name)
        if self.operation.needs_key:
            headers["idempotency-key"] = uuid4().hex
        sent: dict[str, Any] = {"json": left} if self.has_body else {"params": left}
        if (file := self.binding.file) is not None:
            named = left.pop(file)
            sent = {"files": {file: (named["name"], named["content"], named["mediaType"])}, "data": left}
        return outcome_of(await client.request(self.rest.method, path, headers=headers, **(sent | options)))

    async def call_with_garbage(self, client: httpx2.AsyncClient, args: Args) -> Outcome:
        """Send a body that is no JSON, or no form where one is wanted, to the right path."""
        form = self.binding.file is not None
        headers = {"content-type": "multipart/form-data; boundary=x" if form else "application/json"}
        path = self.rest.path
        for name in self.binding.path_names:
            path = path.replace(f"{{{name}}}", str(args[name]))
        return outcome_of(await client.request(self.rest.method, path, content=GARBAGE, headers=headers))


@dataclass(frozen=True)
class ToolFace:
    """An MCP tool of an operation."""

    tool: Tool

    @property
    def args(self) -> type[Model]:
        return self.tool.args

    @property
    def operation(self) -> Operation[Any, Any]:
        return self.tool.operation

    @property
    def label(self) -> str:
        return f"tool {self.tool.name}{' of all' if self.tool.wide else ''}"

    async def call(self, client: httpx2.AsyncClient, args: Args, **options: Any) -> Outcome:
        """Call the tool on a surface that has it; a failed one gives the outcome of its error object."""
        path = "/mcp/all" if self.tool.wide else "/mcp"
        if self.operation.needs_key:
            args = {"idempotencyKey": uuid4().hex, **args}
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": self.tool.name, "arguments": args},
        }
        headers = {"accept": "application/json, text/event-stream"}
        found = outcome_of(await client.post(path, json=message, headers=headers, **options))
        if not isinstance(found.body, dict) or "result" not in found.body:
            return found
        result = found.body["result"]
        body = result.get("structuredContent")
        status = body["error"]["code"] if result.get("isError") and body else found.status
        return Outcome(status, body, found.headers, found.text)


Face = RestFace | ToolFace


def outcome_of(answer: httpx2.Response) -> Outcome:
    """Read a response."""
    is_json = answer.headers.get("content-type", "").split(";")[0].endswith("json") and answer.content
    return Outcome(answer.status_code, json.loads(answer.content) if is_json else None, answer.headers, answer.text)


def rest_faces() -> list[RestFace]:
    """All REST faces."""
    return [RestFace(rest) for rest in features.collect("rest", "ROUTES")]


def tool_faces() -> list[ToolFace]:
    """All tools."""
    return [ToolFace(tool) for tool in features.collect("tools", "TOOLS")]


FACES: list[Face] = [*rest_faces(), *tool_faces()]
KEY_FACES = [face for face in FACES if not face.operation.credentials]
"""What any credential may call."""
PERSON_FACES = [face for face in FACES if face.operation.credentials]
"""What only a signed-in person may call."""


async def caller(face: Face, user: User, make: Make) -> httpx2.AsyncClient:
    """Give the client with which a user may call a face: a key's, or a browser's where only persons may."""
    return await make.browser(user) if face.operation.credentials else user.client


def label(face: Face) -> str:
    """Name a face in a test's id."""
    return face.label
