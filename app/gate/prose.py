"""Renders what people and programs wrote as HTML, beside the event loop, bounded in time and memory, each text once."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from app.kit.errors import Unavailable
from app.kit.markdown.html import MAX_BYTES, strange_html
from app.store.confined import Confined, Limits
from app.store.readers import Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

_MIB = 1024 * 1024
LIMITS: Final = Limits(memory_bytes=768 * _MIB, cpu_seconds=2, seconds=2.0)
"""What one text may cost: readers wait no longer than this for its formatting, whatever else the machine does."""
_SHORT: Final = 1_500
"""Characters up to which the worst text costs some milliseconds: it is rendered in a thread."""
_KEPT_BYTES: Final = 32 * _MIB


class Prose:
    """Gives safe HTML of stored Markdown; None where that would cost too much: the text is shown as it is stored.

    Many readers of one text at once wait for the same work.

    Args:
        own: base addresses of this service, to whose private pages no link leads.
    """

    def __init__(self, own: Sequence[str], confined: Confined | None = None) -> None:
        self._own = list(own)
        self._confined = confined or Confined(limits=LIMITS)
        self._running: dict[bytes, asyncio.Task[str | None]] = {}
        self._kept: OrderedDict[bytes, str | None] = OrderedDict()
        self._size = 0

    async def html(self, workspace_id: UUID, text: str, quoted: tuple[int, int] | None = None) -> str | None:
        """Render a text of a workspace, or wait for whoever renders it just now; a span of it is marked as quoted."""
        data = text.encode()
        if len(data) > MAX_BYTES:
            return None
        key = hashlib.sha256(f"{quoted}\n".encode() + data).digest()
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if key not in self._running:
            task = asyncio.create_task(self._rendered(workspace_id, text, quoted, key))
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))
        return await asyncio.shield(self._running[key])

    async def _rendered(self, workspace_id: UUID, text: str, quoted: tuple[int, int] | None, key: bytes) -> str | None:
        try:
            html = await self._render(workspace_id, text, quoted)
        except Unavailable:
            return None
        self._keep(key, html)
        return html

    async def _render(self, workspace_id: UUID, text: str, quoted: tuple[int, int] | None) -> str | None:
        if len(text) <= _SHORT:
            return await asyncio.to_thread(strange_html, text, self._own, quoted)
        options = {"own": self._own, "quoted": quoted}
        try:
            found = await self._confined.call(workspace_id, f"{__name__}:render", options, text.encode())
        except Unreadable:
            return None
        html: str = found["html"]
        return html

    def _keep(self, key: bytes, html: str | None) -> None:
        if key not in self._kept:
            self._kept[key] = html
            self._size += len(html or "")
        while self._size > _KEPT_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._size -= len(oldest or "")


def render(options: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Render a text, in a confined process; `own` names the addresses of this service, `quoted` what is marked."""
    return {"html": strange_html(body.decode(), options["own"], options["quoted"])}
