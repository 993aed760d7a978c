"""Services with one fault each: the harness must notice every one of them, or its silence means nothing.

`app` builds the service that the environment names; the mutants of SQL functions are installed into the run's own
database and taken back afterwards. Nothing of this is reachable from the service itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from fastapi import FastAPI

from app import features
from app.features.documents import operations, queries
from app.gate import gate, replay
from app.gate import queries as gate_queries
from app.gate.gate import Answer, Gate
from app.kit import errors
from app.main import create_app
from app.settings import Settings
from app.store.postgres import Database

MUTANT_ENV = "CHAOS_MUTANT"
_PAUSE = 0.03
_original_command = Gate._command
_original_hot = Database.hot
_original_key = replay.receipt_key


def predicate_ignored() -> None:
    """A write goes through whatever revision it was based on: lost updates."""
    queries._expected = lambda _: (None, None)


def no_receipt() -> None:
    """A repeated request is carried out again."""

    async def command(self: Gate, ctx: Any, operation: Any, args: Any, raw_key: str | None) -> Any:
        return await _original_command(self, ctx, operation, args, None)

    Gate._command = command


def receipt_in_second_transaction() -> None:
    """The effect commits before its receipt does, so that a twin, or a crash in between, repeats it."""

    async def command(self: Gate, ctx: Any, operation: Any, args: Any, raw_key: str | None) -> Any:
        if raw_key is None:
            return await _original_command(self, ctx, operation, args, None)
        key = replay.receipt_key(self._secrets[0], ctx.principal, operation, args, replay.normalize_key(raw_key))
        async with self.database.tx(ctx.workspace_id) as tx:
            stored = await tx.fetchval(
                "SELECT body FROM receipts WHERE workspace_id = $1 AND user_id = $2 AND grant_id = $3 "
                "AND key_digest = $4",
                tx.workspace_id, key.user_id, key.grant_id, key.digest,
            )  # fmt: skip
        if stored is not None:
            body = replay.unpack(stored, key)
            return Answer(gate._parse_result(operation, body), body, replayed=True)
        answer = await _original_command(self, ctx, operation, args, None)
        await asyncio.sleep(_PAUSE)
        async with self.database.tx(ctx.workspace_id) as tx:
            await tx.execute(gate_queries.claim_receipt(tx.workspace_id, key))
            await tx.execute(
                "UPDATE receipts SET body = $1 WHERE workspace_id = $2 AND user_id = $3 AND grant_id = $4 "
                "AND key_digest = $5",
                replay.pack(answer.body, key), tx.workspace_id, key.user_id, key.grant_id, key.digest,
            )  # fmt: skip
        return answer

    Gate._command = command


def body_regenerated() -> None:
    """A replay tells of the document as it is now, not of the write that the key stands for."""
    original = replay.stored_answer

    async def stored_answer(tx: Any, key: Any) -> bytes | None:
        stored = await original(tx, key)
        if stored is None:
            return None
        body = json.loads(stored)
        row = await tx.fetchrow(
            "SELECT revision, current_version FROM documents WHERE workspace_id = $1 AND id = $2",
            tx.workspace_id, UUID(body["data"]["id"]),
        )  # fmt: skip
        body["data"] |= {"revision": row["revision"], "currentVersion": row["current_version"]}
        return json.dumps(body, separators=(",", ":")).encode()

    replay.stored_answer = stored_answer


def key_not_scoped() -> None:
    """The key of one grant stands in the way of the other's."""

    def receipt_key(secret: str, principal: Any, operation: Any, args: Any, text: str) -> Any:
        return _original_key(secret, replace(principal, grant_id=UUID(int=0)), operation, args, text)

    replay.receipt_key = receipt_key
    original = gate_queries.finish

    def finish(ctx: Any, key: Any, body: bytes) -> str:
        ctx.principal = replace(ctx.principal, grant_id=UUID(int=0))
        return original(ctx, key, body)

    gate_queries.finish = finish


