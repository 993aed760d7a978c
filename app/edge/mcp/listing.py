"""`tools/list` serialised once per protocol version, by the SDK itself, and spliced into answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
import pydantic_core
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from app.edge.asgi import header

if TYPE_CHECKING:
    from app.edge.asgi import Message as AsgiMessage
    from app.edge.asgi import Scope
    from app.edge.mcp.rpc import Message

_METHOD = "tools/list"
_HEAD = b'{"jsonrpc":"2.0","id":0,"result":'
_PLAIN_META = frozenset(
    {types.PROTOCOL_VERSION_META_KEY, types.CLIENT_CAPABILITIES_META_KEY, types.CLIENT_INFO_META_KEY}
)
_ROUTING = (b"mcp-protocol-version", b"mcp-method", b"mcp-name")


class Listing:
    """The ready results by protocol version."""

    def __init__(self, results: dict[str, bytes]) -> None:
        self._results = results

    @classmethod
    async def made_by(cls, app: Any) -> Listing:
        """Ask an SDK endpoint for the list in every version that it serves."""
        versions = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
        return cls({version: await _ask(app, version) for version in versions})

    def answer(self, scope: Scope, message: Message) -> bytes | None:
        """Answer a plain `tools/list`; None leaves whatever is unusual to the SDK."""
        if message.method != _METHOD or message.id is None or message.raw.get("jsonrpc") != "2.0":
            return None
        accept = header(scope, b"accept") or ""
        if "application/json" not in accept and "*/*" not in accept:
            return None
        version = header(scope, b"mcp-protocol-version") or types.DEFAULT_NEGOTIATED_VERSION
        plain = _is_plain_modern if version in MODERN_PROTOCOL_VERSIONS else _is_plain_legacy
        result = self._results.get(version)
        if result is None or not plain(scope, message, version):
            return None
        return b'{"jsonrpc":"2.0","id":' + pydantic_core.to_json(message.id) + b',"result":' + result + b"}"


def _is_plain_legacy(scope: Scope, message: Message, version: str) -> bool:  # noqa: ARG001  one shape for both eras
    raw = message.raw
    return header(scope, b"mcp-session-id") is None and ("params" not in raw or raw["params"] == {})


def _is_plain_modern(scope: Scope, message: Message, version: str) -> bool:
    names = [name for name, _ in scope["headers"] if name in _ROUTING]
    meta = message.params.get("_meta")
    if len(names) != len(set(names)) or header(scope, b"mcp-method") != _METHOD or message.params.keys() != {"_meta"}:
        return False
    if not isinstance(meta, dict) or not meta.keys() <= _PLAIN_META:
        return False
    capabilities, client = meta.get(types.CLIENT_CAPABILITIES_META_KEY), meta.get(types.CLIENT_INFO_META_KEY)
    return (
        meta.get(types.PROTOCOL_VERSION_META_KEY) == version
        and capabilities == {}
        and (client is None or _is_plain_client(client))
    )


def _is_plain_client(client: Any) -> bool:
    return (
        isinstance(client, dict)
        and {"name", "version"} <= client.keys() <= {"name", "version", "title"}
        and all(isinstance(value, str) for value in client.values())
    )


async def _ask(app: Any, version: str) -> bytes:
    """Send one request in-process and cut the result out of the answer."""
    request: dict[str, Any] = {"jsonrpc": "2.0", "id": 0, "method": _METHOD}
    if version in MODERN_PROTOCOL_VERSIONS:
        meta = {types.PROTOCOL_VERSION_META_KEY: version, types.CLIENT_CAPABILITIES_META_KEY: {}}
        request["params"] = {"_meta": meta}
    headers = {
        "content-type": "application/json",
        "accept": "application/json",
        "mcp-protocol-version": version,
        "mcp-method": _METHOD,
    }
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    sent: list[AsgiMessage] = []

    async def receive() -> AsgiMessage:
        return {"type": "http.request", "body": pydantic_core.to_json(request), "more_body": False}

    async def send(message: AsgiMessage) -> None:
        sent.append(message)

    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    assert body.startswith(_HEAD), body[:200]
    return body[len(_HEAD) : -1]
