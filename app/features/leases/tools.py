"""MCP faces of leases; they stand on the surface with every tool alone."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.edge.mcp.tool import CREATES, DELETES, UPDATES, Tool
from app.features.leases import operations, text
from app.features.leases.schemas import Action, ChangeLease
from app.kit.guarded import Fence
from app.kit.schema import RestOnly

_LeaseId = Annotated[str, Field(max_length=200, description="`leaseId`, from acquire_lease.")]
_Fence = Annotated[Fence, Field(description="`fence` of the lease.")]


class AcquireLease(ChangeLease):
    """Whose lease to acquire."""

    action: Annotated[Literal[Action.ACQUIRE], RestOnly(), Field(default=Action.ACQUIRE)]


class RenewLease(ChangeLease):
    """Which lease to renew."""

    action: Annotated[Literal[Action.RENEW], RestOnly(), Field(default=Action.RENEW)]
    lease_id: _LeaseId
    lease_fence: _Fence


class ReleaseLease(ChangeLease):
    """Which lease to release."""

    action: Annotated[Literal[Action.RELEASE], RestOnly(), Field(default=Action.RELEASE)]
    lease_id: _LeaseId
    lease_fence: _Fence
    ttl_seconds: Annotated[None, RestOnly(), Field(default=None)]


TOOLS = [
    Tool(
        101,
        "acquire_lease",
        "Acquire lease",
        "Become the only writer of a lease-managed document for a time: gives a lease id and a fence for its writes. "
        "Read the document afterwards. On LEASE_HELD wait as long as it says; release when done.",
        operations.change_lease,
        CREATES,
        text.lease,
        narrowed=AcquireLease,
        wide=True,
    ),
    Tool(
        102,
        "renew_lease",
        "Renew lease",
        "Hold a lease longer, before it ends. On LEASE_LOST it is over: read the document again, acquire anew, "
        "and redo what is not there.",
        operations.change_lease,
        UPDATES,
        text.lease,
        narrowed=RenewLease,
        wide=True,
    ),
    Tool(
        103,
        "release_lease",
        "Release lease",
        "Let others write as soon as you are done; releasing twice is no error.",
        operations.change_lease,
        DELETES,
        text.lease,
        narrowed=ReleaseLease,
        wide=True,
    ),
]
