"""Imports and exports whose process is killed: run again, they end as if nothing had happened."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time

import httpx2
import pytest

from app import admin
from tests.contract.requirements import proves
from tests.support import stack
from tests.support.files import pdf

pytestmark = pytest.mark.prove
FILES = 600
KILLS = 3
CTX = [sys.executable, "-c", "from app.cli.main import main; main()"]


class Place:
    """A running service, and the command line of users of it."""

    def __init__(self, settings, url, folder):
        self.settings, self.url, self.folder = settings, url, folder
        self.http = httpx2.Client(base_url=url, timeout=60)

    def key(self, email):
        admin.create_user(self.settings, email)
        return str(admin.create_key(self.settings, email, stack.ALL_SCOPES, "killed")["apiKey"])

    def ctx(self, key, *args):
        environment = {
            **os.environ,
            "CTX_URL": self.url,
            "CTX_API_KEY": key,
            "XDG_STATE_HOME": str(self.folder / "state"),
            "DATA_DIR": str(self.folder / "none"),
        }
        return subprocess.Popen(CTX + [str(arg) for arg in args], env=environment, cwd=self.folder)

    def killed_then_whole(self, key, *args, moved):
        """Kill the command as soon as something moved, some times; then let it end. Tells how often it was killed."""
        killed = 0
        for _ in range(KILLS):
            before, process = moved(), self.ctx(key, *args)
            while process.poll() is None and moved() == before:
                time.sleep(0.02)
            if process.poll() is None:
                process.kill()
                killed += 1
            process.wait()
        assert self.ctx(key, *args).wait() == 0
        return killed


def signed(key):
    return {"Authorization": f"API-Key {key}"}


@pytest.fixture
def place(settings, tmp_path):
    plans = tmp_path / "plans.toml"
    plans.write_text(stack.PLANS, encoding="utf-8")
    settings = settings.model_copy(update={"plans_file": plans})
    process = stack.ServerProcess(settings, log=tmp_path / "server.log")
    with stack.serving(process):
        worker = stack.start_worker(stack.Stack(settings, ""))
        try:
            yield Place(settings, f"http://127.0.0.1:{process.port}", tmp_path)
        finally:
            worker.kill()
            worker.wait()


@proves("IMPORT-KILLED")
async def test_what_was_killed_goes_on(place):
    await asyncio.to_thread(folders_and_archives, place)


def folders_and_archives(place):
    notes = place.folder / "notes"
    notes.mkdir()
    for number in range(FILES):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nAbout number {number}.\n" * 20, encoding="utf-8")
    first, second = (place.key(f"{name}@killed.test") for name in ("first", "second"))

    def stored(key):
        me = place.http.get("/v1/user/me", headers=signed(key))
        return me.json()["data"]["usage"]["documents"]["used"]

    assert place.killed_then_whole(first, "import", notes, moved=lambda: stored(first)) >= 1
    assert stored(first) == FILES
    upload = {"file": ("a.pdf", pdf("A bell"))}
    assert place.http.post("/v1/documents/upload", files=upload, headers=signed(first)).status_code == 202
    archive, again = place.folder / "first.tar.gz", place.folder / "second.tar.gz"

    def begun():
        return len(list(place.folder.glob("*.state"))), len(list(place.folder.glob("*.part")))

    place.killed_then_whole(first, "export", archive, "--overwrite", moved=begun)
    assert place.killed_then_whole(second, "import", archive, moved=lambda: stored(second)) >= 1
    assert stored(second) == FILES + 1
    assert place.ctx(second, "export", again).wait() == 0
    assert archive.read_bytes() == again.read_bytes()
