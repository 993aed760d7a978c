"""Bootstrap SQL against a real cluster: who may do what, any number of times, in any database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from pydantic import SecretStr

from app.settings import Settings
from app.store import bootstrap, embedded, migrating

SECRET = "a secret for tests"
ODD_NAME = "odd \"name'; --"


@pytest.fixture(scope="module")
def superuser_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with embedded.running(tmp_path_factory.mktemp("cluster"), valkey=False, durable=False) as servers:
        assert servers.postgres is not None
        url = servers.postgres.url()
        asyncio.run(bootstrap.bootstrap_embedded(url, SECRET))
        yield url


@pytest.fixture
def urls(superuser_url: str) -> bootstrap.RoleUrls:
    return bootstrap.role_urls(bootstrap.with_database(superuser_url, bootstrap.DATABASE), SECRET)


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


def query(url: str, *statements: str) -> Any:
    async def run() -> Any:
        async with connected(url) as connection:
            for statement in statements:
                answer = await connection.fetchval(statement)
            return answer

    return asyncio.run(run())


def settings(**values: Any) -> Settings:
    return Settings.model_construct(**(Settings.model_construct().model_dump() | values))


def test_each_role_signs_in_without_special_rights(urls: bootstrap.RoleUrls) -> None:
    special = "(rolsuper OR rolbypassrls OR rolcreaterole)"
    sql = f"SELECT current_user || ' ' || {special} FROM pg_roles WHERE rolname = current_user"
    answers = [query(url, sql) for url in (urls.owner, urls.write, urls.read, urls.system)]
    assert answers == ["owner false", "app_write false", "app_read false", "app_system false"]


def test_limits_hold_for_the_service_and_not_for_migrations(urls: bootstrap.RoleUrls) -> None:
    for url in (urls.write, urls.read, urls.system):
        assert query(url, "SHOW lock_timeout") == "3s"
        assert query(url, "SHOW statement_timeout") == "30s"
        assert query(url, "SHOW idle_in_transaction_session_timeout") == "30s"
    assert query(urls.owner, "SHOW statement_timeout") == "0"


def test_readers_cannot_write(urls: bootstrap.RoleUrls) -> None:
    query(
        urls.owner,
        "DROP TABLE IF EXISTS readable",
        "CREATE TABLE readable (n int)",
        "GRANT ALL ON readable TO app_read",
    )
    with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
        query(urls.read, "INSERT INTO readable VALUES (1)")


def test_only_the_owner_creates_objects(urls: bootstrap.RoleUrls) -> None:
    for url in (urls.write, urls.system):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            query(url, "CREATE TABLE mine ()")


def test_the_owner_sees_rows_only_after_switching_to_the_system_role(urls: bootstrap.RoleUrls) -> None:
    async def run() -> list[int]:
        async with connected(urls.owner) as connection:
            await connection.execute(
                "DROP TABLE IF EXISTS guarded; CREATE TABLE guarded (n int);"
                "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY; ALTER TABLE guarded FORCE ROW LEVEL SECURITY;"
                "CREATE POLICY system ON guarded TO app_system USING (true) WITH CHECK (true);"
                "GRANT ALL ON guarded TO app_system"
            )
            counts = []
            async with connection.transaction():
                await connection.execute("SET LOCAL ROLE app_system; INSERT INTO guarded VALUES (1), (2)")
                counts.append(await connection.fetchval("SELECT count(*) FROM guarded"))
            counts.append(await connection.fetchval("SELECT count(*) FROM guarded"))
            return counts

    assert asyncio.run(run()) == [2, 0]


def test_extensions_are_there(urls: bootstrap.RoleUrls) -> None:
    names = query(urls.read, "SELECT array_agg(extname::text) FROM pg_extension")
    assert {"vector", "pg_trgm", "unaccent"} <= set(names)


def test_bootstrap_repeats_and_changes_passwords(superuser_url: str, urls: bootstrap.RoleUrls) -> None:
    database = "other_secret"
    asyncio.run(bootstrap.bootstrap_embedded(superuser_url, "another secret", database))
    with pytest.raises(asyncpg.InvalidPasswordError):
        query(urls.write, "SELECT 1")
    for _ in range(2):
        asyncio.run(bootstrap.bootstrap_embedded(superuser_url, SECRET))
    assert query(urls.write, "SELECT 1") == 1


def test_bootstraps_at_the_same_time_do_not_disturb_each_other(superuser_url: str) -> None:
    async def run() -> None:
        names = [f"side_{n}" for n in range(4)]
        for name in names:
            await bootstrap.create_database(superuser_url, name)
        jobs = [bootstrap.bootstrap_embedded(superuser_url, SECRET, name) for name in names]
        await asyncio.gather(*jobs)

    asyncio.run(run())


def test_any_database_name_works(superuser_url: str) -> None:
    asyncio.run(bootstrap.bootstrap_embedded(superuser_url, SECRET, ODD_NAME))
    urls = bootstrap.role_urls(bootstrap.with_database(superuser_url, ODD_NAME), SECRET)
    assert query(urls.owner, "CREATE TABLE IF NOT EXISTS t ()", "SELECT current_database()") == ODD_NAME
    assert bootstrap.database_of(urls.read) == ODD_NAME


def test_a_privileged_role_of_the_same_name_loses_its_rights(superuser_url: str, urls: bootstrap.RoleUrls) -> None:
    query(superuser_url, "ALTER ROLE app_write SUPERUSER BYPASSRLS")
    asyncio.run(bootstrap.bootstrap_embedded(superuser_url, SECRET))
    assert query(urls.write, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user") is False


def test_an_operators_superuser_prepares_its_own_database(superuser_url: str) -> None:
    asyncio.run(bootstrap.create_database(superuser_url, "external"))
    given = settings(database_url=bootstrap.with_database(superuser_url, "external"))
    urls = bootstrap.role_urls(given.database_url, SECRET, given)
    asyncio.run(bootstrap.bootstrap_external(urls, SECRET))
    assert query(urls.write, "SELECT current_database()") == "external"
    assert query(superuser_url, "SELECT rolsuper FROM pg_roles WHERE rolname = 'postgres'") is True


def test_an_unprepared_database_names_the_next_step(superuser_url: str) -> None:
    query(superuser_url, "DROP ROLE IF EXISTS plain", "CREATE ROLE plain LOGIN PASSWORD 'p'")
    given = settings(database_url=bootstrap.with_role(superuser_url, "plain", "p"))
    urls = bootstrap.role_urls(given.database_url, "a secret nobody set", given)
    with pytest.raises(bootstrap.BootstrapError, match="ctx migrate --bootstrap-sql"):
        asyncio.run(bootstrap.bootstrap_external(urls, "a secret nobody set"))


def test_an_unreachable_database_is_explained() -> None:
    urls = bootstrap.RoleUrls(*["postgresql://a:b@127.0.0.1:1/x"] * 4)
    with pytest.raises(bootstrap.BootstrapError, match="DATABASE_URL does not answer"):
        asyncio.run(bootstrap.bootstrap_external(urls, SECRET))


def test_the_sql_is_stable_and_shows_no_password() -> None:
    passwords = bootstrap.role_passwords(SECRET)
    sql = bootstrap.bootstrap_sql(passwords, "db")
    assert sql == bootstrap.bootstrap_sql(passwords, "db")
    assert not [password for password in passwords.values() if password in sql]
    assert len(set(passwords.values())) == 4


def test_external_sql_keeps_the_operators_role() -> None:
    given = settings(database_url="postgresql://bob:pw@db.example/repo", secret_key=SecretStr(SECRET))
    sql = bootstrap.external_bootstrap_sql(given)
    assert 'ALTER DATABASE "repo" OWNER TO "bob"' in sql
    assert 'ALTER ROLE "bob"' not in sql


def test_without_an_address_no_sql_is_written_and_no_secret_made(tmp_path: Path) -> None:
    with pytest.raises(bootstrap.BootstrapError, match="DATABASE_URL is not set"):
        bootstrap.external_bootstrap_sql(settings(data_dir=tmp_path / "data"))
    assert not (tmp_path / "data").exists()


def test_role_addresses_keep_hosts_and_parameters() -> None:
    base = "postgresql+asyncpg://boss:p%40ss@h1:1,h2:2/db?sslmode=require"
    given = settings(database_url=base, database_read_url="postgres://r:r@replica/db")
    urls = bootstrap.role_urls(base, SECRET, given)
    assert urls.owner == "postgresql://boss:p%40ss@h1:1,h2:2/db?sslmode=require"
    password = bootstrap.role_password(SECRET, "app_write")
    assert urls.write == f"postgresql://app_write:{password}@h1:1,h2:2/db?sslmode=require"
    assert urls.read == "postgresql://r:r@replica/db"
    assert bootstrap.sqlalchemy_url(urls.read) == "postgresql+asyncpg://r:r@replica/db"


def test_another_database_kind_is_refused() -> None:
    with pytest.raises(bootstrap.BootstrapError, match="must begin with postgresql://"):
        bootstrap.plain_url("mysql://x/y")


def test_an_external_database_needs_a_secret_that_somebody_kept(tmp_path: Path) -> None:
    given = settings(database_url="postgresql://x/y", data_dir=tmp_path)
    with pytest.raises(bootstrap.BootstrapError, match="SECRET_KEY"):
        bootstrap.load_secret(given)
    assert bootstrap.load_secret(given.model_copy(update={"secret_key": SecretStr("s")})) == "s"
    made = bootstrap.load_secret(settings(data_dir=tmp_path))
    assert bootstrap.load_secret(given) == made  # the file counts from then on


def test_heads_are_read_without_alembic(tmp_path: Path) -> None:
    versions = tmp_path / "versions"
    versions.mkdir()
    (versions / "a.py").write_text('revision: str = "a"\ndown_revision: str | None = None\n')
    (versions / "b.py").write_text('revision = "b"\ndown_revision = "a"\n')
    assert migrating.newest_revisions(tmp_path) == {"b"}
    (versions / "c.py").write_text('revision = "c"\ndown_revision = ("b", "a")\n')
    assert migrating.newest_revisions(tmp_path) == {"c"}
