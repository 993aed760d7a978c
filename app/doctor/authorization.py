"""The authorization server, as far as it can be tried without a person."""

from __future__ import annotations

import base64
import secrets
from urllib.parse import parse_qs, urlsplit

from app.doctor.metadata import endpoint
from app.doctor.probe import Failed, Probe, Reply, Skipped, likely, want, want_json

REDIRECT = "http://127.0.0.1:33418/callback"
_WRONG_REDIRECT = "https://attacker.example/callback"
_SERVICE_FAULT = "This is the service's own fault, or a proxy answers in its place: update it, and report this."


async def register(probe: Probe) -> None:
    """Register a client (RFC 7591)."""
    body = {
        "client_name": "ctx doctor",
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    reply = await probe.send("POST", endpoint(probe, "registration_endpoint"), body=body)
    found = want_json(reply, (201,), "Clients without a document of their own need registration.")
    if not isinstance(found.get("client_id"), str):
        raise Failed("There is no `client_id`.", _SERVICE_FAULT)
    probe.known["client"] = found
    missing = [name for name in ("registration_client_uri", "registration_access_token") if name not in found]
    if missing:
        raise Failed(f"There is no `{missing[0]}`.", "Some clients give up without it (RFC 7592).")
    if "client_secret" in found:
        raise Failed("A public client was given a secret.", _SERVICE_FAULT)


def _client(probe: Probe) -> str:
    if "client" not in probe.known:
        raise Skipped("no client could be registered")
    return str(probe.known["client"]["client_id"])


async def _authorize(probe: Probe, changes: dict[str, str]) -> Reply:
    challenge = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    params = {
        "response_type": "code",
        "client_id": _client(probe),
        "redirect_uri": REDIRECT,
        "state": "doctor",
        "resource": f"{probe.base}/mcp",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    } | changes
    kept = {name: value for name, value in params.items() if value}
    return await probe.send("GET", endpoint(probe, "authorization_endpoint"), params=kept)


def _want_refusal(reply: Reply, what: str) -> None:
    """Take a page with 400, or an error sent to the registered address, as a refusal."""
    if reply.is_redirect:
        there = urlsplit(reply.headers.get("location", ""))
        if reply.headers["location"].startswith(REDIRECT) and "error" in parse_qs(there.query):
            return
        raise Failed(f"A request {what} is not refused.", _SERVICE_FAULT if _leads_on(reply) else likely(reply))
    want(reply, (400,), _SERVICE_FAULT)


def _leads_on(reply: Reply) -> bool:
    return "sign-in" in reply.headers.get("location", "")


async def without_pkce(probe: Probe) -> None:
    """Ask without a code challenge, and be refused."""
    _want_refusal(
        await _authorize(probe, {"code_challenge": "", "code_challenge_method": ""}), "without a code challenge"
    )


async def plain_pkce(probe: Probe) -> None:
    """Ask with a code challenge in plain text, and be refused."""
    _want_refusal(await _authorize(probe, {"code_challenge_method": "plain"}), "with a plain code challenge")


async def wrong_redirect(probe: Probe) -> None:
    """Name an address that was not registered: a page with 400, never a redirect."""
    reply = await _authorize(probe, {"redirect_uri": _WRONG_REDIRECT})
    if reply.is_redirect:
        raise Failed("The service redirects although the address is not the client's.", _SERVICE_FAULT)
    want(reply, (400,), _SERVICE_FAULT)


async def token_error(probe: Probe) -> None:
    """Expect errors in the form of RFC 6749, which no cache keeps."""
    form = {"grant_type": "no-such-grant", "client_id": _client(probe)}
    reply = await probe.send("POST", endpoint(probe, "token_endpoint"), form=form)
    found = want_json(reply, (400,), _SERVICE_FAULT)
    if found.get("error") != "unsupported_grant_type":
        raise Failed(f"`error` is {found.get('error')!r}, not 'unsupported_grant_type'.", likely(reply, _SERVICE_FAULT))
    if "no-store" not in reply.headers.get("cache-control", ""):
        raise Failed("The answer may be cached.", "A proxy drops Cache-Control: no-store.")


async def refresh_garbage(probe: Probe) -> None:
    """Expect `invalid_grant` for an unknown refresh token, so that clients sign in again instead of trying on."""
    form = {"grant_type": "refresh_token", "refresh_token": "ctx-doctor-garbage", "client_id": _client(probe)}
    reply = await probe.send("POST", endpoint(probe, "token_endpoint"), form=form)
    found = want_json(reply, (400,), _SERVICE_FAULT)
    if found.get("error") != "invalid_grant":
        raise Failed(f"`error` is {found.get('error')!r}, not 'invalid_grant'.", _SERVICE_FAULT)


async def unregister(probe: Probe) -> None:
    """Read the registration and delete it again (RFC 7592)."""
    _client(probe)
    client = probe.known["client"]
    url, token = client.get("registration_client_uri"), client.get("registration_access_token")
    if not isinstance(url, str) or not isinstance(token, str):
        raise Skipped("the registration gave no address to manage it")
    headers = {"authorization": f"Bearer {token}"}
    want_json(await probe.send("GET", url, headers=headers), otherwise=_SERVICE_FAULT)
    want(await probe.send("DELETE", url, headers=headers), (204,), "The proxy must pass DELETE on to the service.")
    want(await probe.send("GET", url, headers=headers), (401, 403), _SERVICE_FAULT)
