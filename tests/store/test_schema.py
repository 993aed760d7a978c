"""The catalogue itself: every tenant table is fenced, and the workspace leads every key."""

from __future__ import annotations

import re
from pathlib import Path

from app.features.indexing.tables import DIMENSIONS, EF_CONSTRUCTION, SLOTS
from app.store import jobs
from app.store.base import GLOBAL_TABLES
from tests.contract.requirements import proves

APP = Path(__file__).parents[2] / "app"
APP_ROLES = ["app_read", "app_system", "app_write"]

INDEXES_FOR_ALL_TENANTS = {
    "receipts_created_at_idx": "retention deletes old receipts of all workspaces at once",
    **{
        f"vectors_near_{dim}_{slot}_idx": "an approximate index can have no other column"
        for dim in DIMENSIONS
        for slot in SLOTS
    },
}
"""Indexes of tenant tables that do not begin with the workspace, each with its reason."""

_TABLES = """
SELECT c.relname AS name, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced, c.relispartition AS part
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
"""
_POLICIES = "SELECT tablename, policyname, permissive, roles::text[] AS roles, cmd, qual, with_check FROM pg_policies"
_INDEXES = """
SELECT t.relname AS table_name, i.relname AS name, x.indisprimary AS is_primary, x.indisunique AS is_unique,
       (SELECT attname FROM pg_attribute WHERE attrelid = t.oid AND attnum = x.indkey[0]) AS first_column
  FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
 WHERE t.relnamespace = 'public'::regnamespace AND NOT t.relispartition
"""
_FOREIGN_KEYS = """
SELECT t.relname AS table_name, f.relname AS target, c.conname AS name,
       (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]) AS first_column,
       (SELECT attname FROM pg_attribute WHERE attrelid = c.confrelid AND attnum = c.confkey[1]) AS target_column,
       c.confdeltype::text AS on_delete
  FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class f ON f.oid = c.confrelid
 WHERE c.contype = 'f' AND t.relnamespace = 'public'::regnamespace
"""
TENANT = (
    "(workspace_id = ( SELECT (NULLIF(current_setting('app.workspace_id'::text, true), ''::text))::uuid AS \"nullif\"))"
)


async def fenced(sql):
    return [row for row in await sql.fetch(_TABLES) if row["name"] not in GLOBAL_TABLES]


async def tenant_names(sql):
    return {row["name"] for row in await fenced(sql)} - {"workspaces"}


@proves("TENANT-RLS")
async def test_every_tenant_table_has_row_security_enabled_and_forced(sql):
    open_tables = [row["name"] for row in await fenced(sql) if not (row["enabled"] and row["forced"])]
    assert open_tables == []
    assert len(await fenced(sql)) > 10


async def test_the_list_of_global_tables_names_no_table_that_is_gone(sql):
    assert GLOBAL_TABLES - {row["name"] for row in await sql.fetch(_TABLES)} == set()


@proves("TENANT-RLS")
async def test_every_tenant_table_has_exactly_the_two_policies_for_reading_and_writing(sql):
    policies = {}
    for row in await sql.fetch(_POLICIES):
        policies.setdefault(row["tablename"], {})[row["policyname"]] = row
    for table in await fenced(sql):
        found = policies[table["name"]]
        assert found.keys() - {"collections", "purge"} == {"tenant", "system"}, table["name"]
        expected = TENANT if table["name"] != "workspaces" else TENANT.replace("(workspace_id", "(id", 1)
        assert (found["tenant"]["roles"], found["system"]["roles"]) == (["public"], ["app_system"])
        assert found["tenant"]["qual"] == found["tenant"]["with_check"] == expected
        assert found["system"]["qual"] == found["system"]["with_check"] == "true"
        assert {found[name]["cmd"] for name in ("tenant", "system")} == {"ALL"}
        assert all(found[name]["permissive"] == "RESTRICTIVE" for name in found.keys() & {"collections", "purge"})


