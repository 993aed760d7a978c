"""Walking a list over the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2


async def pages_of(client: httpx2.AsyncClient, path: str, size: int) -> list[dict[str, Any]]:
    """All items of a list, asked for in pages of `size`, each of which is full but the last."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        asked = {"limit": size} | ({"cursor": cursor} if cursor else {})
        answer = await client.get(path, params=asked)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["data"]
        cursor = page["pagination"]["cursor"]
        assert page["pagination"]["hasMore"] is bool(cursor)
        if cursor is None:
            return found
        assert len(page["data"]) == size
