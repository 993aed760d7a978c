"""What the built-in embedding model promises: unit vectors, the same everywhere, off the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from app.features.indexing import remote
from app.features.indexing.remote import Embedder, MiniLM, ModelUnusableError, Vector

TEXT = "The backup of the database runs every night at two."
PARITY = [
    0.01348876953125,
    0.00048422813415527344,
    0.06927490234375,
    -0.052093505859375,
    -0.022613525390625,
    -0.1026611328125,
    -0.027435302734375,
    -0.0025424957275390625,
    -0.06402587890625,
    -0.03509521484375,
    -0.0267791748046875,
    0.032989501953125,
]


@pytest_asyncio.fixture
async def model() -> AsyncIterator[Embedder]:
    made = MiniLM(threads=2)
    yield made
    await made.close()


def cosine(one: Vector, other: Vector) -> float:
    return float(one.astype(np.float32) @ other.astype(np.float32))


@pytest.mark.asyncio
async def test_vectors_are_unit_half_floats(model: Embedder) -> None:
    texts = [TEXT, "", "x", "漢字 🙂", "[" * 5_000, "word " * 50_000]
    vectors = await model.embed(texts)
    assert len(vectors) == len(texts)
    for vector in vectors:
        assert vector.dtype == np.float16
        assert vector.shape == (model.dim,) == (384,)
        assert float(np.linalg.norm(vector.astype(np.float32))) == pytest.approx(1, abs=2e-3)
    assert await model.embed([]) == []


@pytest.mark.asyncio
async def test_vectors_match_the_recorded_ones(model: Embedder) -> None:
    vector = await model.embed_query(TEXT)
    assert vector[::32].tolist() == pytest.approx(PARITY, abs=2e-3)


@pytest.mark.asyncio
async def test_a_vector_depends_on_its_text_alone(model: Embedder) -> None:
    texts = [f"{TEXT} Note {number}. {'More words. ' * (number % 7)}" for number in range(30)]
    alone = [await model.embed_query(text) for text in texts]
    for together in await asyncio.gather(model.embed(texts), model.embed(texts)):
        assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))


@pytest.mark.asyncio
async def test_a_paraphrase_is_nearer_than_something_else(model: Embedder) -> None:
    query = await model.embed_query("When is a copy of the data saved?")
    paraphrase, unrelated = await model.embed([TEXT, "The old pear tree needs more water in summer."])
    assert cosine(query, paraphrase) > cosine(query, unrelated) + 0.2


@pytest.mark.asyncio
async def test_only_the_first_256_tokens_count(model: Embedder) -> None:
    start = "night " * 254  # and the two marks the tokenizer adds
    full, longer, shorter = await model.embed([start, f"{start} completely different words", "night " * 253])
    assert np.array_equal(full, longer)
    assert not np.array_equal(full, shorter)


@pytest.mark.asyncio
async def test_the_event_loop_goes_on_and_queries_overtake(model: Embedder) -> None:
    await model.embed_query("warm")
    bulk = asyncio.create_task(model.embed([f"{number} " + "passage " * 200 for number in range(60)]))
    await asyncio.sleep(0)
    lags = []
    for _ in range(20):
        started = time.perf_counter()
        await asyncio.sleep(0.005)
        lags.append(time.perf_counter() - started)
    await model.embed_query("a query")
    assert not bulk.done(), "the query waited for the passages"
    # The median: one passage takes some 70 ms, so a blocked loop would show it in every turn.
    assert sorted(lags)[10] < 0.05
    bulk.cancel()
    with pytest.raises(asyncio.CancelledError):
        await bulk


@pytest.mark.asyncio
async def test_closing_drops_waiting_work() -> None:
    model = MiniLM(threads=1)
    await model.warm()
    bulk = asyncio.create_task(model.embed(["passage " * 200] * 200))
    await asyncio.sleep(0.02)
    started = time.perf_counter()
    await model.close()
    assert time.perf_counter() - started < 5
    with pytest.raises(asyncio.CancelledError):
        await bulk
    with pytest.raises(RuntimeError):
        await model.embed_query("too late")


@pytest.mark.asyncio
async def test_an_altered_file_is_refused(model: MiniLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forged = tmp_path / "tokenizer.json"
    forged.write_text("{}")
    monkeypatch.setattr(remote, "_TOKENIZER", forged)
    with pytest.raises(ModelUnusableError, match="not the pinned file"):
        await model.warm()
    monkeypatch.undo()
    await model.warm()


@pytest.mark.asyncio
async def test_a_missing_model_is_named(model: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_MODEL_PACKAGE", "no_such_package")
    with pytest.raises(ModelUnusableError, match="no_such_package is not installed"):
        await model.warm()