async def test_the_workspace_leads_every_key_and_index_of_a_tenant_table(sql):
    tenants = await tenant_names(sql)
    others = [
        row["name"]
        for row in await sql.fetch(_INDEXES)
        if row["table_name"] in tenants and row["first_column"] != "workspace_id"
    ]
    assert sorted(others) == sorted(INDEXES_FOR_ALL_TENANTS)


async def test_the_planner_takes_no_workspace_for_one_row(sql):
    sampled = await sql.fetch(
        "SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
        " WHERE c.relnamespace = 'public'::regnamespace AND a.attname = 'workspace_id' AND c.relkind IN ('r', 'p')"
        " AND a.attstattarget IS DISTINCT FROM 0"
    )
    names = {row["relname"] for row in sampled} & await tenant_names(sql)
    assert {name for name in names if re.fullmatch(r"(vectors|postings)(_p\d+)?", name) is None} == set()


async def test_approximate_indexes_link_what_comes_late_as_well_as_what_came_first(sql):
    is_leaf = "a.amname = 'hnsw' AND c.relkind = 'i'"
    rows = await sql.fetch(f"SELECT c.reloptions FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE {is_leaf}")
    assert len(rows) >= len(DIMENSIONS) * len(SLOTS)
    assert {tuple(row["reloptions"]) for row in rows} == {(f"ef_construction={EF_CONSTRUCTION}",)}


async def test_every_tenant_table_has_a_primary_key(sql):
    keyed = {row["table_name"] for row in await sql.fetch(_INDEXES) if row["is_primary"]}
    parents = {row["name"] for row in await fenced(sql) if not row["part"]}
    assert parents - keyed == set()


async def test_foreign_keys_of_tenant_tables_stay_inside_the_workspace(sql):
    tenants = await tenant_names(sql)
    for row in await sql.fetch(_FOREIGN_KEYS):
        if row["table_name"] in tenants:
            assert (row["first_column"], row["target_column"]) == ("workspace_id", "workspace_id"), row["name"]
            assert row["target"] in tenants
        assert row["on_delete"] == "a", f"{row['name']} cascades"


async def test_no_tenant_table_counts_with_a_sequence(sql):
    rows = await sql.fetch(
        "SELECT table_name, column_name FROM information_schema.columns"
        " WHERE table_schema = 'public' AND (column_default LIKE '%nextval%' OR is_identity = 'YES')"
    )
    assert {row["table_name"] for row in rows} & await tenant_names(sql) == set()


async def test_times_are_stored_with_their_zone(sql):
    rows = await sql.fetch(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND data_type IN"
        " ('timestamp without time zone', 'time without time zone')"
    )
    assert [row["table_name"] for row in rows] == []


async def test_the_services_roles_have_no_power_and_own_nothing(sql):
    rows = await sql.fetch("SELECT * FROM pg_roles WHERE rolname LIKE 'app\\_%' ORDER BY rolname")
    assert [row["rolname"] for row in rows] == APP_ROLES
    for row in rows:
        powers = ("rolsuper", "rolbypassrls", "rolcreaterole", "rolcreatedb", "rolreplication")
        assert not any(row[power] for power in powers), row["rolname"]
    owners = await sql.fetch(
        "SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    )
    assert [row["owner"] for row in owners] == ["owner"]


async def test_the_owner_does_not_inherit_the_dispatchers_sight(sql):
    assert (
        await sql.fetchval(
            "SELECT count(*) FROM pg_auth_members WHERE inherit_option AND member::regrole::text = 'owner'"
        )
        == 0
    )


async def grants(sql, role, privilege):
    rows = await sql.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
        " AND has_table_privilege($1, oid, $2)",
        role,
        privilege,
    )
    return {row["relname"] for row in rows}


async def test_history_and_audit_cannot_be_changed_by_the_service(sql):
    for privilege in ("UPDATE", "DELETE", "TRUNCATE"):
        kept = {"audit", "account_audit"} | (
            {"document_revisions", "prompt_versions", "prompt_revisions"} if privilege != "DELETE" else set()
        )
        assert await grants(sql, "app_write", privilege) & kept == set()
    assert "audit" not in await grants(sql, "app_system", "UPDATE")


