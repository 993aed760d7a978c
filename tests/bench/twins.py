"""The bare programs that the service is measured against: the same rows, wire and pool, and nothing else."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg
import mcp_types as types
import pydantic_core
from fastapi import FastAPI
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic import BaseModel

from app.settings import Settings

TABLE = """
CREATE TABLE bench_documents (
  id uuid PRIMARY KEY, title text NOT NULL, status text NOT NULL, source_type text NOT NULL, tags text[] NOT NULL,
  current_version int NOT NULL, revision int NOT NULL, content_hash text NOT NULL, created_at bigint NOT NULL,
  last_changed_at bigint NOT NULL, content text NOT NULL, policy text NOT NULL
);
"""
_GET = "SELECT * FROM bench_documents WHERE id = $1"
_UPDATE = """
UPDATE bench_documents SET content = $2, revision = revision + 1 WHERE id = $1 RETURNING id, title, revision
"""
DSN_ENV = "BENCH_DSN"
BARE_CONTENT = "The same length as the content of the documents that the service is asked for. ".ljust(1000, "x")


async def _pool(settings: Settings) -> asyncpg.Pool[asyncpg.Record]:
    pool = await asyncpg.create_pool(os.environ[DSN_ENV], min_size=1, max_size=settings.pool_size)
    assert pool is not None
    return pool


class BareRead:
    """Raw ASGI over asyncpg: a row by primary key as JSON. Nothing that reads the row can be cheaper in Python."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool: asyncpg.Pool[asyncpg.Record]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        body = b'{"data":null}'
        if scope["path"] != "/readyz":
            async with self._pool.acquire() as connection:
                row = await connection.fetchrow(_GET, UUID(scope["path"].rpartition("/")[2]))
            body = pydantic_core.to_json({"data": dict(row)})
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _lifespan(self, receive: Any, send: Any) -> None:
        await receive()
        self._pool = await _pool(self._settings)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._pool.close()
        await send({"type": "lifespan.shutdown.complete"})


class Change(BaseModel):
    """The body of the bare update."""

    content: str
    expectedRevision: int | None = None  # noqa: N815  the wire's name


class Changed(BaseModel):
    """The answer of the bare update."""

    id: UUID
    title: str
    revision: int


def bare_write(settings: Settings) -> FastAPI:
    """FastAPI: one `UPDATE … RETURNING` over asyncpg, without check, history, audit, job; and a plain JSON route."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.pool = await _pool(settings)
        yield
        await app.state.pool.close()

    app = FastAPI(lifespan=lifespan)

    @app.patch("/documents/{document_id}")
    async def update(document_id: UUID, change: Change) -> Changed:
        async with app.state.pool.acquire() as connection:
            row = await connection.fetchrow(_UPDATE, document_id, change.content)
        return Changed(**row)

    @app.put("/list")
    async def keep(kept: dict[str, Any]) -> None:
        app.state.kept = kept

    @app.get("/list")
    async def read() -> dict[str, Any]:
        kept: dict[str, Any] = app.state.kept
        return kept

    @app.get("/readyz")
    async def ready() -> dict[str, bool]:
        return {"ready": True}

    return app


class BareTools:
    """The low-level SDK over HTTP with one tool that answers what it is told; it looks nothing up and checks nobody."""

    def __init__(self, settings: Settings) -> None:  # noqa: ARG002  every server is made from the settings
        self._manager = StreamableHTTPSessionManager(
            Server("bare", on_call_tool=self._call), json_response=True, stateless=True
        )
        self._running = contextlib.AsyncExitStack()

    async def _call(self, _ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        document = {"data": dict(params.arguments or {}) | {"content": BARE_CONTENT}}
        return types.CallToolResult(content=[types.TextContent(text=BARE_CONTENT)], structured_content=document)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await self._running.enter_async_context(self._manager.run())
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await self._running.aclose()
            await send({"type": "lifespan.shutdown.complete"})
        elif scope["path"] == "/readyz":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._manager.handle_request(scope, receive, send)
