"""The guide for curl does what it says."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess

import pytest

from app.features.connect.service import PLACEHOLDER, clients
from tests.support.factories import Make


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
async def test_the_lines_for_curl_list_the_tools_call_one_and_read_rest(listening, database):
    url, app = listening
    user = await Make(app, database).user()
    (guide,) = [guide for guide in clients(url, "Context Repo") if guide.id == "curl"]
    printed = []
    for snippet in guide.ways[0].snippets:
        script = snippet.text.replace(PLACEHOLDER, user.key)
        done = await asyncio.to_thread(
            subprocess.run, ["/bin/sh", "-ec", script], capture_output=True, text=True, timeout=30, check=True
        )
        printed.append(done.stdout)
    assert json.loads(printed[0])["result"]["tools"]
    assert printed[1].count(user.email) >= 2
