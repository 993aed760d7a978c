"""The worker's composition root: the job queue, sweeps, and the services that jobs use."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
from pgqueuer import PgQueuer

from app import features
from app.features.indexing.endpoint import embedders_of
from app.features.indexing.remote import MiniLM
from app.features.indexing.serving import Embedders
from app.features.mail.remote import Mailer
from app.features.plans.service import Allowances
from app.features.uploads.remote import Converter
from app.gate.limiter import Limiter
from app.gate.policy import Plans
from app.gate.site import Site
from app.store import jobs, postgres, redis
from app.store.bootstrap import plain_url
from app.store.confined import Confined

if TYPE_CHECKING:
    from pgqueuer.domain.models import Job

    from app.settings import Settings
    from app.store.jobs import Handler, Work

log = logging.getLogger(__name__)

SWEEP_SECONDS = 15.0
CONCURRENT_JOBS = 4
_HEARTBEAT = timedelta(seconds=10)


def run(settings: Settings) -> None:
    """Work until the process is told to stop; a job that is cut off is found again by a sweep."""
    asyncio.run(_main(settings))


async def _main(settings: Settings) -> None:
    connection = await asyncpg.connect(plain_url(settings.database_direct_url or settings.database_system_url))
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(connection.close)
        database = await stack.enter_async_context(postgres.connected(settings))
        client = redis.connect(settings.redis_url) if settings.redis_url else None
        if client is not None:
            stack.push_async_callback(client.aclose)
        limiter = Limiter(client)
        stack.push_async_callback(limiter.aclose)
        embedders = embedders_of(settings, MiniLM(settings.embed_threads), limiter)
        stack.push_async_callback(embedders.close)
        site = Site(settings.url, settings.product_name)
        services = {
            Embedders: embedders,
            Mailer: Mailer.of(settings),
            Site: site,
            Converter: Converter(Confined()),
            Allowances: Allowances(database, Plans.load(settings.plans_file), settings.default_plan),
        }
        work = jobs.Work(database, services)
        queue = PgQueuer.from_asyncpg_connection(connection)
        for handler in features.collect("jobs", "JOBS"):
            _register(queue, work, handler)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, queue.shutdown.set)
        sweeps = asyncio.create_task(_sweep(work, queue.shutdown))
        await queue.run(
            dequeue_timeout=timedelta(seconds=5),
            max_concurrent_tasks=CONCURRENT_JOBS,
            batch_size=CONCURRENT_JOBS // 2,
            heartbeat_timeout=_HEARTBEAT,
        )
        sweeps.cancel()
        await asyncio.gather(sweeps, return_exceptions=True)


def _register(queue: PgQueuer, work: Work, handler: Handler) -> None:
    async def execute(job: Job) -> None:
        try:
            await handler.function(work, jobs.decode(job.payload))
        except Exception:
            log.exception("the job %s failed; a sweep will find what it left undone", handler.entrypoint)

    queue.entrypoint(handler.entrypoint)(execute)


async def _sweep(work: Work, shutdown: asyncio.Event) -> None:
    sweeps: list[Any] = list(features.collect("jobs", "SWEEPS"))
    while not shutdown.is_set():
        for sweep in sweeps:
            try:
                await sweep(work)
            except Exception:
                log.exception("a sweep failed; the next one comes in %s s", SWEEP_SECONDS)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(shutdown.wait(), SWEEP_SECONDS)