def fingerprint_ignored() -> None:
    """Another request under the same key gets the first one's answer."""

    def receipt_key(*given: Any) -> Any:
        return replace(_original_key(*given), fingerprint=b"same")

    replay.receipt_key = receipt_key


def answered_before_commit() -> None:
    """The answer leaves while the transaction can still be lost."""

    async def command(self: Gate, ctx: Any, operation: Any, args: Any, raw_key: str | None) -> Any:
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def carry_out() -> None:
            try:
                async with self.database.tx(ctx.workspace_id) as tx:
                    ctx._tx = tx
                    result = await operation.function(ctx, args)
                    body = result.to_json() if result is not None else b""
                    tx.closing = gate_queries.finish(ctx, None, b"")
                    answered.set_result(Answer(result, body))
                    await asyncio.sleep(_PAUSE)
            except BaseException as error:  # noqa: BLE001  the caller gets it, whatever it is
                if not answered.done():
                    answered.set_exception(error)

        if raw_key is not None:
            return await _original_command(self, ctx, operation, args, raw_key)
        _running.add(task := asyncio.create_task(carry_out()))
        task.add_done_callback(_running.discard)
        return await answered

    Gate._command = command


_running: set[asyncio.Task[None]] = set()


def read_from_cache() -> None:
    """A worker answers reads from what it read up to a second ago."""
    cache: dict[Any, tuple[float, Any]] = {}

    async def hot(self: Database, call: str, *args: Any) -> Any:
        if call != queries.GET:
            return await _original_hot(self, call, *args)
        until, row = cache.get(args, (0.0, None))
        if time.monotonic() > until:
            row = await _original_hot(self, call, *args)
            cache[args] = (time.monotonic() + 1.0, row)
        return row

    Database.hot = hot


def refusal_lies() -> None:
    """A refusal names the revision before the current one."""

    class Mismatch(errors.RevisionMismatch):
        def __init__(self, what: str, form: Any, revision: int, content_hash: str) -> None:
            super().__init__(what, form, revision - 1, content_hash)

    operations.RevisionMismatch = Mismatch


def _replaced(old: str, new: str) -> Callable[[str], str]:
    def change(sql: str) -> str:
        head, mark, tail = sql.partition("CREATE OR REPLACE FUNCTION document_write(")
        assert old in tail, f"the SQL no longer holds {old!r}: the mutant is out of date"
        return head + mark + tail.replace(old, new)

    return change


PYTHON: dict[str, Callable[[], None]] = {
    made.__name__: made
    for made in (
        predicate_ignored,
        no_receipt,
        receipt_in_second_transaction,
        body_regenerated,
        key_not_scoped,
        fingerprint_ignored,
        answered_before_commit,
        read_from_cache,
        refusal_lies,
    )
}
SQL: dict[str, Callable[[str], str]] = {
    "noop_makes_revision": _replaced("IF v_hash = d.content_hash THEN", "IF false THEN"),
    "stale_answers_noop": _replaced(
        "IF NOT revision_expected(",
        "IF text_digest(p_content) IS DISTINCT FROM d.content_digest AND NOT revision_expected(",
    ),
    "revision_leaves_holes": _replaced("revision + 1", "revision + 1 + (d.revision % 3)"),
}
NAMES = (*PYTHON, *SQL)


def functions_sql(name: str | None = None) -> str:
    """Give the SQL functions of documents, as they are or as a mutant has them."""
    path = Path(features.__file__).parent / "documents" / "functions.sql"
    sql = path.read_text(encoding="utf-8")
    return SQL[name](sql) if name in SQL else sql


def app(settings: Settings) -> FastAPI:
    """Build the service with the fault that the environment names."""
    name = os.environ[MUTANT_ENV]
    if name in PYTHON:
        PYTHON[name]()
    return create_app(settings)
