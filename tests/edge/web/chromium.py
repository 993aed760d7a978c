"""The machine's Chromium, and what a person would notice of a page: complaints, focus, width, barriers."""

from __future__ import annotations

import os
import shutil
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import async_playwright

from tests.support import npm

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, BrowserContext, Locator, Page, ViewportSize

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SCREENSHOTS = os.environ.get("SCREENSHOTS")
"""A folder where pages are kept as pictures; none are made where it is not set."""
PASSWORD = "a sentence that nobody guesses"
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
AXE = "axe-core@4.14.1"
_MOST_KEYS = 400

# Tab stops once at a group of radio buttons: at the one that is chosen, else at the first.
_CONTROLS = """() => [...document.querySelectorAll(
  "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"
)].filter(e => !e.disabled && e.checkVisibility({visibilityProperty: true})).filter(e => {
  if (e.type !== "radio") return true;
  const group = [...e.form.elements].filter(o => o.type === "radio" && o.name === e.name);
  return e === (group.find(o => o.checked) || group[0]);
})"""
_TO_THE_TOP = """() => {
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute("tabindex");
}"""
_NAME = """e => e.outerHTML.slice(0, 120)"""
_FOCUSED = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  return {
    name: e.outerHTML.slice(0, 120),
    ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    seen: box.width > 1 && box.height > 1 && box.right > 0 && box.left < innerWidth
      && box.bottom > 0 && box.top < innerHeight,
  };
}"""


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """Run Chromium inside the block; without one the test is skipped, but not where changes are proved."""
    if CHROMIUM is None:
        assert not os.environ.get("CI"), "install chromium"
        pytest.skip("there is no chromium here")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


async def quiet(context: BrowserContext) -> tuple[Page, list[str]]:
    """Open a page that collects what the browser complains about."""
    page = await context.new_page()
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page, complaints


async def too_wide(page: Page) -> int:
    """Tell by how many pixels a page is wider than the window."""
    found: int = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return found


async def barriers(page: Page) -> list[str]:
    """Let axe-core examine a page; returns what it calls serious or critical."""
    if not await page.evaluate("'axe' in window"):
        source = npm.installed("axe-core-4.14.1", AXE) / "node_modules" / "axe-core" / "axe.min.js"
        await page.evaluate(source.read_text() + "; null")
    found: list[dict[str, Any]] = (await page.evaluate("axe.run(document, {resultTypes: ['violations']})"))[
        "violations"
    ]
    return [
        f"{item['impact']} {item['id']}: {item['help']}: {[node['html'][:200] for node in item['nodes']]}"
        for item in found
        if item["impact"] in ("serious", "critical")
    ]


async def walked(page: Page) -> tuple[list[dict[str, Any]], list[str]]:
    """Press Tab from the top of a page to its end; returns what had the focus, and the controls that are there."""
    await page.evaluate(_TO_THE_TOP)
    handles = await page.evaluate_handle(_CONTROLS)
    there: list[str] = await handles.evaluate(f"all => all.map({_NAME})")
    met: list[dict[str, Any]] = []
    for _ in range(_MOST_KEYS):
        await page.keyboard.press("Tab")
        focused = await page.evaluate(_FOCUSED)
        if focused is None:
            break
        if met and focused["name"] == met[-1]["name"] and 'type="date"' in focused["name"]:
            continue  # each part of a date is a stop of its own, with its own mark
        met.append(focused)
    return met, there


async def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until a control has the focus."""
    for _ in range(_MOST_KEYS):
        if await wanted.evaluate("e => e === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {wanted}")


async def keep_pictures(page: Page, name: str, sizes: dict[str, ViewportSize]) -> None:
    """Keep pictures of the whole page, light and dark, where a folder for them is named."""
    if not SCREENSHOTS:
        return
    await page.evaluate(_TO_THE_TOP)
    for scheme in ("light", "dark"):
        for size, window in sizes.items():
            await page.emulate_media(color_scheme=scheme)
            await page.set_viewport_size(window)
            await page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{size}-{scheme}.png", full_page=True)
