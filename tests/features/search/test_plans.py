"""How Postgres carries out search behind row-level security, with other tenants' rows beside."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import pytest_asyncio
from pgvector import HalfVector

from app.features.indexing.remote import MiniLM
from app.features.indexing.service import Serving
from app.features.search.past import queries as past
from app.features.search.ranking import queries
from app.kit.ids import NO_ID

DOCUMENTS = 30
CROWD = 400
"""Documents of each of the others: a tenant is small among many, or reading the whole table would be right."""
PASSAGES = 12

_CONTENTS = """
INSERT INTO contents SELECT $1, sha256(convert_to(n::text, 'UTF8')), 'text ' || n FROM generate_series(1, $2::int) n
"""
_DOCUMENTS = """
INSERT INTO documents (workspace_id, id, title, tags, title_digest, content_digest, tags_digest, content_hash, status,
                       created_by, created_at, last_changed_at, indexed_revision, chunked_revision)
SELECT $1, gen_random_uuid(), 'Document ' || n, '{}', '', sha256(convert_to(n::text, 'UTF8')), '', '', 'ready', $3,
       now(), now(), 1, 1
  FROM generate_series(1, $2::int) n
"""
_CHUNKS = """
INSERT INTO chunks (workspace_id, id, document_id, revision, level, ordinal, section_path, header, content, start_index,
                    end_index, word_count, language, text_digest)
SELECT $1, gen_random_uuid(), d.id, 1, CASE n WHEN 0 THEN 'document' ELSE 'paragraph' END, n, '{}', '', 'text', 0, 4,
       1, 'english', sha256(convert_to(d.id::text || n, 'UTF8'))
  FROM documents d, generate_series(0, $2::int) n WHERE d.workspace_id = $1
"""
_POSTINGS = """
INSERT INTO postings (workspace_id, level, language, term, chunk_id, tf, length)
SELECT $1, c.level, 'english', 'term' || (hashtext(c.id::text || n) & 1023), c.id, 1, 8
  FROM chunks c, generate_series(1, 8) n WHERE c.workspace_id = $1
ON CONFLICT DO NOTHING
"""
_STATISTICS = """
INSERT INTO index_statistics SELECT $1, 'english', level, count(DISTINCT chunk_id), sum(tf)
  FROM postings WHERE workspace_id = $1 GROUP BY level
"""
_VECTORS = """
INSERT INTO vectors SELECT $1, text_digest, 0, $2, 384, $3::halfvec FROM chunks WHERE workspace_id = $1
ON CONFLICT DO NOTHING
"""
_REVISIONS = """
INSERT INTO document_revisions (workspace_id, document_id, revision, id, version, content_changed, title, tags,
                                content_digest, content_hash, action, author_id, author_name, grant_id, decided_at)
SELECT workspace_id, id, n, gen_random_uuid(), n, true, title, tags, content_digest, '', 'create', created_by, 'x', id,
       now() - interval '1 day' * (3 - n)
  FROM documents, generate_series(1, 3) n WHERE workspace_id = $1
"""
_TABLES = (
    "contents",
    "documents",
    "document_revisions",
    "document_tags",
    "chunks",
    "postings",
    "vectors",
    "index_statistics",
)
KINDS = ("document", "prompt", "collection")
SERVING = Serving(MiniLM.name, MiniLM.dim, 0)
BIG = ("chunks", "postings", "vectors", "contents")


def vector():
    return HalfVector(np.full(384, 384**-0.5, dtype=np.float16))


async def fill(database, user, documents, passages=PASSAGES):
    async with database.tx(user.workspace_id) as tx:
        await tx.execute(_CONTENTS, user.workspace_id, documents)
        await tx.execute(_DOCUMENTS, user.workspace_id, documents, user.id)
        await tx.execute(_REVISIONS, user.workspace_id)
        await tx.execute(_CHUNKS, user.workspace_id, passages)
        await tx.execute(_POSTINGS, user.workspace_id)
        await tx.execute(_STATISTICS, user.workspace_id)
        await tx.execute(_VECTORS, user.workspace_id, MiniLM.name, vector())


@pytest_asyncio.fixture(scope="module")
async def tenants(make, database, sql):
    """Two small tenants, filled among others with thousands of chunks; the last one is large."""
    users = []
    for documents in (CROWD, DOCUMENTS, CROWD, DOCUMENTS, CROWD):
        users.append(await make.user())
        await fill(database, users[-1], documents)
    await sql.execute("ANALYZE " + ", ".join(_TABLES))
    return users[1], users[3], users[4]


def walk(node):
    yield node
    for child in node.get("Plans", []):
        yield from walk(child)


async def plan(database, user, statement, *args):
    """Explain with what really ran: nodes that were never executed are left out."""
    async with database.snapshot(user.workspace_id) as tx:
        assert await tx.fetchval("SELECT current_user") == "app_read"
        text = await tx.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", user.workspace_id, *args)
    (explained,) = json.loads(text)
    return [node for node in walk(explained["Plan"]) if node.get("Actual Loops", 0) > 0]


def relations(nodes):
    return {node["Relation Name"] for node in nodes if "Relation Name" in node}


def partitions(nodes, table):
    return {name for name in relations(nodes) if name.startswith(f"{table}_p")}


def foreign_rows(nodes):
    """Rows that a node on a large table threw away: another tenant's would be among them."""
    return {
        node["Relation Name"]: node.get("Rows Removed by Filter", 0) * node["Actual Loops"]
        for node in nodes
        if node.get("Relation Name", "").startswith(BIG)
    }


