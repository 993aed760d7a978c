"""What readiness means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.features.health import queries

if TYPE_CHECKING:
    import redis.asyncio as redis

    from app.store.postgres import Database


@dataclass(slots=True)
class Readiness:
    """The readiness of a process: schema head, database, drain; Redis away means degraded, not unready."""

    database: Database
    redis: redis.Redis | None
    head: str
    draining: bool = False
    checked_at: float = 0.0
    report: dict[str, Any] = field(default_factory=lambda: {"ready": False})

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
