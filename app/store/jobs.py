"""The job queue is pgqueuer; a job is enqueued by the statement, in the transaction, that causes it."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic_core
from pgqueuer.adapters.persistence.qb import QueryQueueBuilder
from pgqueuer.domain.settings import DBSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    import asyncpg

    from app.store.postgres import Database
    from app.store.tx import Tx

S = TypeVar("S")
PAYLOAD_VERSION = 1
_AT_ONCE = timedelta()
SETTINGS = DBSettings(prefix="")


@dataclass(frozen=True, slots=True)
class Job:
    """Work for the worker: an entrypoint's name and a small JSON payload."""

    entrypoint: str
    payload: dict[str, Any]
    merges: bool = False
    """Whether a waiting job that asks for the same stands for this one; its handler begins with `absorb`."""

    def to_call(self) -> dict[str, Any]:
        """Give the job as the database function `gate_enqueue` reads it."""
        return {"entrypoint": self.entrypoint, "payload": b64encode(encode(self.payload)), "merges": self.merges}


def encode(payload: dict[str, Any]) -> bytes:
    """Write a payload in its versioned envelope."""
    return pydantic_core.to_json({"v": PAYLOAD_VERSION, **payload})


def decode(payload: bytes | None) -> dict[str, Any]:
    """Read a payload back."""
    value: dict[str, Any] = pydantic_core.from_json(payload or b"{}")
    return value


_LOCK = "hashtextextended({entrypoint} || encode({payload}, 'hex'), 0)"

ENQUEUE = QueryQueueBuilder(settings=SETTINGS).build_enqueue_query().strip()
"""pgqueuer's own statement; its parameters are $1 to $6, see `enqueue_args`."""

ENQUEUE_FUNCTION = f"""
CREATE OR REPLACE FUNCTION enqueue_jobs(int[], text[], bytea[], interval[], text[], jsonb[])
RETURNS TABLE (ord bigint, id bigint) LANGUAGE sql VOLATILE AS $function$
{ENQUEUE}
$function$;
"""
"""The same statement as a function, for other functions to call."""

# A job that merges is skipped when its like is waiting already. Between that look and the commit the waiting job may be
# picked: so the writer holds the job's lock in shared mode until it has committed, and the handler, before it looks at
# what there is to do, waits for the lock alone (`absorb`). Writers that come later see the job picked, and enqueue.
# The lock is the last one a transaction takes, so it closes no circle.
MERGE_FUNCTION = f"""
CREATE OR REPLACE FUNCTION merge_job(p_entrypoint text, p_payload bytea)
RETURNS void LANGUAGE plpgsql VOLATILE AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock_shared({_LOCK.format(entrypoint="p_entrypoint", payload="p_payload")});
  IF NOT EXISTS (SELECT FROM {SETTINGS.queue_table}
                  WHERE payload = p_payload AND entrypoint = p_entrypoint AND status = 'queued') THEN
    PERFORM enqueue_jobs(ARRAY[0], ARRAY[p_entrypoint], ARRAY[p_payload], ARRAY[interval '0'], ARRAY[NULL::text],
                         ARRAY[NULL::jsonb]);
  END IF;
END
$function$;
CREATE INDEX pgqueuer_waiting ON {SETTINGS.queue_table} (payload, entrypoint) WHERE status = 'queued';
"""


def enqueue_args(jobs: Sequence[Job]) -> tuple[Any, ...]:
    """Give the six array parameters of `ENQUEUE`."""
    nothing: list[None] = [None] * len(jobs)
    return (
        [0] * len(jobs),
        [job.entrypoint for job in jobs],
        [encode(job.payload) for job in jobs],
        [_AT_ONCE] * len(jobs),
        nothing,
        nothing,
    )


# A job that is being picked is locked, and stays.
_ABSORB = f"""
DELETE FROM {SETTINGS.queue_table} WHERE id IN (
  SELECT id FROM {SETTINGS.queue_table}
   WHERE entrypoint = $1 AND payload = $2 AND status = 'queued' FOR UPDATE SKIP LOCKED)
"""

_AWAIT_WRITERS = f"SELECT pg_advisory_xact_lock({_LOCK.format(entrypoint='$1::text', payload='$2::bytea')})"

_WAITING = f"SELECT payload FROM {SETTINGS.queue_table} WHERE entrypoint = ANY($1) AND status = 'queued'"


@dataclass(frozen=True, slots=True)
class Work:
    """What a job may use: the database of its worker and the services that the composition root built."""

    database: Database
    services: dict[type, Any]

    def get(self, service: type[S]) -> S:
        """Give the service of a type."""
        found: S = self.services[service]
        return found


@dataclass(frozen=True, slots=True)
class Handler:
    """A job's name and the function that does it; jobs may run twice and must bear it."""

    entrypoint: str
    function: Callable[[Work, dict[str, Any]], Awaitable[None]]


async def enqueue(pool: asyncpg.Pool[asyncpg.Record], jobs: Sequence[Job]) -> None:
    """Enqueue jobs outside any transaction of a caller."""
    if jobs:
        async with pool.acquire() as connection:
            await connection.fetch(ENQUEUE, *enqueue_args(jobs))


async def enqueue_in(tx: Tx, jobs: Sequence[Job]) -> None:
    """Enqueue jobs in a transaction that is no operation's."""
    await tx.fetch(ENQUEUE, *enqueue_args(jobs))


async def absorb(pool: asyncpg.Pool[asyncpg.Record], job: Job) -> None:
    """Drop waiting jobs that ask for the same, and wait for the writers that saw one waiting.

    What any of them asked for is committed and seen from here on.
    """
    asked = job.entrypoint, encode(job.payload)
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(_ABSORB, *asked)
        await connection.execute(_AWAIT_WRITERS, *asked)


async def enqueue_missing(pool: asyncpg.Pool[asyncpg.Record], jobs: Sequence[Job]) -> None:
    """Enqueue those jobs of which none is waiting."""
    if jobs:
        async with pool.acquire() as connection:
            rows = await connection.fetch(_WAITING, list({job.entrypoint for job in jobs}))
        waiting = {row["payload"] for row in rows}
        await enqueue(pool, [job for job in jobs if encode(job.payload) not in waiting])
