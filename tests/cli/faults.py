"""The service behind something that breaks it in one way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Request:
    """What the broken thing sees."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def rpc(self) -> str:
        try:
            return json.loads(self.body).get("method", "")
        except (ValueError, AttributeError):
            return ""


@dataclass
class Answer:
    """What it may change."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    endless: bool = False

    def edit(self, **changes: Any) -> None:
        """Change fields of a JSON body; None takes one away."""
        found = json.loads(self.body) | changes
        self.body = json.dumps({name: value for name, value in found.items() if value is not None}).encode()


Fault = Callable[[Request, Answer], Answer | None]


class Broken:
    """Passes requests on and lets a fault change the answers; `before` may change the request's headers."""

    def __init__(self, app: Any, fault: Fault, before: Callable[[Request], None] | None = None) -> None:
        self._app, self._fault, self._before = app, fault, before
        self.seen: list[Request] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        request = Request(scope["method"], scope["path"], scope["query_string"].decode(), headers, body)
        self.seen.append(request)
        if self._before:
            self._before(request)
        answer = await self._ask(scope, request)
        answer = self._fault(request, answer) or answer
        answer.headers.pop("content-length", None)
        raw = [(name.encode(), value.encode()) for name, value in answer.headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": raw})
        await send({"type": "http.response.body", "body": answer.body, "more_body": answer.endless})
        if answer.endless:
            await asyncio.sleep(60)

    async def _ask(self, scope: Any, request: Request) -> Answer:
        messages = [{"type": "http.request", "body": request.body, "more_body": False}]
        answer = Answer(500)

        async def receive() -> Any:
            if messages:
                return messages.pop()
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = {name.decode(): value.decode() for name, value in message.get("headers", ())}
            else:
                answer.body += message.get("body", b"")

        raw = [(name.encode(), value.encode()) for name, value in request.headers.items()]
        await self._app({**scope, "headers": raw, "path": request.path}, receive, send)
        return answer


def html(status: int) -> Answer:
    """What a login wall says."""
    return Answer(status, {"content-type": "text/html"}, b"<!doctype html><h1>Sign in to the corporate network</h1>")


def redirect(to: str, status: int = 307) -> Answer:
    """What a helpful proxy does."""
    return Answer(status, {"location": to})
