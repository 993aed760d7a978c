"""Roles, extensions and ownership that a superuser sets up once per database, and the addresses that follow."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

import asyncpg
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.settings import Settings
from app.store.embedded.files import SECRET_NAME, prepare_data_dir, read_or_create_secret

OWNER = "owner"
APP_ROLES = ("app_write", "app_read", "app_system")
DATABASE = "context_repo"
MIN_SERVER_VERSION = 160000

_SCRAM_ITERATIONS = 4096
_LIMITS = {"lock_timeout": "3s", "statement_timeout": "30s", "idle_in_transaction_session_timeout": "30s"}
_ATTRIBUTES = "NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB NOREPLICATION"


class BootstrapError(RuntimeError):
    """The database is not prepared; the message names the next step."""


@dataclass(frozen=True)
class RoleUrls:
    """Addresses of one database, one per role."""

    owner: str
    write: str
    read: str
    system: str


def load_secret(settings: Settings) -> str:
    """Return SECRET_KEY, else the secret of DATA_DIR; only an embedded database may have it made up."""
    if given := settings.secret_key.get_secret_value():
        return given
    path = settings.data_dir.expanduser().resolve() / SECRET_NAME
    if settings.database_url and not path.exists():
        raise BootstrapError(
            f"DATABASE_URL is set, but neither SECRET_KEY nor {path} exists; the roles' passwords derive from it. "
            "Set SECRET_KEY to a long random value (for example from `openssl rand -base64 32`) and keep it"
        )
    return read_or_create_secret(prepare_data_dir(settings.data_dir) / SECRET_NAME)


def secret_check(secret: str) -> str:
    """Derive a value that tells whether two processes have the same secret without showing it."""
    return _derive(secret, "context-repo/secret-check").hex()[:16]


def role_password(secret: str, role: str) -> str:
    """Derive the password of one role."""
    return base64.urlsafe_b64encode(_derive(secret, f"context-repo/database-role/{role}")).decode().rstrip("=")


def role_passwords(secret: str) -> dict[str, str]:
    """Derive the passwords of the owner and the three roles of the service."""
    return {role: role_password(secret, role) for role in (OWNER, *APP_ROLES)}


def role_urls(base_url: str, secret: str, settings: Settings | None = None) -> RoleUrls:
    """Address the database of `base_url` as each role; what the settings name explicitly wins.

    `DATABASE_URL` is taken as the owner's address as it stands; without it, the owner's password is derived too.
    """
    given = settings or Settings.model_construct(
        database_url="", database_write_url="", database_read_url="", database_system_url=""
    )
    derived = {role: with_role(base_url, role, password) for role, password in role_passwords(secret).items()}
    return RoleUrls(
        owner=plain_url(given.database_url) if given.database_url else derived[OWNER],
        write=plain_url(given.database_write_url) or derived["app_write"],
        read=plain_url(given.database_read_url) or derived["app_read"],
        system=plain_url(given.database_system_url) or derived["app_system"],
    )


def plain_url(url: str) -> str:
    """Write an address the way asyncpg reads it, whatever driver it was written for."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    if scheme.partition("+")[0] not in ("postgres", "postgresql"):
        raise BootstrapError(f"DATABASE_URL begins with {scheme}://; it must begin with postgresql://")
    return f"postgresql://{rest}"


def sqlalchemy_url(url: str) -> str:
    """Write an address with the driver named, since SQLAlchemy takes another one by default."""
    return "postgresql+asyncpg://" + plain_url(url).partition("://")[2]


def with_role(url: str, role: str, password: str) -> str:
    """Put another user into an address and keep its hosts, database and parameters."""
    parts = urlsplit(plain_url(url))
    hosts = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{quote(role, safe='')}:{quote(password, safe='')}@{hosts}").geturl()


def with_database(url: str, database: str) -> str:
    """Put another database into an address."""
    return urlsplit(plain_url(url))._replace(path=f"/{quote(database, safe='')}").geturl()


def database_of(url: str) -> str:
    """Read the database's name out of an address; like libpq, the user's name stands in for a missing one."""
    parts = urlsplit(plain_url(url))
    return unquote(parts.path.lstrip("/")) or unquote(parts.username or "")


