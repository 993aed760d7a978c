"""Rules of API keys that other parts may call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.features.keys import queries
from app.gate.policy import Scope
from app.kit.errors import InvalidRequest, NotFound
from app.kit.ids import new_id
from app.kit.secrets import new_api_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from app.store.postgres import Database


async def mark_used(database: Database, used: dict[UUID, str | None]) -> None:
    """Write that keys were used just now, and by which clients."""
    await queries.mark_used(database, used)


async def create_key(
    database: Database,
    email: str,
    scopes: Sequence[str],
    name: str,
    *,
    expires_at: datetime | None = None,
    collection_ids: Sequence[UUID] | None = None,
) -> dict[str, Any]:
    """Create a key for a user's personal workspace, or for members of some of its collections alone.

    Its text is returned this once.

    Raises:
        InvalidRequest: no scope, or an unknown one.
        NotFound: there is no such user, or no such collection.
    """
    known = sorted(scope.value for scope in Scope)
    unknown = [scope for scope in scopes if scope not in known]
    if unknown or not scopes:
        msg = f"Unknown scope {unknown[0]!r}" if unknown else "Name at least one scope"
        raise InvalidRequest(f"{msg}; scopes are {', '.join(known)}.")
    key, grant_id = new_api_key(), new_id()
    row = await queries.insert_key(
        database,
        key,
        grant_id,
        email,
        name,
        sorted(set(scopes)),
        expires_at,
        sorted(set(collection_ids)) if collection_ids else None,
    )
    if row is None:
        msg = f"No user {email!r} was found; create it with `ctx admin create-user --email {email}`."
        raise NotFound(msg)
    if not row["made"]:
        msg = f"A collection was not found in the personal workspace of {email}; `GET /v1/collections` lists them."
        raise NotFound(msg)
    return {"apiKey": key.text, "scopes": sorted(set(scopes)), "workspaceId": str(row["workspace_id"])}
