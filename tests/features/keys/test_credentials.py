"""API keys as credentials."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from app.features.keys import service
from app.kit.errors import InvalidRequest, NotFound
from tests.contract.requirements import proves
from tests.support.factories import Make


@proves("ERR-401-FAST")
async def test_a_revocation_holds_on_every_instance_within_five_seconds(alice, make, twin):
    key = await make.key(alice)
    clients = [make.client(key), Make(twin, None).client(key)]
    for client in clients:
        assert (await client.get("/v1/user/me")).status_code == 200
    await make.revoke(key)
    started = time.monotonic()
    while {(await client.get("/v1/user/me")).status_code for client in clients} != {401}:
        assert time.monotonic() - started < 5
        await asyncio.sleep(0.1)


async def test_a_key_is_valid_until_it_expires_also_when_it_is_cached(alice, make):
    client = make.client(await make.key(alice, expires_at=datetime.now(UTC) + timedelta(seconds=1.5)))
    assert (await client.get("/v1/user/me")).status_code == 200
    started = time.monotonic()
    while (await client.get("/v1/user/me")).status_code != 401:
        assert time.monotonic() - started < 6
        await asyncio.sleep(0.1)


async def test_the_scheme_is_read_whatever_its_case(alice, http):
    for scheme in ("API-Key", "api-key", "Api-KEY"):
        answer = await http.get("/v1/user/me", headers={"authorization": f"{scheme} {alice.key}"})
        assert answer.status_code == 200


async def test_a_right_public_id_with_a_wrong_secret_is_refused(alice, make):
    public_id = alice.key.split("_")[1]
    assert (await make.client(f"gm_{public_id}_{'0' * 36}").get("/v1/user/me")).status_code == 401


async def test_write_implies_read_and_nothing_else(alice, make):
    client = make.client(await make.key(alice, scopes=("documents.write",)))
    assert (await client.get("/v1/documents")).status_code == 200
    client = make.client(await make.key(alice, scopes=("documents.read",)))
    assert (await client.post("/v1/documents", json={"title": "T", "content": "c"})).status_code == 403


async def test_a_viewer_reads(alice, make):
    viewer = await make.member(alice.workspace_id, "viewer")
    made = await make.document(alice.client)
    assert (await viewer.client.get(f"/v1/documents/{made['id']}")).status_code == 200


async def test_a_member_who_left_has_no_credential_any_more(alice, make, sql):
    member = await make.member(alice.workspace_id, "member")
    await sql.execute("DELETE FROM memberships WHERE user_id = $1 AND workspace_id = $2", member.id, alice.workspace_id)
    assert (await member.client.get("/v1/documents")).status_code == 401


async def test_only_the_digest_of_a_secret_is_stored(alice, sql):
    _, public_id, secret = alice.key.split("_")
    row = await sql.fetchrow("SELECT * FROM credentials WHERE public_id = $1", public_id)
    assert secret not in str(dict(row))
    assert len(row["secret_hash"]) == 32


async def test_a_created_key_works_at_once(alice, make, database):
    made = await service.create_key(database, alice.email.upper(), ["documents.read", "documents.read"], "second")
    assert made["scopes"] == ["documents.read"]
    assert (await make.client(made["apiKey"]).get("/v1/documents")).status_code == 200


@pytest.mark.parametrize("scopes", [[], ["documents.delete"], ["documents.read", ""]])
async def test_a_key_of_unknown_scopes_is_not_made(alice, database, scopes):
    with pytest.raises(InvalidRequest):
        await service.create_key(database, alice.email, scopes, "bad")


async def test_a_key_of_an_unknown_user_is_not_made(database):
    with pytest.raises(NotFound):
        await service.create_key(database, "nobody@example.test", ["documents.read"], "bad")
