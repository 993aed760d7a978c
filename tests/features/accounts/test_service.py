"""Making users."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from app.features.accounts import service
from app.kit.errors import InvalidRequest


async def test_an_address_that_is_taken_gives_the_user_who_has_it(database):
    email = f"{secrets.token_hex(6)}@example.test"
    first = await service.create_user(database, email)
    again = await service.create_user(database, email.upper())
    assert (first["created"], again["created"]) == (True, False)
    assert (first["userId"], first["workspaceId"]) == (again["userId"], again["workspaceId"])


async def test_one_address_at_once_makes_one_user(database):
    email = f"{secrets.token_hex(6)}@example.test"
    made = await asyncio.gather(*[service.create_user(database, email) for _ in range(6)])
    assert len({row["userId"] for row in made}) == 1
    assert [row["created"] for row in made].count(True) == 1


@pytest.mark.parametrize("email", ["", "x", "@x", "x@", "a b@c", "a@b\n", "x" * 65 + "@example.test"])
async def test_a_text_that_is_no_address_is_refused(database, email):
    with pytest.raises(InvalidRequest):
        await service.create_user(database, email)
