"""What an API key may do."""

from __future__ import annotations

import secrets

from app.doctor import surfaces
from app.doctor.probe import Failed, Probe, Reply, Skipped, likely, want, want_json

_TITLE = "ctx doctor"
_FORBIDDEN = 403


def _headers(probe: Probe) -> dict[str, str]:
    if not probe.api_key:
        raise Skipped("no API key was given")
    if not probe.is_safe:
        raise Skipped("a key is not sent over plain http beyond this machine")
    return {"authorization": f"API-Key {probe.api_key}"}


def _want_accepted(reply: Reply) -> None:
    if reply.status == 401:  # noqa: PLR2004  named by its text
        known = "invalid_token" in reply.headers.get("www-authenticate", "")
        advice = "The key is unknown, expired or revoked: make a new one on the page of API keys."
        raise Failed("The key was refused.", advice if known else "A proxy strips the Authorization header.")
    if reply.status == _FORBIDDEN and not reply.is_html:
        raise Failed("The key may not do this.", "Give it the scope that the answer names.")


async def me(probe: Probe) -> None:
    """Ask whose key it is."""
    reply = await probe.send("GET", "/v1/user/me", headers=_headers(probe))
    _want_accepted(reply)
    if not want_json(reply).get("data"):
        raise Failed("There is no `data` in the answer.", likely(reply))


async def _tool(probe: Probe, era: str) -> None:
    reply = await surfaces.call(probe, "tools/call", era, **_headers(probe))
    _want_accepted(reply)
    result = surfaces.result_of(reply)
    if result.get("isError") or not result.get("content"):
        raise Failed("The tool answered with an error.", "Read the answer; the workspace may have no active plan.")


async def tool_legacy(probe: Probe) -> None:
    """Call a tool as clients did before 2026-07-28."""
    await _tool(probe, surfaces.LEGACY)


async def tool_modern(probe: Probe) -> None:
    """Call a tool as clients do since 2026-07-28."""
    await _tool(probe, surfaces.MODERN)


def _writing(probe: Probe) -> dict[str, str]:
    headers = _headers(probe)
    if not probe.write:
        raise Skipped("it would write; ask for it with --write")
    return headers


async def create(probe: Probe) -> None:
    """Create a document."""
    headers = _writing(probe) | {"idempotency-key": f"ctx-doctor-{secrets.token_hex(8)}"}
    body = {"title": _TITLE, "content": "Written by `ctx doctor --write` to see whether documents can be written."}
    reply = await probe.send("POST", "/v1/documents", headers=headers, body=body)
    _want_accepted(reply)
    data = want_json(reply, (201,)).get("data")
    if not isinstance(data, dict) or not isinstance(data.get("id"), str):
        raise Failed("The answer names no document.", likely(reply))
    probe.known["document"] = data["id"]


def _document(probe: Probe) -> str:
    if "document" not in probe.known:
        raise Skipped("no document was created")
    return f"/v1/documents/{probe.known['document']}"


async def read(probe: Probe) -> None:
    """Read it at once."""
    headers = _writing(probe)
    data = want_json(await probe.send("GET", _document(probe), headers=headers)).get("data", {})
    if data.get("title") != _TITLE:
        raise Failed("Another document came back.", "A cache stands between: it must not keep answers of /v1.")


async def delete(probe: Probe) -> None:
    """Delete it: it is gone, from the trash too."""
    headers = _writing(probe)
    path = _document(probe)
    reply = await probe.send("DELETE", path, headers=headers)
    want(reply, (200, 204), f"Delete the document {path} by hand. The proxy must pass DELETE on to the service.")
    want(await probe.send("GET", path, headers=headers), (404,), "A cache stands between: it must not keep answers.")
    trash = f"/v1/trash/{probe.known['document']}"
    want(await probe.send("DELETE", trash, headers=headers), (200, 204), f"Purge {trash} by hand.")
