"""The backup that deploy/README.md names."""

from __future__ import annotations

import asyncio

from app.store.embedded.account import Runner


async def test_a_dump_as_the_system_role_holds_every_tenants_documents(settings, alice, bob, make):
    for user, title in ((alice, "Kept for Alice"), (bob, "Kept for Bob")):
        await make.document(user.client, title=title)
    binary = Runner(None).postgres_folder() / "pg_dump"
    process = await asyncio.create_subprocess_exec(
        binary,
        "--enable-row-security",
        settings.database_system_url,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    dump, said = await process.communicate()
    assert process.returncode == 0, said.decode()
    assert b"Kept for Alice" in dump
    assert b"Kept for Bob" in dump
