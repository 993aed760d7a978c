"""Makes what tests need: users in workspaces of their own, keys, plans, documents."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2

from app.features.accounts import service as accounts
from app.features.exports import service as exports
from app.features.indexing.service import index_workspace
from app.gate.policy import Scope
from app.kit.ids import new_id
from app.kit.secrets import Token, new_api_key
from app.store.postgres import Database
from tests.support.indexing import Mute
from tests.support.service import BASE_URL, client_of

ALL_SCOPES = tuple(scope.value for scope in Scope)

_INSERT_KEY = """
INSERT INTO credentials (public_id, secret_hash, grant_id, workspace_id, user_id, name, scopes, expires_at,
                         collection_ids)
VALUES ($1, $2, $3, $4, $5, 'test', $6, $7, $8)
"""
_REVOKE_KEY = "UPDATE credentials SET revoked_at = clock_timestamp() WHERE public_id = $1"
_INSERT_MEMBER = "INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, $3)"
_INSERT_SESSION = """
INSERT INTO browser_sessions (id, token_hash, user_id, workspace_id, created_at, last_seen_at, expires_at, revoked_at)
SELECT $1, $2, $3, $4, now() - $5::text::interval, now() - $6::text::interval,
       now() - $5::text::interval + interval '90 days', CASE WHEN $7 THEN now() END
"""
_SET_PLAN = """
INSERT INTO subscriptions (workspace_id, plan, trial_ends_at) VALUES ($1, $2, $3)
ON CONFLICT (workspace_id) DO UPDATE SET plan = excluded.plan, trial_ends_at = excluded.trial_ends_at
"""


@dataclass(frozen=True)
class User:
    """A user with a personal workspace, a key with all scopes, and a client that sends it."""

    id: UUID
    workspace_id: UUID
    email: str
    key: str
    client: httpx2.AsyncClient = field(repr=False)


class Make:
    """`await make.user()` and so on; one per running service."""

    def __init__(self, app: Any, database: Database) -> None:
        self._app = app
        self._database = database

    async def user(self, scopes: tuple[str, ...] = ALL_SCOPES) -> User:
        """Make a user with a workspace and a key."""
        email = f"{secrets.token_hex(6)}@example.test"
        row = await accounts.create_user(self._database, email)
        user_id, workspace_id = UUID(row["userId"]), UUID(row["workspaceId"])
        key = await self._insert_key(user_id, workspace_id, scopes, None)
        return User(user_id, workspace_id, email, key, self.client(key))

    async def member(self, workspace_id: UUID, role: str) -> User:
        """Make another user who is a member of an existing workspace; the key is bound to it."""
        row = await accounts.create_user(self._database, f"{secrets.token_hex(6)}@example.test")
        user_id = UUID(row["userId"])
        await self._database.system_rows(_INSERT_MEMBER, workspace_id, user_id, role)
        key = await self._insert_key(user_id, workspace_id, ALL_SCOPES, None)
        return User(user_id, workspace_id, row["email"], key, self.client(key))

    async def key(self, user: User, *, scopes: tuple[str, ...] = ALL_SCOPES, expires_at: datetime | None = None) -> str:
        """Make a further key of a user; returns its text."""
        return await self._insert_key(user.id, user.workspace_id, scopes, expires_at)

    async def restricted(self, user: User, *collections: str, scopes: tuple[str, ...] = ALL_SCOPES) -> User:
        """Give the user as the holder of a further key that is restricted to collections."""
        ids = [UUID(item) for item in collections]
        key = await self._insert_key(user.id, user.workspace_id, scopes, None, ids)
        return User(user.id, user.workspace_id, user.email, key, self.client(key))

    async def expired_key(self, user: User) -> str:
        """Make a key whose time is over."""
        return await self.key(user, expires_at=datetime.now(UTC) - timedelta(seconds=1))

    async def session(self, user: User, *, age: str = "0 s", idle: str = "0 s", revoked: bool = False) -> str:
        """Open a browser session of a user in the user's workspace; returns the cookie's text."""
        token = Token.new()
        values = (new_id(), token.digest(), user.id, user.workspace_id, age, idle, revoked)
        await self._database.system_rows(_INSERT_SESSION, *values)
        return token.text

    async def browser(self, user: User | None = None, cookie: str | None = None) -> httpx2.AsyncClient:
        """Make a client as a page of ours: with a session's cookie, and what browsers say of where they are."""
        if user is not None and cookie is None:
            cookie = await self.session(user)
        sent = {"cookie": f"session={cookie}"} if cookie else {}
        return self.client(**sent, **{"sec-fetch-site": "same-origin", "origin": BASE_URL})

    async def revoke(self, key: str) -> None:
        """Revoke a key."""
        await self._database.system_rows(_REVOKE_KEY, key.split("_")[1])

    async def plan(self, user: User, name: str | None, *, lapsed: bool = False) -> None:
        """Set the plan of a user's workspace; caches of credentials see it a few seconds later."""
        ends = datetime.now(UTC) - timedelta(seconds=1) if lapsed else None
        await self._database.system_rows(_SET_PLAN, user.workspace_id, name, ends)

    def client(self, key: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """Make a client of the service that sends a key, or none."""
        return client_of(self._app, f"API-Key {key}" if key else None, **headers)

    async def document(
        self, client: httpx2.AsyncClient, *, title: str = "A title", content: str = "Some text.", tags: Any = ()
    ) -> dict[str, Any]:
        """Create a document; returns its data with the entity tag as `etag`."""
        answer = await client.post("/v1/documents", json={"title": title, "content": content, "tags": list(tags)})
        assert answer.status_code == 201, answer.text
        return answer.json()["data"] | {"etag": answer.headers["etag"]}

    async def indexed(self, user: User) -> None:
        """Bring the index of a user's workspace up to date with a model that says nothing and takes no time."""
        while await index_workspace(self._database, Mute(), user.workspace_id):
            pass

    async def prompt(
        self, client: httpx2.AsyncClient, *, title: str = "A title", content: str = "Say ${what}.", **fields: Any
    ) -> dict[str, Any]:
        """Create a prompt; returns its data with the entity tag as `etag`."""
        sent = {"title": title, "description": "What it is for.", "content": content, **fields}
        answer = await client.post("/v1/prompts", json=sent)
        assert answer.status_code == 201, answer.text
        return answer.json()["data"] | {"etag": answer.headers["etag"]}

    async def collection(
        self, client: httpx2.AsyncClient, *, name: str = "A collection", items: Any = (), **fields: Any
    ) -> dict[str, Any]:
        """Create a collection with documents in it; returns its data with the entity tag as `etag`."""
        answer = await client.post("/v1/collections", json={"name": name} | fields)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()["data"] | {"etag": answer.headers["etag"]}
        if items:
            body = {"itemIds": list(items), "itemType": "document"}
            added = await client.post(f"/v1/collections/{made['id']}/items", json=body)
            assert added.status_code == 200, added.text
        return made

    async def export(self, user: User, export_id: str) -> None:
        """Do a worker's part of an export."""
        while await exports.work(self._database, user.workspace_id, UUID(export_id)):
            pass

    async def _insert_key(
        self,
        user_id: UUID,
        workspace_id: UUID,
        scopes: tuple[str, ...],
        expires_at: datetime | None,
        collections: list[UUID] | None = None,
    ) -> str:
        key = new_api_key()
        values = (key.public_id, key.secret_hash(), new_id(), workspace_id, user_id, list(scopes), expires_at)
        await self._database.system_rows(_INSERT_KEY, *values, collections)
        return key.text
