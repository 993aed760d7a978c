"""Row-level security, with the application's own predicate taken away."""

from __future__ import annotations

import re
from uuid import UUID

import asyncpg
import pytest

from app.features.documents import queries
from app.kit.ids import new_id
from tests.contract.requirements import proves
from tests.support.rows import tenant_tables

POOLS = ["write", "read"]


async def filled(make, user):
    """Make rows in many tables of a workspace."""
    made = await make.document(user.client, title="Secret", tags=["secret"])
    headers = {"idempotency-key": str(new_id())}
    await user.client.patch(f"/v1/documents/{made['id']}", json={"content": "more"}, headers=headers)
    return made


@proves("TENANT-RLS")
@pytest.mark.parametrize("role", POOLS)
async def test_a_tenant_sees_only_its_own_rows_in_any_table(alice, bob, make, database, sql, role):
    await filled(make, alice)
    await filled(make, bob)
    seen_any = set()
    for table in await tenant_tables(sql):
        opened = database.tx(bob.workspace_id) if role == "write" else database.snapshot(bob.workspace_id)
        async with opened as tx:
            rows = await tx.fetch(f"SELECT DISTINCT workspace_id FROM {table}")
        assert {row["workspace_id"] for row in rows} <= {bob.workspace_id}, table
        seen_any |= {table} if rows else set()
    assert {"documents", "contents", "document_tags", "document_revisions", "receipts", "events", "audit"} <= seen_any


@proves("TENANT-RLS")
@pytest.mark.parametrize("role", POOLS)
async def test_without_a_tenant_there_is_no_row(alice, make, database, sql, role):
    await filled(make, alice)
    async with getattr(database, role).acquire() as connection:
        for table in [*await tenant_tables(sql), "workspaces"]:
            assert await connection.fetchval(f"SELECT count(*) FROM {table}") == 0, table


async def test_partitions_are_fenced_themselves(alice, database, sql):
    parts = await sql.fetch("SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'")
    await sql.execute(
        "INSERT INTO postings VALUES ($1, 'simple', 'paragraph', 'term', $2, 1, 1)", alice.workspace_id, new_id()
    )
    async with database.read.acquire() as connection:
        assert sum([await connection.fetchval(f"SELECT count(*) FROM {row['relname']}") for row in parts]) == 0


async def test_a_foreign_row_cannot_be_written_changed_or_removed(alice, bob, make, database, sql):
    await filled(make, alice)
    async with database.tx(bob.workspace_id) as tx:
        assert await tx.execute("UPDATE documents SET title = 'Taken'") == "UPDATE 0"
        assert await tx.execute("DELETE FROM document_tags") == "DELETE 0"
    for statement in (
        "INSERT INTO contents (workspace_id, digest, content) VALUES ($1, 'x', 'x')",
        "INSERT INTO document_tags (workspace_id, tag, document_id) VALUES ($1, 'x', gen_random_uuid())",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with database.tx(bob.workspace_id) as tx:
                await tx.execute(statement, alice.workspace_id)


async def test_a_row_cannot_be_moved_to_another_tenant(alice, bob, make, database):
    await filled(make, bob)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with database.tx(bob.workspace_id) as tx:
            await tx.execute("UPDATE contents SET workspace_id = $1", alice.workspace_id)


async def test_the_reading_role_writes_nothing_even_when_it_asks_to(alice, database):
    async with database.read.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute("SET LOCAL transaction_read_only = off")
        await connection.execute(f"SET LOCAL app.workspace_id = '{alice.workspace_id}'")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("INSERT INTO contents VALUES ($1, 'x', 'x')", alice.workspace_id)
        await transaction.rollback()


async def test_a_snapshot_is_read_only(alice, database):
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        async with database.snapshot(alice.workspace_id) as tx:
            await tx.execute("CREATE TEMP TABLE x (y int)")


async def test_the_tables_owner_sees_no_row_either(alice, make, settings):
    await filled(make, alice)
    connection = await asyncpg.connect(settings.database_url)
    try:
        assert await connection.fetchval("SELECT count(*) FROM documents") == 0
    finally:
        await connection.close()


async def test_the_hot_read_of_a_foreign_document_finds_nothing(alice, bob, make, database):
    made = await filled(make, alice)
    assert await database.hot(queries.GET, bob.workspace_id, "*", made["id"], bob.id) is None
    assert (await database.hot(queries.GET, alice.workspace_id, "*", made["id"], alice.id))["title"] == "Secret"


@pytest.mark.parametrize("value", ["", "'; DROP TABLE documents; --", "x"])
async def test_a_workspace_that_is_no_uuid_is_refused_before_sql(database, value):
    with pytest.raises(TypeError):
        async with database.tx(value):
            pass


NARROWED = """
SELECT tablename FROM pg_policies WHERE policyname = 'collections' AND qual LIKE '%in_reach%' ORDER BY tablename
"""


async def rows_in(tx, table):
    return {row["row"] for row in await tx.fetch(f"SELECT t::text AS row FROM {table} t")}


@proves("KEY-COLLECTIONS")
async def test_a_snapshot_and_a_write_narrowed_to_a_collection_see_the_same_rows(alice, make, database, sql):
    kept, other = [await filled(make, alice) for _ in range(2)]
    prompts = [await make.prompt(alice.client, title=title) for title in ("Kept", "Other")]
    held = await make.collection(alice.client, name="Held", items=[kept["id"]])
    body = {"itemIds": [prompts[0]["id"]], "itemType": "prompt"}
    assert (await alice.client.post(f"/v1/collections/{held['id']}/items", json=body)).status_code == 200
    reach = [UUID(held["id"])]
    tables = [row["tablename"] for row in await sql.fetch(NARROWED)]
    seen = set()
    for table in tables:
        async with database.snapshot(alice.workspace_id) as tx:
            every = await rows_in(tx, table)
        async with database.snapshot(alice.workspace_id, reach) as tx:
            found = await rows_in(tx, table)
        async with database.tx(alice.workspace_id, collections=reach) as tx:
            assert await rows_in(tx, table) == found, table
        assert found == {row for row in every if other["id"] not in row and prompts[1]["id"] not in row}, table
        seen |= {table} if found else set()
    assert {"documents", "document_tags", "document_revisions", "prompts", "prompt_versions"} <= seen
    assert (await alice.client.delete(f"/v1/collections/{held['id']}")).status_code == 204
    for table in tables:
        async with database.snapshot(alice.workspace_id, reach) as tx:
            assert await rows_in(tx, table) == set(), table


async def test_a_snapshot_asks_once_what_a_collection_holds_and_not_of_each_row(alice, make, database, sql):
    for _ in range(3):
        made = await filled(make, alice)
    held = await make.collection(alice.client, name="Held", items=[made["id"]])
    for row in await sql.fetch(NARROWED):
        async with database.snapshot(alice.workspace_id, [UUID(held["id"])]) as tx:
            lines = await tx.fetch(f"EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM {row['tablename']}")
        plan = "\n".join(line[0] for line in lines)
        assert re.findall(r"ProjectSet .*?(loops=\d+|never executed)", plan) in (["loops=1"], ["never executed"]), plan
        assert "Output: reach_of(" in plan
