"""Whether the service is there at all."""

from __future__ import annotations

from app.doctor.probe import LOOPBACK, Failed, Probe, likely, want


async def reachable(probe: Probe) -> None:
    """Connect, over TLS where the address is not this machine's."""
    reply = await probe.send("GET", "/livez")
    if reply.is_redirect:
        raise Failed(f"{probe.base} redirects.", likely(reply))
    if not probe.is_safe:
        raise Failed(
            "The address is plain http beyond this machine.",
            f"Clients sign in over https only (or on {', '.join(sorted(LOOPBACK))}): put a proxy with a certificate in "
            "front of the service, and set PUBLIC_URL to its https address.",
        )


async def livez(probe: Probe) -> None:
    """Ask whether the process serves requests."""
    reply = await probe.send("GET", "/livez")
    want(reply, (200,))
    if reply.text.strip() != "ok":
        raise Failed("/livez does not say ok.", likely(reply, "Another program answers at this address."))


async def readyz(probe: Probe) -> None:
    """Ask whether the stores behind it answer."""
    reply = await probe.send("GET", "/readyz")
    want(reply, (200,), "The database is away or of another version: read the answer and the service's log.")
