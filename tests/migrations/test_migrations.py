"""The schema's history: up, down and up again, one head, and the same schema as the tables in the code."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import pool
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import create_async_engine

import app.gate.tables
from app import features
from app.store import bootstrap, migrating
from app.store.base import metadata
from tests.support.servers import SECRET
from tests.support.service import drop_database, worker_number

TABLES = list(features.collect("tables", "TABLES"))
_OBJECTS = """
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'alembic_version%'
 UNION ALL
SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
   AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
 UNION ALL
SELECT typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e'
"""
_COLUMNS = """
SELECT table_name, column_name, data_type, column_default, is_nullable FROM information_schema.columns
 WHERE table_schema = 'public' ORDER BY 1, 2
"""


def config_for(url):
    config = Config()
    config.set_main_option("script_location", str(migrating.migrations_folder()))
    config.attributes["url"] = bootstrap.sqlalchemy_url(url)
    return config


@pytest_asyncio.fixture
async def empty(servers):
    """An empty, bootstrapped database: its addresses as owner and as superuser."""
    name = f"migrations_{worker_number()}"
    await drop_database(servers, name)
    await bootstrap.bootstrap_embedded(servers.postgres_url, SECRET, name)
    yield bootstrap.role_urls(servers.superuser_url(name), SECRET).owner, servers.superuser_url(name)
    await drop_database(servers, name)


async def rows_of(url, query):
    connection = await asyncpg.connect(url)
    try:
        return [tuple(row) for row in await connection.fetch(query)]
    finally:
        await connection.close()


async def test_up_down_and_up_again_on_an_empty_database(empty):
    owner, superuser = empty
    config = config_for(owner)
    await asyncio.to_thread(command.upgrade, config, "head")
    first = await rows_of(superuser, _COLUMNS)
    await asyncio.to_thread(command.downgrade, config, "base")
    assert await rows_of(superuser, _OBJECTS) == []
    await asyncio.to_thread(command.upgrade, config, "head")
    assert await rows_of(superuser, _COLUMNS) == first
    assert await migrating.is_current(owner, migrating.migrations_folder())
    await asyncio.to_thread(command.upgrade, config, "head")  # nothing to do is no error


_PROMPT = """
INSERT INTO prompts (workspace_id, id, title, description, tags, parameters, content_hash, revision, current_version,
                     created_by, created_at, last_changed_at, purged_at)
SELECT gen_random_uuid(), gen_random_uuid(), title, '', '{}', '{}', '', 4, 2, gen_random_uuid(), now(), now(), purged
  FROM (VALUES ('kept', NULL), ('purged', now())) AS v(title, purged)
"""


async def test_prompts_that_were_there_have_the_revision_that_they_are_at(empty):
    owner, superuser = empty
    config = config_for(owner)
    await asyncio.to_thread(command.upgrade, config, "0017")
    await rows_of(superuser, _PROMPT)
    await asyncio.to_thread(command.upgrade, config, "head")
    kept = "SELECT title, revision, version, published FROM prompt_revisions"
    assert await rows_of(superuser, kept) == [("kept", 4, 2, False)]


_HANDS = """
INSERT INTO contents (workspace_id, digest, content) VALUES (gen_random_uuid(), '', '');
INSERT INTO documents (workspace_id, id, title, tags, title_digest, content_digest, tags_digest, content_hash,
                       source_type, created_by, created_at, last_changed_at)
SELECT c.workspace_id, gen_random_uuid(), title, '{}', '', '', '', '', source, c.workspace_id, now(), now()
  FROM contents c,
       (VALUES ('own', 'text'), ('page', 'url'), ('archive', 'text'), ('shared', 'text')) AS v(title, source);
INSERT INTO document_revisions (workspace_id, document_id, revision, id, version, content_changed, content_hash, action,
                                author_id, author_name, grant_id, decided_at)
SELECT workspace_id, id, n, gen_random_uuid(), n, true, '', CASE title WHEN 'archive' THEN 'import' ELSE 'update' END,
       CASE WHEN title = 'shared' AND n = 2 THEN gen_random_uuid() ELSE created_by END, '', gen_random_uuid(), now()
  FROM documents, generate_series(1, 2) AS n;
