"""`python -m tests.bench.recall`: what the approximate index finds of what comparing all vectors finds.

Tenants of several sizes stand beside many foreign vectors in the same partition, in one run such as lie in clusters, as
those of texts do, in another random ones: the worst case, in which nothing is nearer than anything else, is shown and
not judged. Rows go into the real tables, and the real statements search them. The service compares all vectors of a
small tenant; of a larger one the run is good only where the index was walked. The index is built when all rows are
there (as a restore builds it), which takes minutes where row by row would take an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
import uuid
from pathlib import Path

import asyncpg
import numpy as np
from pgvector import HalfVector

from app.features.indexing.service import Serving
from app.features.indexing.serving import EXACT_BELOW
from app.features.indexing.tables import EF_CONSTRUCTION
from app.features.search.ranking import queries
from app.store import postgres
from tests.support import stack as stacks

MUST = 0.98
MODEL = "bench"
DIM = 384
ROWS = 500
K = 10
WORD = "word"
"""No document has it: vectors decide alone."""

_DOCUMENTS = """
INSERT INTO documents (workspace_id, id, title, tags, title_digest, content_digest, tags_digest, content_hash,
                       created_by, created_at, last_changed_at, status, indexed_revision, chunked_revision)
SELECT $1, id, 'Bench', '{}', text_digest(''), text_digest(''), text_digest(''), text_digest(''), $1,
       clock_timestamp(), clock_timestamp(), 'ready', 1, 1
  FROM unnest($2::uuid[]) AS id
"""
_CHUNKS = """
INSERT INTO chunks (workspace_id, id, document_id, revision, level, ordinal, section_path, header, content, start_index,
                    end_index, word_count, language, text_digest)
SELECT $1, id, id, 1, 'paragraph', 0, '{}', '', '', 0, 0, 0, 'simple', sha256(id::text::bytea)
  FROM unnest($2::uuid[]) AS id
"""
_VECTORS = """
INSERT INTO vectors (workspace_id, text_digest, slot, model, dim, embedding)
SELECT $1, sha256(id::text::bytea), 0, $4, $5, embedding FROM unnest($2::uuid[], $3::halfvec[]) AS t(id, embedding)
"""
_INDEXES = """
SELECT indexname AS name,
       regexp_replace(replace(indexdef, ' ON ONLY ', ' ON '), '( WITH [(][^)]*[)])? WHERE ', $1) AS definition
  FROM pg_indexes WHERE tablename = 'vectors' AND indexdef LIKE '%USING hnsw%'
