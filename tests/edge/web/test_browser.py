"""The pages in a real browser: no errors on its console, no need of scripts, nothing wider than a phone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

pytestmark = [pytest.mark.prove, pytest.mark.timeout(240)]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CTX = Path(sys.executable).with_name("ctx")
START_SECONDS = 90.0
PASSWORD = "a sentence that nobody guesses"
PHONE = {"width": 390, "height": 844}
PATHS = ["", "/connect", "/doctor", "/keys", "/members", "/workspaces", "/account", "/sessions"]


class Up:
    """A running service with sign-up open."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.environment = kept | {"DATA_DIR": str(folder), "PORT": str(port), "SIGNUP": "open"}
        self.log = folder.with_suffix(".log")
        self.process = subprocess.Popen(
            [CTX, "up"],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=self.log.open("wb"),
            stderr=subprocess.STDOUT,
        )

    def wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while "Stop with Ctrl-C" not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)

    def ctx(self, *arguments: str) -> str:
        made = subprocess.run(
            [CTX, *arguments], env=self.environment, capture_output=True, text=True, check=True, timeout=60
        )
        return made.stdout


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    """The product as a user starts it."""
    started = Up(tmp_path_factory.mktemp("browser") / "data")
    try:
        started.wait()
        yield started
    finally:
        started.process.send_signal(signal.SIGTERM)
        started.process.wait(60)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser():
    """Chromium, of the machine."""
    if CHROMIUM is None:
        assert not os.environ.get("CI"), "install chromium"
        pytest.skip("there is no chromium here")
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        await launched.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def signed_in(up, browser):
    """The state of a browser that signed in by the link of the first start, without scripts."""
    link = re.search(r"http\S+/set-password/\S+", up.log.read_text())
    assert link
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(link[0])
    await page.fill("input[name=password]", PASSWORD)
    await page.click("main button[type=submit]")
    assert page.url == f"{up.url}/dashboard"
    state = await context.storage_state()
    (cookie,) = [cookie for cookie in state["cookies"] if cookie["name"] == "session"]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")
    return state


async def quiet(context):
    """Open a page that collects what the browser complains about."""
    page = await context.new_page()
    complaints = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page, complaints


async def test_pages_load_without_complaints_and_fit_a_phone(up, browser, signed_in):
    for options in ({}, {"color_scheme": "dark", "viewport": PHONE}):
        context = await browser.new_context(storage_state=signed_in, **options)
        page, complaints = await quiet(context)
        for path in PATHS:
            answer = await page.goto(f"{up.url}/dashboard{path}")
            assert (answer.status, page.url) == (200, f"{up.url}/dashboard{path}")
            wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, path
        assert complaints == []
    context = await browser.new_context()
    page, complaints = await quiet(context)
    for path in ("/sign-in", "/sign-up", "/forgot-password"):
        assert (await page.goto(f"{up.url}{path}")).status == 200
    assert complaints == []


async def test_everything_works_without_scripts(up, browser, signed_in):
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(f"{up.url}/dashboard/keys")
    await page.fill("input[name=email]", "owner@localhost")
    await page.fill("input[name=password]", PASSWORD)
    await page.click("main button[type=submit]")
    assert page.url == f"{up.url}/dashboard/keys"
    await page.fill("#f-name", "Made in a browser")
    await page.click("text=Create key")
    key = await page.input_value("#s-secret")
    async with httpx2.AsyncClient(base_url=up.url, headers={"authorization": f"API-Key {key}"}) as client:
        assert (await client.get("/v1/user/me")).json()["data"]["email"] == "owner@localhost"
    row = page.locator("tr", has_text="Made in a browser")
    await row.locator("summary").click()
    await row.locator("text=Revoke for good").click()
    assert await page.locator("text=Made in a browser").count() == 0
    await page.click("text=Sign out")
    assert page.url == f"{up.url}/sign-in"


async def test_a_link_of_the_administrator_signs_in_and_mail_can_be_read(up, browser, signed_in):
    made = json.loads(up.ctx("admin", "sign-in-link", "--email", "owner@localhost", "--json"))
    assert made["signInLink"].startswith(f"{up.url}/set-password/")
    context = await browser.new_context()
    page = await context.new_page()
    await page.goto(f"{up.url}/forgot-password")
    await page.fill("input[name=email]", "owner@localhost")
    await page.click("main button[type=submit]")
    assert "Look into your mail" in await page.inner_text("h1")
    deadline = time.monotonic() + 30
    while "/set-password/" not in up.ctx("admin", "outbox"):
        assert time.monotonic() < deadline
    assert "/set-password/" not in up.log.read_text().partition("Stop with Ctrl-C")[2]


async def test_the_keyboard_reaches_the_content_first(up, browser, signed_in):
    context = await browser.new_context(storage_state=signed_in)
    page = await context.new_page()
    await page.goto(f"{up.url}/dashboard/account")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.textContent") == "Skip to the content"
    unnamed = "[...document.querySelectorAll('input:not([type=hidden]), select')].filter(e => !e.labels.length).length"
    for path in PATHS:
        await page.goto(f"{up.url}/dashboard{path}")
        assert await page.evaluate(unnamed) == 0, path


async def test_a_snippet_is_copied_and_the_doctor_finds_nothing_wrong(up, browser, signed_in):
    context = await browser.new_context(storage_state=signed_in)
    await context.grant_permissions(["clipboard-read", "clipboard-write"], origin=up.url)
    page, complaints = await quiet(context)
    await page.goto(f"{up.url}/dashboard/connect#codex")
    assert await page.locator("#codex").get_attribute("open") is not None
    button = page.locator("#codex [data-copyable] button").first
    await button.click()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("codex mcp add context-repo --url ")
    await page.goto(f"{up.url}/dashboard/doctor")
    await page.click("text=Examine the service")
    assert "All is well" in await page.inner_text(".notice")
    assert complaints == []


async def test_the_guides_and_the_doctor_work_without_scripts_on_a_phone(up, browser, signed_in):
    context = await browser.new_context(java_script_enabled=False, viewport=PHONE)
    page = await context.new_page()
    await page.goto(f"{up.url}/sign-in?next=/dashboard/connect")
    await page.fill("input[name=email]", "owner@localhost")
    await page.fill("input[name=password]", PASSWORD)
    await page.click("main button[type=submit]")
    assert page.url == f"{up.url}/dashboard/connect"
    assert await page.locator("button[data-copy]:visible").count() == 0
    await page.click("#vscode > summary")
    assert await page.locator("#vscode pre").first.is_visible()
    await page.goto(f"{up.url}/dashboard/doctor")
    await page.click("text=Examine the service")
    await page.locator(".outcome summary").first.click()
    assert await page.locator(".outcome").count() > 30
