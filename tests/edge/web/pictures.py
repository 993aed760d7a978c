"""Takes the pictures of the README: `python -m tests.edge.web.pictures FOLDER`.

A service is started on a fresh folder, its owner adds the sample data and some pages of the handbook, and Chromium
takes each view, light and dark, as it looks where no setting is given.
"""

from __future__ import annotations

import asyncio
import base64
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.edge.web.chromium import launched
from tests.edge.web.shown import World, open_passages, send, signed_in_by
from tests.support.product import Up

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Page, ViewportSize

MAX_BYTES = 100 * 1024
"""A clone and a reader on a slow line pay for each."""
SCHEMES = ("light", "dark")
_HANDBOOK = Path(__file__).parents[3] / "app" / "features" / "handbook" / "pages"
_PAGES = ("security", "search", "coordination", "documents", "collections")
_WINDOW: ViewportSize = {"width": 1200, "height": 760}
# A picture shows the port that a service has unless it is told another one.
_USUAL_PORT = """port => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.replaceAll(`:${port}/`, ":8000/");
}"""
_SHARPNESS, _QUALITY = 2, 75
_INDEXED_SECONDS = 60


async def _open_guide(page: Page) -> None:
    await page.locator("#claude-code > summary").click()


async def _compare(page: Page) -> None:
    await page.get_by_role("link", name="Sample: release runbook").click()
    await page.get_by_role("link", name="Versions", exact=True).click()
    await page.get_by_role("button", name="Compare the two chosen").click()


@dataclass(frozen=True)
class Picture:
    """A view of the sample data."""

    name: str
    path: str
    act: Callable[[Page], Awaitable[None]] | None = None


PICTURES = [
    Picture("documents", "/dashboard/documents"),
    Picture("comparison", "/dashboard/documents?q=runbook", _compare),
    Picture("search", "/dashboard/search?q=two+agents+edit+the+same+text+at+once", open_passages),
    Picture("connect", "/dashboard/connect", _open_guide),
]


def names() -> list[str]:
    """Name the files that are made."""
    return [f"{picture.name}-{scheme}.webp" for picture in PICTURES for scheme in SCHEMES]


async def _demo(world: World) -> None:
    """Let the owner add the sample data and some documents more, and wait until all can be searched."""
    page = await (await world.visit("owner")).new_page()
    await page.goto(world.url("/dashboard"))
    await send(page, "main button:text-is('Add sample data')")
    async with world.program() as http:
        for name in _PAGES:
            text = (_HANDBOOK / f"{name}.md").read_text(encoding="utf-8")
            title = text.partition("\n")[0].removeprefix("# ")
            kept = await http.post("/v1/documents", json={"title": title, "content": text, "tags": ["handbook"]})
            kept.raise_for_status()
        deadline = time.monotonic() + _INDEXED_SECONDS
        while (await http.get("/v1/search", params={"q": "release"})).json()["meta"]["pending"]:
            assert time.monotonic() < deadline, "the sample data is not indexed"
            await asyncio.sleep(0.2)


async def _take(world: World, picture: Picture, scheme: str, folder: Path) -> None:
    context = await world.visit(
        "owner",
        viewport=_WINDOW,
        device_scale_factor=_SHARPNESS,
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        locale="en-GB",
    )
    page = await context.new_page()
    await page.goto(world.url(picture.path))
    if picture.act is not None:
        await picture.act(page)
        await page.wait_for_load_state()
    await page.evaluate(_USUAL_PORT, world.up.port)
    wires = await context.new_cdp_session(page)
    taken = await wires.send("Page.captureScreenshot", {"format": "webp", "quality": _QUALITY})
    data = base64.b64decode(taken["data"])
    assert len(data) <= MAX_BYTES, f"{picture.name} in {scheme} takes {len(data)} bytes"
    (folder / f"{picture.name}-{scheme}.webp").write_bytes(data)
    await context.close()


async def _take_all(up: Up, folder: Path) -> None:
    async with launched() as browser:
        world = World(up, browser, {}, {})
        world.states["owner"] = await signed_in_by(world, up.first_link())
        await _demo(world)
        for picture in PICTURES:
            for scheme in SCHEMES:
                await _take(world, picture, scheme, folder)


def main(folder: Path) -> None:
    """Start a service of its own and take all pictures into a folder."""
    with tempfile.TemporaryDirectory() as home:
        up = Up(Path(home), TRUSTED_PROXIES="127.0.0.1")
        up.start()
        try:
            asyncio.run(_take_all(up, folder))
        finally:
            up.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
