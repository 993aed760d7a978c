"""Renders shared texts: many readers of one text at once wait for the same work."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.gate.prose import LIMITS as USUAL
from app.gate.prose import Prose
from app.store.confined import Confined

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

LIMITS: Final = replace(USUAL, seconds=2.0)
"""Readers wait no longer than this for a text's formatting, whatever else the machine does."""


class Renderer(Prose):
    """Gives safe HTML of shared texts; None where that would cost too much."""

    def __init__(self, own: Sequence[str], confined: Confined | None = None) -> None:
        super().__init__(confined or Confined(limits=LIMITS), own)
        self._running: dict[bytes, asyncio.Task[str | None]] = {}

    async def html(self, workspace_id: UUID, text: str) -> str | None:
        """Render a text of a workspace, or wait for whoever renders it just now."""
        key = hashlib.sha256(text.encode()).digest()
        if key not in self._running:
            task = asyncio.create_task(super().html(workspace_id, text))
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))
        return await asyncio.shield(self._running[key])
