"""Every page, as everybody meets it: with and without scripts, light and dark, wide and narrow, by keyboard alone."""

from __future__ import annotations

import pytest

from tests.contract.requirements import proves
from tests.edge.web.chromium import DESKTOP, PHONE, barriers, keep_pictures, quiet, too_wide, walked
from tests.edge.web.shown import VIEWS

pytestmark = pytest.mark.prove
SIZES = {"wide": DESKTOP, "narrow": PHONE}


async def open_view(scene, view, *, scripts=True):
    """Lead to a view; returns the page and what the browser complained about."""
    page, complaints = await quiet(await scene.visit(view.who, scripts=scripts))
    answers = []
    page.on("response", lambda answer: answers.append(answer) if answer.request.is_navigation_request() else None)
    await page.goto(scene.url(view.path))
    if view.act is not None:
        await view.act(page)
        await page.wait_for_load_state()
    assert answers[-1].status == view.status
    if view.status >= 400:  # the browser itself notes such an answer
        complaints[:] = [text for text in complaints if f"status of {view.status}" not in text]
    return page, complaints


async def judge(page):
    """Assert that nobody is kept out: no barrier for readers, nothing wider than the window, all within Tab's reach."""
    assert await barriers(page) == []
    assert await too_wide(page) <= 0
    met, there = await walked(page)
    assert [focus["name"] for focus in met] == there
    assert [focus for focus in met if not focus["ring"]] == []
    assert [focus for focus in met if not focus["seen"]] == []
    assert met[0]["name"].startswith('<a class="skip"')


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
@proves("WEB-EVERYBODY")
async def test_a_page_keeps_nobody_out(scene, view):
    page, complaints = await open_view(scene, view)
    for scheme, size in (("light", "wide"), ("dark", "narrow")):
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        await page.set_viewport_size(SIZES[size])
        await judge(page)
    bare, silence = await open_view(scene, view, scripts=False)
    assert await bare.inner_text("h1") == await page.inner_text("h1")
    assert await bare.locator("button[data-copy]:visible").count() == 0
    assert await too_wide(bare) <= 0
    assert complaints == silence == []
    await keep_pictures(page, view.name, SIZES)
    for opened in (page, bare):
        await opened.context.close()
