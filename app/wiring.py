"""Composition root of the commands that join a running service: addresses, bootstrap and migrations."""

from __future__ import annotations

import asyncio

from app.settings import Settings
from app.store import bootstrap, embedded, migrating
from app.store.embedded.files import SECRET_NAME


class JoinError(RuntimeError):
    """There is no service to join; the message names the next step."""


def join(settings: Settings) -> Settings:
    """Fill in the addresses of the running service of DATA_DIR where the environment names none."""
    run = embedded.read_run_file(settings.data_dir.expanduser().resolve())
    if run is None and not (settings.database_url and settings.redis_url):
        raise JoinError(
            f"No service runs on DATA_DIR {settings.data_dir}, and DATABASE_URL and REDIS_URL are not both set; "
            "set DATA_DIR to the folder of the running service, start `ctx up` first, or set the addresses"
        )
    base = settings.database_url or (run.database_url if run else "")
    redis = settings.redis_url or (run.redis_url if run else "")
    return with_addresses(settings, base, redis, _shared_secret(settings, run))


def join_site(settings: Settings) -> Settings:
    """Join, and take the public address of the running service too: links must lead to it."""
    run = embedded.read_run_file(settings.data_dir.expanduser().resolve())
    joined = join(settings)
    return joined if run is None or joined.public_url else joined.model_copy(update={"public_url": run.url})


def _shared_secret(settings: Settings, run: embedded.RunFile | None) -> str:
    """Return the secret, which must be the running service's: with another one, nothing would fit together."""
    kept = settings.data_dir.expanduser().resolve() / SECRET_NAME
    if run is not None and not settings.secret_key.get_secret_value() and not kept.exists():
        raise JoinError("The running service was given a SECRET_KEY; set the same SECRET_KEY for this command")
    secret = bootstrap.load_secret(settings)
    if run is not None and run.secret_check != bootstrap.secret_check(secret):
        raise JoinError("The running service has another SECRET_KEY; set the same SECRET_KEY for this command")
    return secret


def with_addresses(settings: Settings, base_url: str, redis_url: str, secret: str) -> Settings:
    """Return the settings with every address and the secret filled in."""
    urls = bootstrap.role_urls(base_url, secret, settings)
    return settings.model_copy(
        update={
            "data_dir": settings.data_dir.expanduser().resolve(),
            "database_url": urls.owner,
            "database_write_url": urls.write,
            "database_read_url": urls.read,
            "database_system_url": urls.system,
            "database_direct_url": bootstrap.plain_url(settings.database_direct_url) or urls.system,
            "redis_url": redis_url,
            "secret_key": type(settings.secret_key)(secret),
        }
    )


def child_environment(settings: Settings) -> dict[str, str]:
    """Write the settings that were filled in as the environment variables they would have been read from."""
    names = ["host", "port", "data_dir", "database_url", "database_write_url", "database_read_url"]
    names += ["database_system_url", "database_direct_url", "redis_url"]
    values = {name.upper(): str(getattr(settings, name)) for name in names}
    return values | {"SECRET_KEY": settings.secret_key.get_secret_value()}


def migrate(settings: Settings) -> None:
    """Prepare the database and bring its schema up to date."""
    run = embedded.read_run_file(settings.data_dir.expanduser().resolve())
    if run is not None or settings.database_url:
        _migrate_running(settings, run)
        return
    with embedded.running(settings.data_dir, valkey=False) as servers:
        assert servers.postgres is not None
        secret = bootstrap.load_secret(settings)
        asyncio.run(bootstrap.bootstrap_embedded(servers.postgres.url(), secret))
        migrating.upgrade(bootstrap.role_urls(servers.postgres.url(bootstrap.DATABASE), secret).owner)


def _migrate_running(settings: Settings, run: embedded.RunFile | None) -> None:
    secret = _shared_secret(settings, run)
    base = settings.database_url or (run.database_url if run else "")
    urls = bootstrap.role_urls(base, secret, settings)
    if settings.database_url:
        asyncio.run(bootstrap.bootstrap_external(urls, secret))
    elif run is not None:
        asyncio.run(bootstrap.bootstrap_embedded(run.superuser_url, secret))
    migrating.upgrade(urls.owner)


def bootstrap_sql(settings: Settings) -> str:
    """Write the SQL that a superuser has to run once in the service's database."""
    return bootstrap.external_bootstrap_sql(settings)