"""
_DENSE = f" WITH (ef_construction = {EF_CONSTRUCTION}) WHERE "
_PARTITION = "SELECT satisfies_hash_partition('vectors'::regclass, 32, 0, $1::uuid)"


def vectors(source: np.random.Generator, count: int, *, clustered: bool) -> np.ndarray:
    """Make unit vectors: of no order, or around some hundreds of centres."""
    made = source.standard_normal((count, DIM)).astype(np.float32)
    if clustered:
        centres = source.standard_normal((max(count // 300, 1), DIM)).astype(np.float32)
        made = centres[source.integers(len(centres), size=count)] + 0.5 * made
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float16)


async def same_partition(sql: asyncpg.Connection) -> uuid.UUID:
    """Give a workspace whose vectors lie in the first partition."""
    while True:
        workspace_id = uuid.uuid4()
        if await sql.fetchval(_PARTITION, workspace_id):
            return workspace_id


async def fill(database: postgres.Database, workspace_id: uuid.UUID, made: np.ndarray) -> None:
    """Keep vectors, each as the only passage of a document."""
    async with database.tx(workspace_id) as tx:
        await tx.execute("INSERT INTO contents VALUES ($1, text_digest(''), '') ON CONFLICT DO NOTHING", workspace_id)
    for start in range(0, len(made), ROWS):
        part = made[start : start + ROWS]
        ids = [uuid.uuid4() for _ in part]
        async with database.tx(workspace_id) as tx:
            await tx.execute(_DOCUMENTS, workspace_id, ids)
            await tx.execute(_CHUNKS, workspace_id, ids)
            await tx.execute(_VECTORS, workspace_id, ids, [HalfVector(row) for row in part], MODEL, DIM)


async def ask(
    database: postgres.Database, workspace_id: uuid.UUID, vector: np.ndarray, *, many: bool
) -> tuple[list[uuid.UUID], float]:
    """Search one vector; gives the ids and the milliseconds."""
    async with database.snapshot(workspace_id) as tx:
        started = time.perf_counter()
        rows = await queries.rank(tx, ["document"], WORD, [], vector, Serving(MODEL, DIM, 0, many))
        took = (time.perf_counter() - started) * 1000
    near = sorted((row for row in rows["document"] if row["id"]), key=lambda row: -row["cosine"])
    return [row["id"] for row in near], took


async def uses_index(database: postgres.Database, workspace_id: uuid.UUID, vector: np.ndarray) -> bool:
    """Tell whether the statement for many vectors walks the approximate index."""
    sql = queries._ranking(("document",), Serving(MODEL, DIM, 0, many=True), filtered=False)
    async with database.snapshot(workspace_id) as tx:
        args = (workspace_id, WORD, [], queries.CANDIDATES, HalfVector(vector), MODEL)
        plan = await tx.fetch(f"EXPLAIN {sql}", *args)
    return any("Order By: ((embedding)::halfvec" in row[0] for row in plan)


async def filled(
    database: postgres.Database,
    sizes: list[int],
    foreign: int,
    sql: asyncpg.Connection,
    source: np.random.Generator,
    *,
    clustered: bool,
) -> dict[uuid.UUID, np.ndarray]:
    """Keep nothing but the foreign vectors and those of a workspace of each size, and index them."""
    await sql.execute("TRUNCATE documents, chunks, vectors CASCADE")
    indexes = await sql.fetch(_INDEXES, _DENSE)
    for row in indexes:
        await sql.execute(f"DROP INDEX {row['name']}")
    await fill(database, await same_partition(sql), vectors(source, foreign, clustered=clustered))
    made = {await same_partition(sql): vectors(source, size, clustered=clustered) for size in sizes}
    for workspace_id, own in made.items():
        await fill(database, workspace_id, own)
    await sql.execute("SET maintenance_work_mem = '1GB'")
    for row in indexes:
        await sql.execute(row["definition"])
    await sql.execute("ANALYZE")
    return made


async def compared(
    database: postgres.Database, workspace_id: uuid.UUID, made: np.ndarray, asked: int, source: np.random.Generator
) -> dict[str, float]:
    """Ask for vectors near some of a workspace in both ways."""
    shares, times, short, size = [], {True: [], False: []}, 0, len(made)
    for place in source.integers(size, size=asked):
        noise = 0.3 * vectors(source, 1, clustered=False)[0].astype(np.float32)
        wanted = made[place].astype(np.float32) + noise
        vector = (wanted / np.linalg.norm(wanted)).astype(np.float16)
        answers = {}
        for many in (False, True):
            answers[many], ms = await ask(database, workspace_id, vector, many=many)
            times[many].append(ms)
        shares.append(len(set(answers[True][:K]) & set(answers[False][:K])) / min(K, size))
        short += len(answers[True]) < min(queries.CANDIDATES, size)
    return {
        "chunks": size,
        "recall": statistics.mean(shares),
        "short": short,
        "index": await uses_index(database, workspace_id, made[0]),
        "exact_ms": statistics.median(times[False]),
        "approximate_ms": statistics.median(times[True]),
    }


async def measure(
    database: postgres.Database, sizes: list[int], foreign: int, asked: int, seed: int, sql: asyncpg.Connection
) -> list[dict[str, float]]:
    """Fill, and compare the two ways to search for each size and kind of vectors."""
    found = []
    for clustered in (True, False):
        source = np.random.default_rng(seed)
        made = await filled(database, sizes, foreign, sql, source, clustered=clustered)
        for workspace_id, own in made.items():
            found.append({"clustered": clustered, **await compared(database, workspace_id, own, asked, source)})
    return found


async def _report(stack: stacks.Stack, sizes: list[int], foreign: int, asked: int, seed: int) -> None:
    sql = await asyncpg.connect(stack.superuser_url.replace("+asyncpg", ""))
    async with postgres.connected(stack.settings) as database:
        rows = await measure(database, sizes, foreign, asked, seed, sql)
    await sql.close()
    print(f"recall@{K} beside {foreign} foreign vectors in the same partition, {asked} queries each")
    for row in rows:
        kind = "clusters" if row["clustered"] else "random  "
        print(
            f"{kind} {row['chunks']:>8} chunks  {_verdict(row):10}  recall of the index {row['recall']:.4f}  "
            f"short {row['short']}  {'walked' if row['index'] else 'not walked'}  "
            f"exact {row['exact_ms']:.1f} ms  approximate {row['approximate_ms']:.1f} ms"
        )


def _verdict(row: dict[str, float]) -> str:
    if row["chunks"] <= EXACT_BELOW:
        return "exact"
    if not row["clustered"]:
        return "worst case"
    return "ok" if row["recall"] >= MUST and not row["short"] and row["index"] else "MISSED"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--foreign", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, stacks.running(Path(folder)) as running:
        asyncio.run(_report(running, given.sizes, given.foreign, given.queries, given.seed))