def bootstrap_sql(passwords: Mapping[str, str], database: str, *, owner: str = OWNER, manage_owner: bool = True) -> str:
    """Write the idempotent SQL that a superuser runs in `database`, which must exist.

    Passwords appear as SCRAM verifiers only, so that neither a log nor a terminal shows them. With
    `manage_owner=False` an existing owner is a role of the operator, whose password and attributes stay as they are.
    """
    parts = [_create_sql(owner, passwords[OWNER])]
    if manage_owner:
        parts.append(_settle_sql(owner, passwords[OWNER]))
    for role in APP_ROLES:
        parts += [_create_sql(role, passwords[role]), _settle_sql(role, passwords[role])]
    parts += [_limits_sql(role) for role in APP_ROLES]
    parts.append("ALTER ROLE app_read SET default_transaction_read_only = on;")
    parts.append(_membership_sql(owner))
    parts.append(_database_sql(database, owner))
    parts.append("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;")
    parts += [_optional_extension_sql(name) for name in ("pg_trgm", "unaccent")]
    return "\n".join(["BEGIN;", "SET LOCAL client_min_messages = warning;", *parts, "COMMIT;", ""])


def _create_sql(role: str, password: str) -> str:
    name, verifier = _identifier(role), _literal(scram_verifier(role, password))
    return (
        f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {_literal(role)}) THEN\n"
        f"  CREATE ROLE {name} LOGIN PASSWORD {verifier};\nEND IF; END $$;"
    )


def _settle_sql(role: str, password: str) -> str:
    # Attributes are taken away only where they are held: naming them at all needs a true superuser, which managed
    # databases do not give out.
    name, verifier = _identifier(role), _literal(scram_verifier(role, password))
    return (
        f"DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = {_literal(role)}\n"
        f"    AND (rolsuper OR rolbypassrls OR rolreplication OR rolcreaterole OR rolcreatedb)) THEN\n"
        f"  ALTER ROLE {name} WITH {_ATTRIBUTES};\nEND IF; END $$;\n"
        f"ALTER ROLE {name} WITH LOGIN PASSWORD {verifier};"
    )


def _limits_sql(role: str) -> str:
    return "\n".join(f"ALTER ROLE {_identifier(role)} SET {key} = '{value}';" for key, value in _LIMITS.items())


def _membership_sql(owner: str) -> str:
    # Without INHERIT: an inherited membership would make the policies `TO app_system` hold for the owner too.
    return f"GRANT app_system TO {_identifier(owner)} WITH INHERIT FALSE, SET TRUE;"


def _database_sql(database: str, owner: str) -> str:
    db, name, roles = _identifier(database), _identifier(owner), ", ".join(APP_ROLES)
    return "\n".join(
        [
            f"ALTER DATABASE {db} OWNER TO {name};",
            f"REVOKE ALL ON DATABASE {db} FROM PUBLIC;",
            f"GRANT CONNECT ON DATABASE {db} TO {roles};",
            "REVOKE CREATE ON SCHEMA public FROM PUBLIC;",
            f"GRANT CREATE, USAGE ON SCHEMA public TO {name};",
            f"GRANT USAGE ON SCHEMA public TO {roles};",
        ]
    )


def _optional_extension_sql(name: str) -> str:
    return (
        f"DO $$ BEGIN CREATE EXTENSION IF NOT EXISTS {name} WITH SCHEMA public;\n"
        f"EXCEPTION WHEN feature_not_supported OR undefined_file OR insufficient_privilege THEN\n"
        f"  RAISE NOTICE 'extension {name} is not available; the service works without it';\nEND $$;"
    )


def scram_verifier(role: str, password: str) -> str:
    """Compute what Postgres stores for a password; the salt is derived, so that the same input writes the same SQL."""
    salt = _derive(password, f"context-repo/scram-salt/{role}")[:16]
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _SCRAM_ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    salt64, stored64, server64 = (base64.b64encode(value).decode() for value in (salt, stored, server))
    return f"SCRAM-SHA-256${_SCRAM_ITERATIONS}:{salt64}${stored64}:{server64}"


def _derive(secret: str, info: str) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info.encode()).derive(secret.encode())


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


