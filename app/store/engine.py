"""SQLAlchemy's engine on the write role, for the one part whose library is synchronous: the authorization server."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import create_async_engine

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy.ext.asyncio import AsyncEngine

    from app.settings import Settings

_SIZE = 4
_SECONDS = 5


@contextlib.asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[AsyncEngine]:
    """Hold a small pool for a block; it connects when it is first used."""
    engine = create_async_engine(
        settings.database_write_url.replace("postgresql://", "postgresql+asyncpg://", 1),
        pool_size=_SIZE,
        max_overflow=_SIZE,
        pool_timeout=_SECONDS,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"timeout": _SECONDS, "server_settings": {"application_name": "context-repo-oauth"}},
    )
    try:
        yield engine
    finally:
        await engine.dispose()
