"""What a public link shows to whoever has its address, and what the address is made of."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.features.documents import service as documents
from app.features.links import queries
from app.features.links.errors import NothingShared
from app.features.prompts import service as prompts
from app.kit.errors import NotFound
from app.kit.secrets import Token, keyed_digest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from app.gate.marks import Marks
    from app.gate.passwords import Passwords
    from app.gate.prose import Prose
    from app.store.postgres import Database
    from app.store.tx import Tx

VIEWS, COPIES = "link views", "link copies"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


class LinkAddresses:
    """Derives a link's address from its id and the service's secret, so that it can be shown again, yet is not stored.

    What is stored is its digest alone: a copy of the database opens no link.
    """

    def __init__(self, url: str, *secrets: str) -> None:
        self.url = url
        self.host = urlsplit(url).netloc.lower()
        self._secrets = [secret for secret in secrets if secret]

    def token(self, link_id: UUID) -> Token:
        """Make the token of a new link."""
        return self._derived(self._secrets[0], link_id)

    def of(self, link_id: UUID, token_hash: bytes) -> str | None:
        """Give a link's address; None when it was made under a secret that is unknown by now."""
        for secret in self._secrets:
            token = self._derived(secret, link_id)
            if token.digest() == token_hash:
                return self.at(token)
        return None

    def at(self, token: Token) -> str:
        """Give the address of a token."""
        return f"{self.url}/s/{token.text}"

    @staticmethod
    def _derived(secret: str, link_id: UUID) -> Token:
        digest = keyed_digest(secret, "links", str(link_id))
        return Token(base64.urlsafe_b64encode(digest).decode().rstrip("="))


@dataclass(frozen=True, slots=True)
class Shared:
    """What a live link shows now."""

    link_id: UUID
    workspace_id: UUID
    item_type: str
    title: str
    content: str
    changed_at: datetime
    password_hash: str | None


class Links:
    """The readers' side: everything is looked up anew for each request, so that an end is seen at once."""

    def __init__(self, database: Database, passwords: Passwords, prose: Prose, marks: Marks) -> None:
        self._database = database
        self._passwords = passwords
        self._prose = prose
        self._marks = marks

    async def find(self, text: str) -> Shared:
        """Find what a token shows.

        Raises:
            NothingShared: it is no token, it has ended, or what it led to was deleted.
        """
        row = await queries.find_token(self._database, Token(text).digest()) if _TOKEN.fullmatch(text) else None
        if row is None:
            raise NothingShared
        async with self._database.snapshot(row["workspace_id"]) as tx:
            link = await queries.read_link(tx, row["link_id"])
            if link is None:
                raise NothingShared
            try:
                return await _shown(tx, link)
            except NotFound:
                raise NothingShared from None

    async def opens(self, shared: Shared, password: str) -> bool:
        """Tell whether a password is the link's; many at once wait for their turn.

        Raises:
            Unavailable: too many wait.
        """
        async with self._passwords.turn():
            return (await self._passwords.check(shared.password_hash, password)).right

    async def html(self, shared: Shared) -> str | None:
        """Render what is shared; None where it is better shown as it is stored."""
        return await self._prose.html(shared.workspace_id, shared.content)

    def viewed(self, shared: Shared) -> None:
        """Count a view."""
        self._marks.count(VIEWS, shared.link_id)

    def copied(self, shared: Shared) -> None:
        """Count a copy."""
        self._marks.count(COPIES, shared.link_id)


async def _shown(tx: Tx, link: asyncpg.Record) -> Shared:
    if link["item_type"] == "document":
        document = await documents.read_as_of(tx, link["item_id"], None)
        what = (document.title, document.content, document.last_changed_at)
    else:
        prompt = await prompts.read_prompt(tx, link["item_id"])
        what = (prompt["title"], prompt["content"], prompt["last_changed_at"])
    return Shared(link["id"], link["workspace_id"], link["item_type"], *what, link["password_hash"])


async def add_views(database: Database, counts: Mapping[UUID, int]) -> None:
    """Write how often pages were opened."""
    await _add(database, "views", counts)


async def add_copies(database: Database, counts: Mapping[UUID, int]) -> None:
    """Write how often texts were taken."""
    await _add(database, "copies", counts)


async def _add(database: Database, column: str, counts: Mapping[UUID, int]) -> None:
    """Count at the link, and at the prompt, whose count outlives its links."""
    rows = await queries.count_reads(database, column, counts)
    reads = [(row["workspace_id"], row["item_id"], row["count"]) for row in rows if row["item_type"] == "prompt"]
    await prompts.count_reads(database, column, reads)