INSERT INTO prompts (workspace_id, id, title, description, tags, parameters, content_hash, created_by, created_at,
                     last_changed_at)
SELECT c.workspace_id, gen_random_uuid(), title, '', '{}', '{}', '', c.workspace_id, now(), now()
  FROM contents c, (VALUES ('own'), ('archive'), ('shared'), ('renamed')) AS v(title);
INSERT INTO prompt_versions (workspace_id, prompt_id, version, id, revision, content, names, author_id, author_name,
                             grant_id, decided_at)
SELECT workspace_id, id, 1, gen_random_uuid(), 1, '', '{}',
       CASE title WHEN 'shared' THEN gen_random_uuid() ELSE created_by END, '', gen_random_uuid(), now() FROM prompts;
INSERT INTO audit (workspace_id, id, user_id, grant_id, operation, topic, object_id, request_id)
SELECT workspace_id, gen_random_uuid(), CASE title WHEN 'renamed' THEN gen_random_uuid() ELSE created_by END,
       gen_random_uuid(), '', CASE title WHEN 'archive' THEN 'prompt.imported' ELSE 'prompt.changed' END, id, ''
  FROM prompts;
"""


async def test_items_that_were_there_tell_who_ever_wrote_in_them(empty):
    owner, superuser = empty
    config = config_for(owner)
    await asyncio.to_thread(command.upgrade, config, "0020")
    for statement in _HANDS.split(";\n")[:-1]:
        await rows_of(superuser, statement)
    await asyncio.to_thread(command.upgrade, config, "head")
    documents = dict(await rows_of(superuser, "SELECT title, hands FROM documents"))
    assert documents == {"own": "one", "page": "outside", "archive": "outside", "shared": "several"}
    prompts = dict(await rows_of(superuser, "SELECT title, hands FROM prompts"))
    assert prompts == {"own": "one", "archive": "outside", "shared": "several", "renamed": "several"}


_UNREAD = """
INSERT INTO contents (workspace_id, digest, content) VALUES (gen_random_uuid(), sha256(''), '');
INSERT INTO documents (workspace_id, id, title, tags, title_digest, content_digest, tags_digest, content_hash,
                       current_version, source_type, created_by, created_at, last_changed_at)
SELECT c.workspace_id, gen_random_uuid(), source, '{}', '', digest, '', '', 2, source, c.workspace_id, now(), now()
  FROM contents c, (VALUES ('file'), ('text')) AS v(source);
INSERT INTO document_revisions (workspace_id, document_id, revision, id, version, content_changed, content_digest,
                                content_hash, action, author_id, author_name, grant_id, decided_at)
SELECT workspace_id, id, n, gen_random_uuid(), n, true, content_digest, '',
       CASE n WHEN 1 THEN 'create' ELSE 'update' END, created_by, '', gen_random_uuid(), now()
  FROM documents, generate_series(1, 2) AS n;
"""


async def test_what_was_there_before_a_file_was_read_is_a_version_no_more(empty):
    owner, superuser = empty
    config = config_for(owner)
    await asyncio.to_thread(command.upgrade, config, "0024")
    for statement in _UNREAD.split(";\n")[:-1]:
        await rows_of(superuser, statement)
    shown = """
        SELECT d.title, d.current_version, r.version, r.content_changed
          FROM documents d JOIN document_revisions r ON r.document_id = d.id ORDER BY d.title, r.revision
    """
    as_before = [("file", 2, 1, True), ("file", 2, 2, True), ("text", 2, 1, True), ("text", 2, 2, True)]
    assert await rows_of(superuser, shown) == as_before
    await asyncio.to_thread(command.upgrade, config, "0025")
    assert await rows_of(superuser, shown) == [("file", 1, 0, False), ("file", 1, 1, True), *as_before[2:]]
    await asyncio.to_thread(command.downgrade, config, "0024")
    assert await rows_of(superuser, shown) == as_before


_FUNCTIONS = """
SELECT p.oid::regprocedure::text, pg_get_function_result(p.oid), p.prosrc, p.proowner::regrole::text, p.proacl::text
  FROM pg_proc p
 WHERE p.pronamespace = 'public'::regnamespace AND p.proname IN ({names})
 ORDER BY 1
