"""The steps in their order, and how they are run: none stops the others."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from app.doctor import authorization, credential, metadata, reach, surfaces
from app.doctor.probe import Failed, Probe, Skipped

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

_CLEANUP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Step:
    """One question with a yes or a no."""

    name: str
    title: str
    run: Callable[[Probe], Awaitable[None]]
    cleans: bool = False
    """It takes back what an earlier step made, and so runs even when the time is over."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step found: `pass`, `fail` or `skip`; what was sent and what came back, without secrets."""

    name: str
    title: str
    status: str
    message: str = ""
    advice: str = ""
    sent: list[str] = field(default_factory=list)
    got: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Give it for JSON."""
        return asdict(self)


NOTHING_ANSWERS = "nothing answers at this address"
"""Why the other steps are skipped when the first got no answer at all."""
_S256 = "Clients must refuse a server that does not announce PKCE with S256."
_NONE = "Programs on people's machines keep no secret; without `none` they do not try."
_CIMD = "Clients with a metadata document of their own (CIMD) would register anew each time."
_ISS = "Clients cannot tell answers of several servers apart without it (RFC 9207)."

STEPS: tuple[Step, ...] = (
    Step("reachable", "The address answers (over TLS, or on this machine)", reach.reachable),
    Step("livez", "The process is alive (/livez)", reach.livez),
    Step("readyz", "The service is ready (/readyz)", reach.readyz),
    Step("resource-root", "Resource metadata, root form", metadata.resource("", "/mcp")),
    Step("resource-mcp", "Resource metadata of /mcp", metadata.resource("/mcp", "/mcp")),
    Step("resource-grok-mcp", "Resource metadata of /grok-mcp", metadata.resource("/grok-mcp", "/grok-mcp")),
    Step("resource-mcp-all", "Resource metadata of /mcp/all", metadata.resource("/mcp/all", "/mcp/all")),
    Step("resource-v1", "Resource metadata of /v1", metadata.resource("/v1", "/v1")),
    Step("server-root", "Authorization server metadata, root form", metadata.server(metadata.SERVER)),
    Step("server-inserted", "Authorization server metadata, path inserted", metadata.server(f"{metadata.SERVER}/mcp")),
    Step("server-suffixed", "Authorization server metadata, path first", metadata.server(f"/mcp{metadata.SERVER}")),
    Step("issuer", "One issuer everywhere", metadata.issuer),
    Step("pkce", "PKCE with S256 is announced", metadata.lists("code_challenge_methods_supported", "S256", _S256)),
    Step(
        "public-clients",
        "Clients without a secret are welcome",
        metadata.lists("token_endpoint_auth_methods_supported", "none", _NONE),
    ),
    Step("registration-endpoint", "Registration is announced", metadata.registration_endpoint),
    Step("cimd", "Clients' own documents are accepted", metadata.flag("client_id_metadata_document_supported", _CIMD)),
    Step("iss", "Answers name the issuer", metadata.flag("authorization_response_iss_parameter_supported", _ISS)),
    Step("list-legacy", "Tools are listed without a credential (2025-11-25)", surfaces.list_legacy),
    Step("list-modern", "Tools are listed without a credential (2026-07-28)", surfaces.list_modern),
    Step("grok-refused", "/grok-mcp asks for a credential first", surfaces.grok),
    Step("call-refused", "A tool call without a credential is refused with a challenge", surfaces.call_refused),
    Step("challenge-answers", "The address in the challenge answers", surfaces.challenge_answers),
    Step("authorization-header", "The Authorization header arrives", surfaces.credential_arrives),
    Step("get-refused", "GET on /mcp is answered 405", surfaces.get_refused),
    Step("stale-session", "A stale Mcp-Session-Id is answered", surfaces.stale_session),
    Step("json-only", "JSON alone is enough in Accept", surfaces.json_only),
    Step("trailing-slash", "/mcp/ works without a redirect", surfaces.trailing_slash),
    Step("cors", "Pages may ask (CORS preflight)", surfaces.preflight),
    Step("register", "A client can register", authorization.register),
    Step("authorize-without-pkce", "Authorization without PKCE is refused", authorization.without_pkce),
    Step("authorize-plain", "Authorization with plain PKCE is refused", authorization.plain_pkce),
    Step("authorize-wrong-redirect", "A wrong redirect address is refused with 400", authorization.wrong_redirect),
    Step("token-error", "The token endpoint's errors have their form", authorization.token_error),
    Step("refresh-garbage", "An unknown refresh token is invalid_grant", authorization.refresh_garbage),
    Step("unregister", "The registration can be deleted", authorization.unregister, cleans=True),
    Step("key-rest", "The API key works over REST", credential.me),
    Step("key-legacy", "The API key calls a tool (2025-11-25)", credential.tool_legacy),
    Step("key-modern", "The API key calls a tool (2026-07-28)", credential.tool_modern),
    Step("document-create", "A document can be created", credential.create),
    Step("document-read", "It can be read", credential.read),
    Step("document-delete", "It can be deleted", credential.delete, cleans=True),
)


async def examine(probe: Probe, seconds: float = 120.0, steps: Iterable[Step] = STEPS) -> list[Outcome]:
    """Run the steps one after the other; what is not begun in time is skipped, but for cleaning up.

    Where nothing answers at all, the first step says so and the others are skipped.
    """
    ends = time.monotonic() + seconds
    first, *others = steps
    outcomes = [await _outcome(first, probe, ends)]
    if outcomes[0].status == "fail" and probe.sent and not probe.got:
        return outcomes + [Outcome(step.name, step.title, "skip", NOTHING_ANSWERS) for step in others]
    return outcomes + [await _outcome(step, probe, ends) for step in others]


async def _outcome(step: Step, probe: Probe, ends: float) -> Outcome:
    probe.sent, probe.got = [], []
    left = max(ends - time.monotonic(), _CLEANUP_SECONDS if step.cleans else 0.0)
    if left <= 0:
        return _made(step, probe, "skip", "there was no time left", "")
    try:
        async with asyncio.timeout(left):
            await step.run(probe)
    except Skipped as reason:
        return _made(step, probe, "skip", str(reason), "")
    except Failed as failure:
        return _made(step, probe, "fail", failure.message, failure.advice)
    except TimeoutError:
        return _made(step, probe, "fail", "The time was over.", "The service answers slowly; run it again.")
    except Exception as error:  # noqa: BLE001  a strange answer must not hide the other steps
        message = f"The answer could not be understood ({type(error).__name__})."
        return _made(step, probe, "fail", message, "Another program may answer at this address.")
    return _made(step, probe, "pass", "", "")


def _made(step: Step, probe: Probe, status: str, message: str, advice: str) -> Outcome:
    return Outcome(step.name, step.title, status, message, advice, probe.sent, probe.got)
