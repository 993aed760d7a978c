"""The public addresses of the service; built from `PUBLIC_URL`, never from a Host header."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Site:
    """Base address without a trailing slash, and the product's name."""

    url: str
    name: str
    mailed_links: bool = False
    """Whether an invite's link goes by mail alone: whoever holds it can make the account of the address."""

    def item_url(self, kind: str, item_id: UUID) -> str:
        """Give the page where a person opens an item, after signing in."""
        return f"{self.url}/dashboard/{kind}/{item_id}"
