"""MCP as clients speak it, both before and after 2026-07-28."""

from __future__ import annotations

import re
import uuid
from typing import Any

from app.doctor.metadata import check_resource
from app.doctor.probe import PUBLIC_URL_DIFFERS, Failed, Probe, Reply, Skipped, likely, want, want_json

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
TOOL = "get_user_info"
_BOTH = "application/json, text/event-stream"
_METADATA = re.compile(r'resource_metadata="([^"]+)"')
_STRIPPED = (
    "The WWW-Authenticate header is missing or lacks resource_metadata: a proxy removes it, or replaces the answers to "
    "errors by its own (intercepting of errors must be off)."
)
_INSPECTOR = "http://localhost:6274"


async def call(probe: Probe, method: str, era: str, *, path: str = "/mcp", **headers: str) -> Reply:
    """Send one JSON-RPC request as a client of an era does."""
    params: dict[str, Any] = {"name": TOOL, "arguments": {}} if method == "tools/call" else {}
    sent = {"accept": _BOTH, "mcp-protocol-version": era}
    if era == MODERN:
        sent["mcp-method"] = method
        if "name" in params:
            sent["mcp-name"] = params["name"]
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "ctx doctor", "version": "1"},
        }
    if method == "initialize":
        del sent["mcp-protocol-version"]
        params = {"protocolVersion": era, "capabilities": {}, "clientInfo": {"name": "ctx doctor", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return await probe.send("POST", path, headers=sent | headers, body=body)


def result_of(reply: Reply) -> dict[str, Any]:
    """Read the result of a call, from JSON or from a stream of one event.

    Raises:
        Failed: there is none.
    """
    if "event-stream" in reply.headers.get("content-type", ""):
        want(reply, (200,))
        data = [line[5:].strip() for line in reply.text.splitlines() if line.startswith("data:")]
        body = Reply(reply.status, reply.headers, data[-1] if data else "", reply.complete).json()
    else:
        body = want_json(reply)
    result = body.get("result")
    if not isinstance(result, dict):
        told = body.get("error", {})
        raise Failed(f"No result: {told.get('message', told) if isinstance(told, dict) else told}", likely(reply))
    return result


def _want_tools(reply: Reply) -> None:
    if not result_of(reply).get("tools"):
        raise Failed("The list of tools is empty.", "Another service answers at this address, or none of its tools.")


async def list_legacy(probe: Probe) -> None:
    """Send `initialize`, then `tools/list`, without a credential."""
    result_of(await call(probe, "initialize", LEGACY))
    _want_tools(await call(probe, "tools/list", LEGACY))


async def list_modern(probe: Probe) -> None:
    """Send `tools/list` of the stateless revision, without a credential."""
    _want_tools(await call(probe, "tools/list", MODERN))


def challenge_of(reply: Reply) -> str:
    """Read the address of the metadata out of a refusal.

    Raises:
        Failed: it is no refusal that a client can follow.
    """
    want(reply, (401,), "A request without a credential must be refused with 401.")
    if reply.is_html:
        raise Failed("The refusal is a page for people.", likely(reply))
    found = _METADATA.search(reply.headers.get("www-authenticate", ""))
    if found is None:
        raise Failed("The refusal does not say where to sign in.", _STRIPPED)
    return found[1]


def _want_metadata(probe: Probe, url: str, path: str) -> None:
    expected = f"{probe.base}/.well-known/oauth-protected-resource{path}"
    if url != expected:
        raise Failed(f"`resource_metadata` is {url!r}, not {expected!r}.", PUBLIC_URL_DIFFERS)


async def grok(probe: Probe) -> None:
    """Expect that `/grok-mcp` refuses even the list of tools, and says where to sign in."""
    for method in ("initialize", "tools/list"):
        _want_metadata(probe, challenge_of(await call(probe, method, LEGACY, path="/grok-mcp")), "/grok-mcp")


async def call_refused(probe: Probe) -> None:
    """Call a tool without a credential: the refusal says where to sign in."""
    url = challenge_of(await call(probe, "tools/call", LEGACY))
    probe.known["challenge"] = url
    _want_metadata(probe, url, "/mcp")


async def challenge_answers(probe: Probe) -> None:
    """Follow the address in the refusal to the metadata of `/mcp`."""
    if "challenge" not in probe.known:
        raise Skipped("no refusal named an address")
    check_resource(probe, want_json(await probe.send("GET", probe.known["challenge"])), "/mcp")


async def credential_arrives(probe: Probe) -> None:
    """Send a wrong token where none is needed: it is refused where the header reaches the service."""
    reply = await call(probe, "tools/list", LEGACY, authorization="Bearer ctx-doctor-no-such-token")
    if reply.status == 200:  # noqa: PLR2004  the list is public: without the header it is answered
        raise Failed(
            "A wrong token was not noticed.", "A proxy strips the Authorization header: let it pass it on unchanged."
        )
    challenge_of(reply)
    if 'error="invalid_token"' not in reply.headers["www-authenticate"]:
        raise Failed(
            "The refusal does not call the token wrong.", "A proxy strips or changes the Authorization header."
        )


async def get_refused(probe: Probe) -> None:
    """Expect 405 for GET: there is no stream to wait on."""
    reply = await probe.send("GET", "/mcp", headers={"accept": "text/event-stream"})
    want(reply, (405,), "Clients would wait on this stream for ever; pass GET on to the service unchanged.")


async def stale_session(probe: Probe) -> None:
    """Send a session id of an earlier server, which is no reason to fail."""
    headers = {"mcp-session-id": uuid.uuid4().hex}
    _want_tools(await call(probe, "tools/list", LEGACY, **headers))


async def json_only(probe: Probe) -> None:
    """Take only JSON, and get it."""
    reply = await call(probe, "tools/list", LEGACY, accept="application/json")
    _want_tools(reply)
    if "json" not in reply.headers.get("content-type", ""):
        raise Failed("The answer is a stream.", "A proxy changes Accept or Content-Type.")


async def trailing_slash(probe: Probe) -> None:
    """Find the same place at `/mcp/`, without a redirect."""
    _want_tools(await call(probe, "tools/list", LEGACY, path="/mcp/"))


async def preflight(probe: Probe) -> None:
    """Ask as a client that runs in a browser does."""
    wanted = ("authorization", "content-type", "mcp-protocol-version")
    asked = {"origin": _INSPECTOR, "access-control-request-method": "POST"}
    for path in ("/mcp", "/v1/documents", "/oauth/token"):
        reply = await probe.send("OPTIONS", path, headers=asked | {"access-control-request-headers": ", ".join(wanted)})
        want(reply, (200, 204), "The proxy must pass OPTIONS on to the service.")
        headers = reply.headers
        allowed = {name.strip().lower() for name in headers.get("access-control-allow-headers", "").split(",")}
        if headers.get("access-control-allow-origin") not in ("*", _INSPECTOR) or not allowed.issuperset(wanted):
            raise Failed(
                f"The answer for {path} allows no pages to call it.", "A proxy answers OPTIONS itself or drops headers."
            )
