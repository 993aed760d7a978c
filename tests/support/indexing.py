"""What tests of the index and of search share: a recording model, indexing to the end, and a recount from scratch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from app.features.indexing import service
from app.features.indexing.remote import MiniLM, Vector

if TYPE_CHECKING:
    from uuid import UUID

    from app.store.postgres import Database


class Recording:
    """The real model, noting every passage that it is asked for."""

    name = MiniLM.name
    dim = MiniLM.dim

    def __init__(self) -> None:
        self._model = MiniLM(threads=2)
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.texts += texts
        return await self._model.embed(texts)

    async def embed_query(self, text: str) -> Vector:
        return await self._model.embed_query(text)

    async def close(self) -> None:
        await self._model.close()


class Mute:
    """Stands for the model where meaning does not matter: every text has the same vector."""

    name = MiniLM.name
    dim = MiniLM.dim
    _vector = np.full(dim, dim**-0.5, dtype=np.float16)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector] * len(texts)

    async def embed_query(self, text: str) -> Vector:  # noqa: ARG002  as the model has it
        return self._vector

    async def close(self) -> None: ...


class Index:
    """Brings a workspace's index up to date in the test's own process, and looks at it from behind."""

    def __init__(self, database: Database, sql: Any, embedder: Any) -> None:
        self.database = database
        self.sql = sql
        self.embedder = embedder

    async def run(self, workspace_id: UUID) -> None:
        while await service.index_workspace(self.database, self.embedder, workspace_id):
            pass

    async def status(self, document_id: str) -> tuple[str, str | None]:
        row = await self.sql.fetchrow("SELECT status, status_reason FROM documents WHERE id = $1", document_id)
        return row["status"], row["status_reason"]

    async def count(self, table: str, workspace_id: UUID) -> int:
        return await self.sql.fetchval(f"SELECT count(*) FROM {table} WHERE workspace_id = $1", workspace_id)

    async def chunks(self, document_id: str) -> dict[UUID, str]:
        rows = await self.sql.fetch(
            "SELECT id, content FROM chunks WHERE document_id = $1 AND level = 'paragraph' ORDER BY ordinal",
            document_id,
        )
        return {row["id"]: row["content"] for row in rows}

    async def statistics(self, workspace_id: UUID) -> dict[str, tuple[int, int]]:
        rows = await self.sql.fetch(
            "SELECT level, chunks, length FROM index_statistics WHERE workspace_id = $1", workspace_id
        )
        return {row["level"]: (row["chunks"], row["length"]) for row in rows if row["chunks"] or row["length"]}

    async def recount(self, workspace_id: UUID) -> dict[str, tuple[int, int]]:
        rows = await self.sql.fetch(
            "SELECT level, count(DISTINCT chunk_id) AS chunks, sum(tf) AS length FROM postings"
            " WHERE workspace_id = $1 GROUP BY level",
            workspace_id,
        )
        return {row["level"]: (row["chunks"], row["length"]) for row in rows}

    async def terms(self, workspace_id: UUID) -> list[tuple[Any, ...]]:
        """Every posting without its ids, so that two workspaces with the same texts can be compared."""
        rows = await self.sql.fetch(
            "SELECT d.title, p.level, c.ordinal, p.term, p.tf, p.length FROM postings p"
            " JOIN chunks c ON c.workspace_id = p.workspace_id AND c.id = p.chunk_id"
            " JOIN documents d ON d.workspace_id = c.workspace_id AND d.id = c.document_id"
            " WHERE p.workspace_id = $1 ORDER BY 1, 2, 3, 4",
            workspace_id,
        )
        return [tuple(row) for row in rows]

    async def faults(self, workspace_id: UUID) -> list[str]:
        """Name rows that belong to nothing, and live passages of ready documents that miss something."""
        return [
            name
            for name, statement in _FAULTS.items()
            if await self.sql.fetchval(f"SELECT EXISTS ({statement})", workspace_id)
        ]


_FAULTS = {
    "posting without chunk": """
        SELECT FROM postings p WHERE p.workspace_id = $1 AND NOT EXISTS (
          SELECT FROM chunks c WHERE c.workspace_id = $1 AND c.id = p.chunk_id)""",
    "posting of a wrong length": """
        SELECT FROM postings p WHERE p.workspace_id = $1 GROUP BY chunk_id HAVING sum(tf) <> min(length)""",
    "vector without chunk": """
        SELECT FROM vectors v WHERE v.workspace_id = $1 AND NOT EXISTS (
          SELECT FROM chunks c WHERE c.workspace_id = $1 AND c.text_digest = v.text_digest)""",
    "chunk of a document that is gone": """
        SELECT FROM chunks c JOIN documents d ON d.workspace_id = $1 AND d.id = c.document_id
         WHERE c.workspace_id = $1 AND d.deleted_at IS NOT NULL""",
    "chunk of an old revision": """
        SELECT FROM chunks c JOIN documents d ON d.workspace_id = $1 AND d.id = c.document_id
         WHERE c.workspace_id = $1 AND d.status = 'ready' AND c.revision <> d.revision""",
    "passage without vector": """
        SELECT FROM chunks c JOIN documents d ON d.workspace_id = $1 AND d.id = c.document_id
         WHERE c.workspace_id = $1 AND d.status = 'ready' AND c.level IN ('document', 'paragraph')
           AND NOT EXISTS (SELECT FROM vectors v WHERE v.workspace_id = $1 AND v.text_digest = c.text_digest)""",
    "ready document without chunks": """
        SELECT FROM documents d WHERE d.workspace_id = $1 AND d.status = 'ready' AND d.deleted_at IS NULL
           AND NOT EXISTS (SELECT FROM chunks c WHERE c.workspace_id = $1 AND c.document_id = d.id)""",
    "passage that does not stand where it says": """
        SELECT FROM chunks c JOIN documents d ON d.workspace_id = $1 AND d.id = c.document_id
          JOIN contents t ON t.workspace_id = $1 AND t.digest = d.content_digest
         WHERE c.workspace_id = $1 AND d.status = 'ready' AND c.level = 'paragraph'
           AND c.content <> substr(t.content, c.start_index + 1, c.end_index - c.start_index)""",
}
