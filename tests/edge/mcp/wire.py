"""JSON-RPC by hand over both protocol eras."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp.shared.inbound import encode_header_value

MODERN = "2026-07-28"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_FENCE = re.compile(r"<(stored-[0-9a-f]{16})>\n.*?\n</\1>", re.DOTALL)
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(frozen=True)
class Era:
    """How one era writes a request; `version` None sends no version header at all."""

    version: str | None

    @property
    def modern(self) -> bool:
        return self.version == MODERN

    def headers(self, method: str, params: dict[str, Any], accept: str | None = None) -> dict[str, str]:
        found = {"accept": accept or "application/json"}
        if self.version:
            found["mcp-protocol-version"] = self.version
        if self.modern:
            found |= {"accept": accept or "application/json, text/event-stream", "mcp-method": method}
            if method in _NAMES:
                found["mcp-name"] = encode_header_value(params[_NAMES[method]])
        return found

    def params(self, params: dict[str, Any] | None) -> dict[str, Any] | None:
        if not self.modern:
            return params
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            **((params or {}).get("_meta") or {}),
        }
        return {**(params or {}), "_meta": meta}

    async def send(
        self,
        client: httpx2.AsyncClient,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        path: str = "/mcp",
        accept: str | None = None,
        message_id: Any = 1,
        **headers: str,
    ) -> httpx2.Response:
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": message_id, "method": method}
        if (full := self.params(params)) is not None:
            body["params"] = full
        sent = self.headers(method, params or {}, accept) | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return await client.post(path, json=body, headers=sent)

    async def call(
        self, client: httpx2.AsyncClient, name: str, arguments: Any = None, *, meta: Any = None, **headers: str
    ) -> dict[str, Any]:
        """Call a tool and return its result; the transport must have succeeded."""
        params: dict[str, Any] = {"name": name, "arguments": {} if arguments is None else arguments}
        if meta:
            params["_meta"] = meta
        answer = await self.send(client, "tools/call", params, **headers)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]


LEGACY_ERA = Era("2025-11-25")
MODERN_ERA = Era(MODERN)
BOTH = (LEGACY_ERA, MODERN_ERA)


async def raw(client: httpx2.AsyncClient, body: bytes, *, path: str = "/mcp", **headers: str) -> httpx2.Response:
    """Post bytes as they are."""
    sent = {"content-type": "application/json", "accept": "application/json"}
    return await client.post(path, content=body, headers=sent | {n.replace("_", "-"): v for n, v in headers.items()})


def text_of(result: dict[str, Any]) -> str:
    """The Markdown of a tool's result."""
    assert [part["type"] for part in result["content"]] == ["text"]
    return result["content"][0]["text"]


def unfenced(text: str) -> str:
    """What a tool says outside the fences of stored text."""
    return _FENCE.sub("", text)
