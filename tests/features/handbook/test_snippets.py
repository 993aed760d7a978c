"""Every snippet of the handbook does what its page says, against a running service."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from app.features.handbook.guides import GUIDES
from app.settings import Settings
from tests.contract.requirements import proves
from tests.support.product import CTX, Up

FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = ("sh", "python")
PASTED = {"connect"}
"""Pages with texts for other makers' clients, which are not here; the guides they come from have tests of their own."""


def snippets(markdown):
    return [(language, text) for language, text in FENCE.findall(markdown)]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """The product as a user starts it."""
    up = Up(tmp_path_factory.mktemp("handbook"))
    try:
        yield up.start()
    finally:
        up.stop()


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """What the snippets may call by name: `ctx` and `python3` of this environment."""
    folder = tmp_path_factory.mktemp("bin")
    for name, target in (("ctx", CTX), ("python3", Path(sys.executable))):
        (folder / name).write_text(f'#!/bin/sh\nexec {target} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def read(running, path):
    answer = httpx2.get(f"{running.url}{path}", timeout=30)
    assert answer.status_code == 200, path
    return answer.text


@pytest.mark.prove
@pytest.mark.parametrize("path", [guide.path for guide in GUIDES])
@proves("DOCS-SNIPPETS")
def test_every_snippet_of_a_page_runs(running, tools, tmp_path, path):
    found = snippets(read(running, f"{path}.md"))
    shell = "\n".join(text for language, text in found if language == "sh")
    program = "\n".join(text for language, text in found if language == "python")
    (tmp_path / "snippets.py").write_text(program)
    script = f"set -euo pipefail\n{shell}\n" + ("python3 snippets.py\n" if program else "")
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "KEY": running.key,
        "URL": running.url,
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


@proves("DOCS-SNIPPETS")
async def test_every_fence_is_run_or_checked(service, http):
    names = {name.upper() for name in Settings.model_fields}
    seen = set()
    for guide in GUIDES:
        for language, text in snippets((await http.get(f"{guide.path}.md")).text):
            seen.add(language)
            if language == "json":
                json.loads(text)
            elif language == "ini":
                assert {line.partition("=")[0] for line in text.splitlines()} <= names
                Settings(**{k.lower(): v for k, _, v in (line.partition("=") for line in text.splitlines())})
            elif language == "text":
                assert guide.path.rpartition("/")[2] in PASTED
            elif language == "sh":
                check = [shutil.which("bash"), "-n"]
                done = await asyncio.to_thread(subprocess.run, check, input=text, text=True, check=False)
                assert done.returncode == 0, text
            else:
                assert language == "python", (guide.path, language)
                compile(text, guide.path, "exec")
    assert seen == {"json", "ini", "text", *RUN}