async def create_database(superuser_url: str, database: str = DATABASE) -> None:
    """Create a database unless it exists; it needs a statement of its own, outside any transaction."""
    connection = await asyncpg.connect(with_database(superuser_url, "postgres"))
    try:
        if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", database):
            await connection.execute(f"CREATE DATABASE {_identifier(database)} TEMPLATE template0")
    finally:
        await connection.close()


async def run_bootstrap(superuser_url: str, sql: str, attempts: int = 5) -> None:
    """Run the bootstrap SQL; roles are shared by all databases, so another bootstrap may be changing them right now."""
    connection = await asyncpg.connect(superuser_url)
    try:
        for attempt in range(1, attempts + 1):
            try:
                await connection.execute(sql)
            except (asyncpg.InternalServerError, asyncpg.UniqueViolationError):  # "tuple concurrently updated"
                await connection.execute("ROLLBACK")
                if attempt == attempts:
                    raise
                await asyncio.sleep(0.1 * attempt)
            else:
                return
    finally:
        await connection.close()


async def bootstrap_embedded(superuser_url: str, secret: str, database: str = DATABASE) -> None:
    """Prepare the service's database in a cluster of our own."""
    await create_database(superuser_url, database)
    await run_bootstrap(with_database(superuser_url, database), bootstrap_sql(role_passwords(secret), database))


def external_bootstrap_sql(settings: Settings) -> str:
    """Write the SQL for the superuser of the database that DATABASE_URL names; its user keeps its password.

    Raises:
        BootstrapError: there is no DATABASE_URL (which database, and whose, could only be guessed), or no secret.
    """
    if not settings.database_url:
        raise BootstrapError(
            "DATABASE_URL is not set: the SQL is for the database and the owner that it names. Set it to "
            "postgresql://owner:password@host/database, and run this again"
        )
    passwords = role_passwords(load_secret(settings))
    parts = urlsplit(plain_url(settings.database_url))
    passwords[OWNER] = unquote(parts.password or "") or passwords[OWNER]
    owner = unquote(parts.username or "") or OWNER
    return bootstrap_sql(passwords, database_of(settings.database_url), owner=owner, manage_owner=False)


async def bootstrap_external(urls: RoleUrls, secret: str) -> None:
    """Check an operator's database and prepare it when its user may; otherwise say who has to."""
    connection = await _connect_owner(urls.owner)
    try:
        if connection.get_server_version().major * 10000 < MIN_SERVER_VERSION:
            raise BootstrapError("Postgres 16 or newer is needed; point DATABASE_URL to such a server")
        superuser = await connection.fetchval("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        user = str(await connection.fetchval("SELECT current_user"))
        database = str(await connection.fetchval("SELECT current_database()"))
    finally:
        await connection.close()
    if superuser:
        sql = bootstrap_sql(role_passwords(secret), database, owner=user, manage_owner=False)
        await run_bootstrap(urls.owner, sql)
    await _check_logins(urls)


async def _connect_owner(url: str) -> asyncpg.Connection:
    try:
        return await asyncpg.connect(url, timeout=10)
    except (OSError, asyncpg.PostgresError, TimeoutError) as exc:
        raise BootstrapError(
            f"DATABASE_URL does not answer ({type(exc).__name__}: {exc}); check address and user"
        ) from exc


async def _check_logins(urls: RoleUrls) -> None:
    for name, url in (("write", urls.write), ("read", urls.read), ("system", urls.system)):
        try:
            connection = await asyncpg.connect(url, timeout=10)
        except (OSError, asyncpg.PostgresError, TimeoutError) as exc:
            raise BootstrapError(
                f"The database is not prepared: its {name} role cannot sign in ({type(exc).__name__}). Run "
                "`ctx migrate --bootstrap-sql` with the same SECRET_KEY and give its output to psql as superuser"
            ) from exc
        await connection.close()


async def has_no_users(owner_url: str) -> bool:
    """Tell whether a prepared database has never been used."""
    connection = await asyncpg.connect(plain_url(owner_url))
    try:
        return not await connection.fetchval("SELECT EXISTS (SELECT FROM users)")
    except asyncpg.UndefinedTableError:
        return False
    finally:
        await connection.close()
