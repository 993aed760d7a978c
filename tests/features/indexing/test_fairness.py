"""What is indexed first of a workspace that has much to do."""

from __future__ import annotations

import asyncio

from app.features.indexing import service
from tests.contract.requirements import proves
from tests.support.indexing import Mute

BOOK = "\n\n".join(f"Sentence {n} of a long book about quarries and their owners, told at leisure." for n in range(900))


class Slow(Mute):
    """A model that takes its time for each batch."""

    async def embed(self, texts):
        await asyncio.sleep(0.2)
        return await super().embed(texts)


async def ready(sql, ids):
    rows = await sql.fetch("SELECT id FROM documents WHERE id = ANY($1) AND indexed_revision = revision", ids)
    return {str(row["id"]) for row in rows}


@proves("INDEX-FAIR")
async def test_a_note_does_not_wait_for_the_books_before_it(alice, make, database, sql):
    books = [(await make.document(alice.client, title=f"Book {n}", content=BOOK))["id"] for n in range(8)]
    note = await make.document(alice.client, title="Note", content="The walrus is awake.")
    for _ in range(2):
        assert await service.index_workspace(database, Slow(), alice.workspace_id)
    assert note["id"] in await ready(sql, [note["id"]])
    assert len(await ready(sql, books)) < len(books)


@proves("INDEX-FAIR")
async def test_every_book_is_cut_before_most_are_embedded(alice, make, database, sql):
    books = [(await make.document(alice.client, title=f"Book {n}", content=BOOK))["id"] for n in range(8)]
    while await service.index_workspace(database, Slow(), alice.workspace_id):
        cut = await sql.fetchval("SELECT count(*) FROM documents WHERE id = ANY($1) AND chunked_revision > 0", books)
        done = len(await ready(sql, books))
        assert cut == len(books) or done <= 2 * service.CLAIM_DOCUMENTS
    assert await ready(sql, books) == set(books)
