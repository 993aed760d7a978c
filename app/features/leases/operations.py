"""Coordination of a document: its policy and its lease (contract: operations 17 to 20)."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from app.features.documents.errors import DocumentNotFound, LeaseLost
from app.features.leases import queries
from app.features.leases.errors import CoordinationMismatch, LeaseHeld, LeaseNotEnabled, PolicyOwnerRequired
from app.features.leases.schemas import (
    DEFAULT_SECONDS,
    Action,
    ChangeLease,
    ClearPolicy,
    Coordination,
    GetCoordination,
    HeldLease,
    LeaseView,
    Policy,
    SetPolicy,
    State,
)
from app.gate.operation import Context, command, query
from app.gate.policy import Rate, Role, Scope
from app.kit.errors import InvalidRequest, PreconditionRequired
from app.kit.revision import strong_tags
from app.kit.schema import One
from app.kit.secrets import Token

if TYPE_CHECKING:
    from uuid import UUID

    import asyncpg

_POLICY_REFUSALS = (DocumentNotFound, PolicyOwnerRequired, CoordinationMismatch, PreconditionRequired)


@query("coordination.get", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(DocumentNotFound,))
async def get_coordination(ctx: Context, args: GetCoordination) -> One[Coordination]:
    """Read a document's policy and its live lease: its fence, since when and until when, never its id."""
    row = await ctx.hot(queries.GET, args.document_id)
    if row is None:
        raise DocumentNotFound
    return One(data=_coordination(ctx, args.document_id, row))


@command("coordination.set", scope=Scope.DOCUMENTS_WRITE, rate=Rate.API, raises=_POLICY_REFUSALS)
async def set_policy(ctx: Context, args: SetPolicy) -> One[Coordination]:
    """Require a lease of every write of a document; for owners of the workspace and the document's creator.

    `If-Match` must name the document's current ETag, or the coordination's.
    """
    return await _set(ctx, args, args.policy)


@command("coordination.clear", scope=Scope.DOCUMENTS_WRITE, rate=Rate.API, raises=_POLICY_REFUSALS)
async def clear_policy(ctx: Context, args: ClearPolicy) -> One[Coordination]:
    """Return a document to standard mode: a live lease ends, and the fence stays what it is.

    `If-Match` must name the document's current ETag, or the coordination's.
    """
    return await _set(ctx, args, Policy.STANDARD)


async def _set(ctx: Context, args: SetPolicy | ClearPolicy, policy: Policy) -> One[Coordination]:
    tags = strong_tags(args.if_match or "")
    row = await queries.set_policy(ctx, args.document_id, policy, tags, owner=ctx.principal.role is Role.OWNER)
    if row["outcome"] == "absent":
        raise DocumentNotFound
    if row["outcome"] == "forbidden":
        raise PolicyOwnerRequired
    if row["outcome"] == "mismatch" and not tags:
        msg = "Send If-Match with the current ETag of the document or of its coordination."
        raise PreconditionRequired(msg)
    if row["outcome"] == "mismatch":
        raise CoordinationMismatch(row["revision"], f'"{row["tag"]}"')
    if row["outcome"] == "written":
        ctx.emit(f"document.policy.{policy.value}", args.document_id, row["revision"])
    return One(data=_coordination(ctx, args.document_id, row))


@command(
    "leases.change",
    scope=Scope.DOCUMENTS_WRITE,
    rate=Rate.API,
    raises=(DocumentNotFound, LeaseNotEnabled, LeaseHeld, LeaseLost, PreconditionRequired),
    needs_key=True,
)
async def change_lease(ctx: Context, args: ChangeLease) -> One[HeldLease]:
    """Acquire, renew or release the lease of a managed document; needs an `Idempotency-Key`.

    Each lease comes with a fence that only grows: a write with an earlier lease is refused from then on.
    """
    lease_id = _lease_id(args)
    seconds = args.ttl_seconds or (DEFAULT_SECONDS if args.action is Action.ACQUIRE else None)
    row = await queries.change_lease(ctx, args, Token(lease_id).digest(), seconds)
    outcome = row["outcome"]
    if outcome == "absent":
        raise DocumentNotFound
    if outcome == "standard":
        raise LeaseNotEnabled
    if outcome == "held":
        raise LeaseHeld(row["expires_at"], row["seconds"])
    if outcome == "lost":
        raise LeaseLost
    ctx.emit(f"document.lease.{args.action.value}", args.document_id, row["revision"])
    return One(
        data=HeldLease(
            lease_id=lease_id,
            fence=row["fence"],
            ttl_seconds=row["ttl"],
            expires_at=row["expires_at"],
            state=State(outcome),
        )
    )


def _coordination(ctx: Context, document_id: UUID, row: asyncpg.Record) -> Coordination:
    lease = None
    if row["live"]:
        lease = LeaseView(
            held_by_caller=row["lease_grant"] == ctx.principal.grant_id,
            fence=row["fence"],
            acquired_at=row["granted_at"],
            expires_at=row["expires_at"],
        )
    return Coordination(
        document_id=document_id, policy=Policy(row["policy"]), revision=row["revision"], lease=lease, tag=row["tag"]
    )


def _lease_id(args: ChangeLease) -> str:
    """Give the id that is shown, or a new one to acquire with."""
    if args.action is Action.ACQUIRE:
        if args.lease_id is not None:
            msg = "acquire makes a new lease; leave X-ContextRepo-Lease-Id and X-ContextRepo-Lease-Fence out."
            raise InvalidRequest(msg)
        return f"lse_{secrets.token_urlsafe(24)}"
    if args.lease_id is None:
        msg = f"{args.action.value} needs X-ContextRepo-Lease-Id and X-ContextRepo-Lease-Fence."
        raise PreconditionRequired(msg)
    return args.lease_id