async def test_history_goes_with_a_purged_document_alone(alice, make, database, sql):
    made = await make.document(alice.client)
    await alice.client.delete(f"/v1/documents/{made['id']}")
    async with database.tx(alice.workspace_id) as tx:
        assert await tx.execute("DELETE FROM document_revisions") == "DELETE 0"


OUT_OF_REACH = {
    "contents": "read by the digest of a document or a revision, which are narrowed",
    "vectors": "read by the digest of a passage, which is narrowed",
    "postings": "read together with passages, which are narrowed; how rare a word is, is the workspace's own",
    "index_entries": "read together with the item, which is narrowed",
    "index_statistics": "sums over the workspace, of which an answer shows nothing",
    "receipts": "each is found by the grant that wrote it",
    "usage_counters": "numbers of the plan, which is the workspace's",
    "blobs": "read by the digest of what refers to them, which is narrowed",
    "vector_models": "names the model that serves the workspace",
    "packs": "read together with the documents that each names, which are narrowed",
    "workspaces": "its name is no secret from its keys",
}
"""Tenant tables that a key's collections do not narrow, each with its reason."""


async def test_every_tenant_table_is_narrowed_to_a_keys_collections_or_says_why_not(sql):
    rows = await sql.fetch("SELECT tablename FROM pg_policies WHERE policyname = 'collections'")
    tables = {row["name"] for row in await fenced(sql) if not row["part"]}
    assert tables - {row["tablename"] for row in rows} == OUT_OF_REACH.keys()


async def test_everything_that_can_be_deleted_is_an_item(sql):
    rows = await sql.fetch("SELECT table_name FROM information_schema.columns WHERE column_name = 'purged_at'")
    view = await sql.fetchval("SELECT pg_get_viewdef('items'::regclass)")
    assert {row["table_name"] for row in rows} == {"documents", "collections", "prompts"}
    assert all(f"FROM {row['table_name']}" in view for row in rows)


async def test_the_reading_role_may_write_nothing(sql):
    for privilege in ("INSERT", "UPDATE", "DELETE", "TRUNCATE"):
        assert await grants(sql, "app_read", privilege) == set()


async def test_the_writing_role_cannot_change_plans_nor_remove_people(sql):
    for privilege in ("INSERT", "UPDATE", "DELETE", "TRUNCATE"):
        fixed = {"subscriptions", "event_epochs", "alembic_version"}
        assert await grants(sql, "app_write", privilege) & fixed == set()
    for privilege in ("DELETE", "TRUNCATE"):
        assert (
            await grants(sql, "app_write", privilege) & {"users", "workspaces", "credentials", "account_audit"} == set()
        )


async def test_no_role_of_the_service_owns_or_creates_objects(sql):
    for role in APP_ROLES:
        assert not await sql.fetchval("SELECT has_schema_privilege($1, 'public', 'CREATE')", role)


def body_of(text):
    """The text between the dollar quotes, as Postgres keeps it."""
    found = re.findall(r"CREATE OR REPLACE FUNCTION (\w+)\(.*?AS (\$\w*\$)(.*?)\2", text, re.DOTALL)
    return {name: body for name, _, body in found}


DEFINERS = {"search_literally": "says itself what a transaction may see: tests/features/search tries it"}
"""Functions that run with other rights than their caller's, each with its reason."""


async def test_the_functions_in_the_database_are_those_beside_their_feature(sql):
    written = {}
    for path in APP.glob("**/functions.sql"):
        written |= body_of(path.read_text(encoding="utf-8"))
    written |= body_of(jobs.ENQUEUE_FUNCTION) | body_of(jobs.MERGE_FUNCTION)
    rows = await sql.fetch(
        "SELECT proname, prosrc, prosecdef FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND NOT EXISTS"
        " (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e') AND proname NOT LIKE '%pgqueuer%'"
    )
    assert {row["proname"]: row["prosrc"] for row in rows} == written
    assert {row["proname"] for row in rows if row["prosecdef"]} == DEFINERS.keys()
