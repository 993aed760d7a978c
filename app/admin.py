"""The administrator's composition root: users, keys, links, mail, on the database of a running service."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from app.features.accounts import service as accounts
from app.features.keys import service as keys
from app.features.mail import service as mail
from app.features.plans import service as subscriptions
from app.features.signin import service as signin
from app.gate.policy import Plans
from app.store import postgres

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from uuid import UUID

    from app.settings import Settings
    from app.store.postgres import Database


def create_user(settings: Settings, email: str) -> dict[str, Any]:
    """Create a user with a personal workspace, or return the one that is there."""
    return _run(settings, lambda database: accounts.create_user(database, email))


def create_key(
    settings: Settings, email: str, scopes: list[str], name: str, collection_ids: list[UUID] | None = None
) -> dict[str, Any]:
    """Create an API key for a user's personal workspace; the key is in the answer and nowhere else."""
    return _run(
        settings, lambda database: keys.create_key(database, email, scopes, name, collection_ids=collection_ids)
    )


def sign_in_link(settings: Settings, email: str) -> dict[str, Any]:
    """Create a one-time link with which a user sets a password and signs in."""
    return _run(settings, lambda database: signin.create_sign_in_link(database, settings.url, email))


def set_plan(settings: Settings, email: str, plan: str, trial_days: int | None) -> dict[str, Any]:
    """Give a user's personal workspace a plan, for some days or until another is set."""
    plans = Plans.load(settings.plans_file)
    return _run(settings, lambda database: subscriptions.set_plan(database, plans, email, plan, trial_days))


def outbox(settings: Settings) -> dict[str, Any]:
    """List the newest mails."""

    async def read(database: Database) -> dict[str, Any]:
        return {"mails": await mail.outbox(database)}

    return _run(settings, read)


def _run(settings: Settings, work: Callable[[Database], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        async with postgres.connected(settings) as database:
            return await work(database)

    return asyncio.run(main())