def scanned_whole(nodes):
    return {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"}


async def home(sql, table, user):
    return await sql.fetchval(
        f"SELECT tableoid::regclass::text FROM {table} WHERE workspace_id = $1", user.workspace_id
    )


@pytest.mark.parametrize("filtered", [False, True])
async def test_words_are_looked_up_in_one_partition_by_their_key(filtered, tenants, database, sql):
    user = tenants[2]
    args = ("term1 term2 term300", [], queries.CANDIDATES)
    nodes = await plan(database, user, queries._ranking(("document",), None, filtered=filtered), *args)
    (partition,) = partitions(nodes, "postings")
    assert partition == await home(sql, "postings", user)
    indexes = {node["Index Name"] for node in nodes if node.get("Index Name", "").startswith("postings")}
    assert f"{partition}_pkey" in indexes
    assert partition not in scanned_whole(nodes)
    assert foreign_rows(nodes)[partition] == 0


@pytest.mark.parametrize("filtered", [False, True])
async def test_vectors_are_read_of_one_partition_and_only_the_own_rows(filtered, tenants, database, sql):
    user = tenants[1]
    args = ("term1 term2", [], queries.CANDIDATES, vector(), MiniLM.name)
    nodes = await plan(database, user, queries._ranking(KINDS, SERVING, filtered=filtered), *args)
    assert partitions(nodes, "vectors") == {await home(sql, "vectors", user)}
    assert partitions(nodes, "postings") == {await home(sql, "postings", user)}
    read = sum(n["Actual Rows"] * n["Actual Loops"] for n in nodes if n.get("Relation Name", "").startswith("vectors"))
    assert read == DOCUMENTS * (PASSAGES + 1)
    assert "chunks" not in scanned_whole(nodes)
    assert not any(name.startswith("postings") for name in scanned_whole(nodes))
    assert foreign_rows(nodes)["chunks"] == 0


async def test_the_literal_statement_reads_only_the_own_texts(tenants, database, sql):
    async with database.snapshot(tenants[0].workspace_id) as tx:
        body = await tx.fetchval("SELECT prosrc FROM pg_proc WHERE proname = 'search_literally'")
    async with sql.acquire() as connection, connection.transaction():
        await connection.execute(
            "SET LOCAL ROLE app_system; SET LOCAL app.collections = '*';"
            f"SET LOCAL app.workspace_id = '{tenants[0].workspace_id}'"
        )
        explained = await connection.fetchval(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {body}", ["document", "prompt", "collection"], "text 77", [], 20
        )
    nodes = [node for node in walk(json.loads(explained)[0]["Plan"]) if node.get("Actual Loops", 0) > 0]
    assert not {"contents", "chunks", "documents"} & scanned_whole(nodes)
    assert {"contents", "documents"} <= relations(nodes)
    assert sum(foreign_rows(nodes).values()) == 0


async def test_a_search_as_of_a_time_reads_only_own_rows_by_their_keys(tenants, database):
    user, at = tenants[1], datetime.now(UTC) - timedelta(hours=12)
    for statement, text, *last in ((past._LIST, "term1 term2", 200), (past._LITERAL, "text 7")):
        nodes = await plan(database, user, statement, text, [], queries.CANDIDATES, at, *last, user.id)
        assert {"contents", "documents", "document_revisions"} <= relations(nodes)
        assert not {"contents", "documents", "document_revisions", "chunks"} & scanned_whole(nodes)
        assert sum(foreign_rows(nodes).values()) == 0
        of_then = [
            n["Actual Rows"] * n["Actual Loops"] for n in nodes if n.get("Relation Name") == "document_revisions"
        ]
        assert of_then == [DOCUMENTS]


async def test_the_literal_function_sees_what_the_transaction_may_see(tenants, database, make):
    mine, other = tenants[0], tenants[1]
    call = "SELECT count(*) FROM search_literally(ARRAY['document', 'prompt', 'collection'], 'text 7', '{}', 100)"
    async with database.snapshot(mine.workspace_id) as tx:
        assert await tx.fetchval(call) == 1
        assert await tx.fetchval("SELECT current_user") == "app_read"
    async with database.snapshot(mine.workspace_id, []) as tx:
        assert await tx.fetchval(call) == 0
    async with database.snapshot(NO_ID) as tx:
        assert await tx.fetchval(call) == 0
    for user in (mine, other):
        assert len((await user.client.get("/v1/search?q=text 7&semantic=false")).json()["data"]["documents"]) == 1


async def test_row_level_security_is_in_the_plan(tenants, database):
    async with database.snapshot(tenants[0].workspace_id) as tx:
        args = (tenants[1].workspace_id, "term1", [], queries.CANDIDATES, vector(), MiniLM.name)
        (row,) = await tx.fetch(queries._ranking(("document",), SERVING, filtered=False), *args)
        assert (row["id"], row["total"]) == (None, 0)


_RANDOM_VECTORS = """
UPDATE vectors v
   SET embedding = (SELECT numbers FROM (SELECT array_agg(random() - 0.5) AS numbers
                                           FROM generate_series(1, 384 + 0 * length(v.text_digest))) AS t)::halfvec
 WHERE workspace_id = $1
"""
_HALF = "UPDATE documents SET tags = '{half}' WHERE workspace_id = $1 AND id::text < '8'"
_TAGS = """
INSERT INTO document_tags (workspace_id, tag, document_id)
SELECT $1, 'half', id FROM documents WHERE workspace_id = $1 AND tags = '{half}'
"""
_TAGGED = "SELECT document_id FROM document_tags WHERE workspace_id = $1"


async def test_a_tag_that_much_of_a_large_workspace_has_leaves_the_same(database, make, sql):
    user = await make.user()
    await fill(database, user, 1_200, passages=1)
    for statement in (_RANDOM_VECTORS, _HALF, _TAGS):
        await sql.execute(statement, user.workspace_id)
    words = " ".join(f"term{number}" for number in range(40))
    asked = np.random.default_rng(1).standard_normal(384).astype(np.float16)

    async def ranked(tags, candidates, *, many):
        async with database.snapshot(user.workspace_id) as tx:
            serving = Serving(MiniLM.name, MiniLM.dim, 0, many)
            rows = await queries.rank(tx, ["document"], words, tags, asked, serving, candidates)
        counted, *found = rows["document"]
        return counted["total"], {row["id"]: (row["words"], row["cosine"]) for row in found}

    half, best = await ranked(["half"], queries.CANDIDATES, many=False)
    assert half > 500
    everything, every = await ranked([], 10_000, many=False)
    assert everything == 1_200
    tagged = {row["document_id"] for row in await sql.fetch(_TAGGED, user.workspace_id)}
    left = {item: scores for item, scores in every.items() if item in tagged}
    scores = [
        sorted((found[0] for found in some if found[0] is not None), reverse=True)
        for some in (best.values(), left.values())
    ]
    assert scores[0] == scores[1][: queries.CANDIDATES]
    first = sorted((item for item in left if left[item][1] is not None), key=lambda item: -left[item][1])
    chosen = set(first[: queries.CANDIDATES])
    assert len(chosen & {item for item in best if best[item][1] is not None}) >= 0.9 * len(chosen)
    _, walked = await ranked(["half"], queries.CANDIDATES, many=True)
    near = {item for item, scores in best.items() if scores[1] is not None}
    assert len(near & walked.keys()) >= 0.75 * len(near)  # random vectors are the worst case of the index
    assert walked.keys() <= tagged
