"""The pages in a real browser: what people do on them, with and without scripts."""

from __future__ import annotations

import time

import pytest

from tests.edge.web.chromium import PASSWORD, PHONE, quiet

pytestmark = pytest.mark.prove


async def test_a_link_of_the_administrator_signs_in_and_mail_can_be_read(up, browser, signed_in):
    made = up.admin("sign-in-link", "--email", "owner@localhost")
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