"""
_HELD = "SELECT refobjid::regprocedure::text FROM pg_depend WHERE classid = 'pg_policy'::regclass AND deptype = 'n'"
_OLD = (
    "DROP FUNCTION {name}",
    "CREATE FUNCTION {name} RETURNS TABLE (something_else int) LANGUAGE sql AS 'SELECT 1'",
    "ALTER FUNCTION {name} OWNER TO owner",
)


@pytest.fixture
def ours_alone():
    """The statement that lists the functions of the code."""
    texts = [file.read_text("utf-8") for file in Path(app.__file__).parent.rglob(migrating.FUNCTIONS)]
    names = re.findall(r"CREATE OR REPLACE FUNCTION (\w+)", "".join(texts))
    return _FUNCTIONS.format(names=", ".join(f"'{name}'" for name in names))


async def test_functions_of_an_older_version_become_those_of_now(empty, ours_alone):
    owner, superuser = empty
    config = config_for(owner)
    folder = migrating.migrations_folder()
    await asyncio.to_thread(command.upgrade, config, "head")
    now = await rows_of(superuser, ours_alone)
    held = {name for (name,) in await rows_of(superuser, _HELD)}
    named = [name for name, *_ in now if name not in held]
    assert len(named) > 10
    await asyncio.to_thread(command.downgrade, config, "0020")
    for name in named:
        for statement in _OLD:
            await rows_of(superuser, statement.format(name=name))
    await rows_of(superuser, "CREATE FUNCTION document_get(one_more int) RETURNS int LANGUAGE sql AS 'SELECT 1'")
    await rows_of(superuser, "ALTER FUNCTION document_get(int) OWNER TO owner")
    await asyncio.to_thread(command.upgrade, config, "head")
    assert await rows_of(superuser, ours_alone) == now
    assert await migrating.is_current(owner, folder)


async def test_a_database_with_other_functions_than_the_code_is_not_current(empty, ours_alone):
    owner, superuser = empty
    await asyncio.to_thread(command.upgrade, config_for(owner), "head")
    now = await rows_of(superuser, ours_alone)
    body = "CREATE OR REPLACE FUNCTION text_digest(p_text text) RETURNS bytea LANGUAGE sql AS 'SELECT NULL::bytea'"
    await rows_of(superuser, body)
    await rows_of(superuser, "COMMENT ON TABLE alembic_version IS 'those of before'")
    assert not await migrating.is_current(owner, migrating.migrations_folder())
    await asyncio.to_thread(command.upgrade, config_for(owner), "head")
    assert await rows_of(superuser, ours_alone) == now
    assert await migrating.is_current(owner, migrating.migrations_folder())


def test_there_is_one_head():
    script = ScriptDirectory(str(migrating.migrations_folder()))
    assert script.get_heads() == [migrating.newest_revision()]


def ours(thing, name, kind, reflected, compare_to):
    table = name if kind == "table" else thing.table.name
    is_partition = table.rpartition("_")[2][:1] == "p" and table.rpartition("_")[2][1:].isdigit()
    return not (table.startswith("pgqueuer") or is_partition)


async def test_the_tables_in_the_code_are_those_of_the_migrations(settings):
    postgresql.base.ischema_names["xid8"] = app.gate.tables.Xid8
    engine = create_async_engine(bootstrap.sqlalchemy_url(settings.database_url), poolclass=pool.NullPool)
    options = {"compare_type": True, "compare_server_default": True, "include_object": ours}

    def compare(connection):
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    async with engine.connect() as connection:
        assert await connection.run_sync(compare) == []
    await engine.dispose()


def test_every_feature_lists_its_tables():
    names = {table.name for table in TABLES} | {table.name for table in app.gate.tables.TABLES}
    assert names == set(metadata.tables)
