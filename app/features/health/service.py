"""What readiness means."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.features.health import queries

if TYPE_CHECKING:
    import redis.asyncio as redis

    from app.store.postgres import Database

_READY_SECONDS = 0.5
_CACHE_SECONDS = 1.0


@dataclass(slots=True)
class Readiness:
    """The readiness of a process: schema head, database, drain; Redis away means degraded, not unready."""

    database: Database
    redis: redis.Redis | None
    head: str
    draining: bool = False
    checked_at: float = 0.0
    report: dict[str, Any] = field(default_factory=lambda: {"ready": False})

    async def current(self) -> dict[str, Any]:
        """Give the state, asked for at most once a second; whoever cannot answer in time is not ready."""
        now = time.monotonic()
        if now - self.checked_at > _CACHE_SECONDS:
            self.checked_at = now
            try:
                self.report = await asyncio.wait_for(self.check(), _READY_SECONDS)
            except Exception as error:  # noqa: BLE001  any failure means: not ready
                self.report = {"ready": False, "database": type(error).__name__}
        return self.report

    async def check(self) -> dict[str, Any]:
        """Ask the stores."""
        state = await queries.get_state(self.database)
        return {
            "ready": state["version"] == self.head and not self.draining,
            "database": "ok",
            "schema": state["version"],
            "draining": self.draining,
            "redis": await self._redis(),
            "eventWatermarkSeconds": float(state["watermark_seconds"]),
        }

    async def _redis(self) -> str:
        if self.redis is None:
            return "off"
        try:
            await self.redis.ping()
        except Exception:  # noqa: BLE001  whatever it is, limits fall back to this process
            return "away: limits are counted in each process"
        return "ok"
