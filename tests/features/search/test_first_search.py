"""What a newcomer tries first."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote_plus

from app.features.search.service import fuse

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")


async def titles(user, q):
    answer = await user.client.get("/v1/search", params={"q": q})
    return [hit["title"] for hit in answer.json()["data"]["documents"]]


async def test_the_search_of_the_readme_finds_its_document(alice, index):
    document = json.loads(re.search(r"/v1/documents \\\n  -d '(\{.*?\})'", README, re.DOTALL).group(1))
    query = unquote_plus(re.search(r"/v1/search\?q=([\w+]+)", README).group(1))
    (await alice.client.post("/v1/documents", json=document)).raise_for_status()
    await index.run(alice.workspace_id)
    assert await titles(alice, query) == [document["title"]]


async def test_questions_in_other_words_find_the_passage(alice, make, index):
    await make.document(alice.client, title="Manual", content="# Fog\nIn fog, sound the horn every minute.")
    await make.document(alice.client, title="Ledger", content="Keep invoices for ten years.")
    await index.run(alice.workspace_id)
    for query in ("misty weather", "warning ships in low visibility"):
        assert (await titles(alice, query))[:1] == ["Manual"], query


def test_one_common_word_of_many_does_not_outweigh_meaning():
    assert fuse({"keep": 0.8}, {"fog": 0.6, "keep": 0.05}, bound=20.0) == ["fog", "keep"]
    assert fuse({"keep": 9.0}, {"fog": 0.6, "keep": 0.05}, bound=20.0) == ["keep", "fog"]


def test_the_model_leaves_nothing_behind_at_home(tmp_path):
    """The inference library counts its uses in files and calls home, unless it is told not to."""
    code = (
        "import asyncio; from app.features.indexing.remote import MiniLM; m = MiniLM(1);asyncio.run(m.embed_query('a'))"
    )
    subprocess.run(
        [sys.executable, "-c", code], env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, check=True, timeout=60
    )
    assert list(tmp_path.rglob("*")) == []
