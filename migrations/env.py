"""Run migrations as the owner, one transaction each, under an advisory lock, with short lock and statement timeouts."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from alembic import context
from alembic.operations import Operations
from sqlalchemy import pool, text
from sqlalchemy.ext.asyncio import create_async_engine

import app.gate.tables  # noqa: F401  importing tables registers them
from app import features
from app.store.base import metadata
from migrations import functions

if TYPE_CHECKING:
    from sqlalchemy import Connection

LOCK = 7_203_114_077
for _ in features.collect("tables", "TABLES"):
    pass  # the same


def _url() -> str:
    url: str = context.config.attributes.get("url") or os.environ.get("DATABASE_URL", "")
    if not url:
        msg = "Set DATABASE_URL to the owner's address, or run `ctx migrate`, which finds the embedded database."
        raise SystemExit(msg)
    return url.replace("postgresql://", "postgresql+asyncpg://")


def _run(connection: Connection) -> None:
    connection.execute(text("SET lock_timeout = '4s'"))
    connection.execute(text("SET statement_timeout = '60s'"))
    connection.execute(text("SET check_function_bodies = off"))
    connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": LOCK})
    connection.commit()
    context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
    with context.begin_transaction():
        context.run_migrations()
    if set(context.get_context().get_current_heads()) == set(context.script.get_heads()):
        with Operations.context(context.get_context()):
            functions.refresh()
        connection.commit()


async def _main() -> None:
    engine = create_async_engine(_url(), poolclass=pool.NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(_run)
    await engine.dispose()


asyncio.run(_main())
