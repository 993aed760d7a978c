"""Leases as text for models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.leases.schemas import State
from app.kit.wording import moment

if TYPE_CHECKING:
    from app.features.leases.schemas import ChangeLease, HeldLease
    from app.kit.schema import One


def lease(result: One[HeldLease], args: ChangeLease) -> str:
    """Tell a holder what the lease is now, and what goes with each write."""
    held = result.data
    if held.state is State.RELEASED:
        return f"Released the lease of document {args.document_id}."
    return "\n".join(
        [
            f"You hold the lease of {args.document_id} until {moment(held.expires_at)} ({held.ttl_seconds} s).",
            f"Lease ID: {held.lease_id}",
            f"Fence: {held.fence}",
            "Send both with each write, with its expectedRevision and an idempotencyKey; renew before the lease ends.",
        ]
    )
