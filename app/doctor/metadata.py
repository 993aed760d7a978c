"""What clients read before they sign in: RFC 9728 of the resources, RFC 8414 of the authorization server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.doctor.probe import PUBLIC_URL_DIFFERS, Failed, Probe, Skipped, want_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

RESOURCE = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"
_LET_THROUGH = "Let the proxy pass on everything below /.well-known/ and each surface's own /.well-known/ unchanged."


def resource(form: str, path: str) -> Callable[[Probe], Awaitable[None]]:
    """Make the step that reads one form of a resource's metadata."""

    async def step(probe: Probe) -> None:
        check_resource(probe, want_json(await probe.send("GET", RESOURCE + form), otherwise=_LET_THROUGH), path)

    return step


def check_resource(probe: Probe, found: dict[str, Any], path: str) -> None:
    """Compare a document with the address that was typed; clients compare byte for byte.

    Raises:
        Failed: it is of another resource, or incomplete.
    """
    named, expected = found.get("resource"), probe.base + path
    if named != expected:
        slash = isinstance(named, str) and named.rstrip("/") == expected
        raise Failed(
            f"`resource` is {named!r}, not {expected!r}.",
            "Clients compare it byte for byte: take the slash off its end." if slash else PUBLIC_URL_DIFFERS,
        )
    servers = found.get("authorization_servers")
    if not isinstance(servers, list) or not servers or not isinstance(servers[0], str):
        raise Failed("`authorization_servers` names nobody.", "Without it no client knows where to sign in.")
    if "header" not in found.get("bearer_methods_supported", ["header"]):
        raise Failed("`bearer_methods_supported` lacks header.", "Clients send tokens in the Authorization header.")
    probe.known.setdefault("issuer", servers[0])


def is_elsewhere(probe: Probe) -> bool:
    """Tell whether tokens come from another service, on purpose."""
    named = probe.known.get("issuer")
    return named is not None and not probe.is_ours(named)


def server(form: str) -> Callable[[Probe], Awaitable[None]]:
    """Make the step that reads one form of the authorization server's metadata."""

    async def step(probe: Probe) -> None:
        _here(probe)
        found = want_json(await probe.send("GET", form), otherwise=_LET_THROUGH)
        if found.get("issuer") is None:
            raise Failed("There is no `issuer` in it.", _LET_THROUGH)
        first = probe.known.setdefault("server", found)
        if first != found:
            raise Failed("The forms of the metadata differ.", "A proxy or a cache serves an older document; empty it.")

    return step


def _here(probe: Probe) -> None:
    if is_elsewhere(probe):
        raise Skipped(f"tokens are issued by {probe.known['issuer']}, which is not examined from here")


def _server(probe: Probe) -> dict[str, Any]:
    _here(probe)
    if "server" not in probe.known:
        raise Skipped("there is no metadata of the authorization server to read")
    found: dict[str, Any] = probe.known["server"]
    return found


async def issuer(probe: Probe) -> None:
    """One issuer everywhere, byte for byte, and every endpoint below it."""
    found = _server(probe)
    named = found["issuer"]
    if named != probe.base:
        slash = isinstance(named, str) and named.rstrip("/") == probe.base
        advice = "Clients compare it byte for byte: take the slash off its end." if slash else PUBLIC_URL_DIFFERS
        raise Failed(f"`issuer` is {named!r}, not {probe.base!r}.", advice)
    if probe.known.get("issuer", named) != named:
        raise Failed(f"The resources name the issuer {probe.known['issuer']!r}.", "Both documents must name the same.")
    for name in ("authorization_endpoint", "token_endpoint"):
        if not probe.is_ours(str(found.get(name, ""))):
            raise Failed(f"`{name}` is {found.get(name)!r}.", PUBLIC_URL_DIFFERS)


def lists(name: str, value: str, why: str) -> Callable[[Probe], Awaitable[None]]:
    """Make the step that looks for a value in a list of the metadata."""

    async def step(probe: Probe) -> None:
        found = _server(probe).get(name)
        if not isinstance(found, list) or value not in found:
            raise Failed(f"`{name}` is {found!r}, without {value}.", why)

    return step


def flag(name: str, why: str) -> Callable[[Probe], Awaitable[None]]:
    """Make the step that looks for a flag of the metadata."""

    async def step(probe: Probe) -> None:
        found = _server(probe).get(name)
        if found is not True:
            raise Failed(f"`{name}` is {found!r}.", why)

    return step


async def registration_endpoint(probe: Probe) -> None:
    """There is an address to register at."""
    found = str(_server(probe).get("registration_endpoint", ""))
    if not probe.is_ours(found):
        raise Failed(f"`registration_endpoint` is {found!r}.", f"Most clients need it. {PUBLIC_URL_DIFFERS}")


def endpoint(probe: Probe, name: str) -> str:
    """Give an endpoint for the steps that call it; Skipped where the metadata names none of ours."""
    found = str(_server(probe).get(name, ""))
    if not probe.is_ours(found):
        raise Skipped(f"the metadata names no {name} below {probe.base}")
    return found
