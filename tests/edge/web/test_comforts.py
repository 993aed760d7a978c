"""What the script adds to pages that work without it, in a browser."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tests.contract.requirements import proves
from tests.edge.web.chromium import DESKTOP, PHONE, quiet
from tests.edge.web.shown import World, begun_export, open_passages, set_export

pytestmark = pytest.mark.prove

_SLOW = {"offline": False, "latency": 20, "downloadThroughput": -1, "uploadThroughput": 400_000}
_SAID = """() => {
  window.said = [];
  const list = document.getElementById("outcomes");
  new MutationObserver(() => said.push(list.textContent)).observe(list, {childList: true, subtree: true});
}"""


@proves("WEB-COMFORT")
async def test_secrets_and_prompts_are_copied_as_they_stand(scene: World):
    context = await scene.visit("owner")
    await context.grant_permissions(["clipboard-read", "clipboard-write"], origin=scene.up.url)
    page, complaints = await quiet(context)
    for path, place in (
        ("/dashboard/share/document/{document}", ".secret"),
        ("/dashboard/prompts/{prompt}", ".snippet"),
    ):
        await page.goto(scene.url(path))
        told = page.locator(f"{place} [data-copied]")
        assert not await told.is_visible()
        await page.locator(f"{place} button[data-copy]").click()
        await told.wait_for()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied == (scene.url("{shared}") if place == ".secret" else "For ${version}.")
    assert complaints == []
    await context.close()


@proves("WEB-COMFORT")
async def test_times_are_the_viewers_and_utc_is_still_told(scene: World):
    page = await (await scene.visit("owner", timezone_id="Asia/Tokyo", locale="en-GB")).new_page()
    await page.goto(scene.url("/dashboard/documents/{document}"))
    time = page.locator(".meta time").first
    there = datetime.fromisoformat(await time.get_attribute("datetime")).astimezone(ZoneInfo("Asia/Tokyo"))
    assert await time.inner_text() == f"{there.day} {there:%b %Y, %H:%M}"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC · Asia/Tokyo", await time.get_attribute("title"))
    await page.context.close()


@proves("WEB-COMFORT")
async def test_lists_show_the_day_and_the_time_on_demand(scene: World):
    page = await (await scene.visit("owner", timezone_id="Asia/Tokyo", locale="en-GB")).new_page()
    await page.goto(scene.url("/dashboard/documents"))
    time = page.locator(".aside time").first
    there = datetime.fromisoformat(await time.get_attribute("datetime")).astimezone(ZoneInfo("Asia/Tokyo"))
    assert await time.inner_text() == f"{there.day} {there:%b %Y}"
    told = rf"{there.day} {there:%b %Y}, {there:%H:%M} · \d{{4}}-\d\d-\d\d \d\d:\d\d UTC"
    assert re.fullmatch(told, await time.get_attribute("title"))
    bare = await (await scene.visit("owner", scripts=False)).new_page()
    await bare.goto(scene.url("/dashboard/documents"))
    assert re.fullmatch(r"\d{1,2} \w{3} \d{4}", await bare.locator(".aside time").first.inner_text())
    for opened in (page, bare):
        await opened.context.close()


@proves("WEB-COMFORT")
async def test_blocks_of_code_are_copied_without_the_button(scene: World):
    context = await scene.visit("owner")
    await context.grant_permissions(["clipboard-read", "clipboard-write"], origin=scene.up.url)
    page, complaints = await quiet(context)
    await page.goto(scene.url("/docs/coordination"))
    block = page.locator(".prose pre").first
    stored = await block.locator("code").text_content()
    await block.get_by_role("button").click()
    await block.get_by_role("button", name="Copied").wait_for()
    assert await page.evaluate("navigator.clipboard.readText()") == stored
    assert "Copied" not in stored
    assert complaints == []
    await context.close()


@proves("WEB-EDGE")
async def test_head_and_content_of_all_pages_begin_at_one_edge(scene: World):
    page = await (await scene.visit("owner", viewport={"width": 1600, "height": 900})).new_page()
    edges = {}
    for path in (
        "/dashboard",
        "/dashboard/documents",
        "/dashboard/documents/{document}",
        "/dashboard/documents/{document}/edit",
        "/dashboard/documents/{document}/diff?from=1&to=1",
        "/dashboard/share/document/{document}",
        "/dashboard/search",
        "/dashboard/ask",
        "/about",
        "/docs",
        "/dashboard/settings",
    ):
        await page.goto(scene.url(path))
        first = page.locator(".sidenav p, main h1").first
        edges[path] = {round((await one.bounding_box())["x"]) for one in (page.locator(".brand"), first)}
    assert len(set().union(*edges.values())) == 1, edges
    await page.context.close()


@proves("WEB-COMFORT")
async def test_passages_open_and_close_in_place(scene: World):
    page, complaints = await quiet(await scene.visit("owner"))
    await page.goto(scene.url("/dashboard/search?q=release"))
    here = page.url
    await open_passages(page)
    close = page.get_by_role("link", name="Close the passages")
    assert await page.locator(".passage").first.is_visible()
    assert await close.evaluate("e => e === document.activeElement")
    await close.click()
    await close.wait_for(state="detached")
    assert page.url == here
    assert complaints == []
    await page.context.close()


@proves("WEB-COMFORT")
async def test_what_cannot_be_opened_in_place_is_a_page(scene: World):
    page = await (await scene.visit("owner")).new_page()
    await page.goto(scene.url("/dashboard/search?q=release"))
    await page.route(
        "**/*", lambda route: route.abort() if route.request.resource_type == "fetch" else route.fallback()
    )
    await open_passages(page)
    assert "open=" in page.url
    await page.context.close()


@proves("WEB-COMFORT")
async def test_the_preview_follows_what_is_typed_and_saves_nothing(scene: World):
    page, complaints = await quiet(await scene.visit("owner"))
    await page.goto(scene.url("/dashboard/documents/{document}/edit"))
    text = page.locator("#f-content")
    await text.fill("## Early")
    await text.press_sequentially("\n\nThen *late*", delay=20)
    await page.locator("#preview em", has_text="late").wait_for()
    assert await page.locator("#preview h3").inner_text() == "Early"
    async with scene.program() as http:
        stored = (await http.get("/v1/documents/{document}".format(**scene.places))).json()["data"]
    assert stored["content"].startswith("# Release runbook")
    assert complaints == []
    await page.context.close()


@proves("WEB-COMFORT")
async def test_a_draft_is_not_left_without_a_question_but_saved_without_one(scene: World):
    page = await (await scene.visit("owner")).new_page()
    asked = []

    async def stay(dialog):
        asked.append(dialog.type)
        await dialog.dismiss()

    page.on("dialog", stay)
    for editor in ("{edited}/edit", "/dashboard/prompts/{prompt}/edit"):
        await page.goto(scene.url(editor))
        field = page.locator("#f-change_log")
        await field.press_sequentially("A draft")
        await page.get_by_role("link", name="Documents", exact=True).click()
        await page.wait_for_timeout(0)
        assert page.url == scene.url(editor)
        assert await field.input_value() == "A draft"
        async with page.expect_navigation():
            await page.locator("main button[value=save]").click()
    assert asked == ["beforeunload", "beforeunload"]
    await page.context.close()


@proves("WEB-COMFORT")
async def test_progress_is_shown_until_the_work_is_done(scene: World):
    page, complaints = await quiet(await scene.visit("owner"))
    async with scene.program() as http:
        begun = await begun_export(scene, http)
        await page.goto(scene.url(f"/dashboard/export/{begun}"))
        assert "Writing item" in await page.inner_text("#progress")
        await page.evaluate("window.same = true")
        await set_export(scene, http, begun, "items_done = items_total")
        await page.get_by_text(re.compile(r"Writing item (\d+) of \1,")).wait_for()
        await set_export(scene, http, begun, "state = 'ready', created_at = now()")
        await page.get_by_role("link", name="Download the archive").wait_for()
    assert await page.evaluate("window.same")
    assert complaints == []
    await page.context.close()


@proves("WEB-COMFORT")
async def test_files_are_sent_one_by_one_each_with_progress_and_outcome(scene: World):
    page, complaints = await quiet(await scene.visit("owner"))
    wires = await page.context.new_cdp_session(page)
    await wires.send("Network.emulateNetworkConditions", _SLOW)
    await page.goto(scene.url("/dashboard/documents/upload"))
    await page.evaluate(_SAID)
    files = page.locator("input[type=file]")
    large = {
        "name": "harbour.md",
        "mimeType": "text/markdown",
        "buffer": b"# Harbour\n\n" + b"The quay is wet.\n" * 40_000,
    }
    wrong = {"name": "tool.exe", "mimeType": "application/octet-stream", "buffer": b"MZ\0\1"}
    await files.set_input_files([large, wrong])
    button = page.get_by_role("button", name="Upload")
    await button.click()
    assert await button.is_disabled()
    await page.locator("#outcomes .tag.is-bad").wait_for()
    assert await page.locator("#outcomes > li").count() == 2
    assert await page.locator("#outcomes > li").first.locator("a.item-title").inner_text() == "harbour.md"
    assert "tool.exe" in await page.locator("#outcomes > li").last.inner_text()
    said = await page.evaluate("said.join()")
    assert len(set(re.findall(r"\d+ % sent", said))) > 1
    assert await page.locator("#outcomes progress").count() == 0
    assert await page.get_by_role("heading", name="What became of them").evaluate("e => e.clientHeight > 10")
    assert await button.is_enabled()
    assert await files.input_value() == ""
    assert [text for text in complaints if "status of 400" not in text] == []  # the refused file's answer
    await page.context.close()


@proves("WEB-COMFORT")
async def test_a_file_that_could_not_be_sent_is_told(scene: World):
    page = await (await scene.visit("owner")).new_page()
    await page.goto(scene.url("/dashboard/documents/upload"))
    await page.route("**/*", lambda route: route.abort() if route.request.resource_type == "xhr" else route.fallback())
    await page.locator("input[type=file]").set_input_files(
        [{"name": "a.md", "mimeType": "text/markdown", "buffer": b"A"}]
    )
    await page.get_by_role("button", name="Upload").click()
    assert await page.locator("#outcomes .wrong").inner_text() == "It could not be sent; try again."
    await page.context.close()


@proves("WEB-RTL")
async def test_lines_read_from_the_right_stay_so_where_they_changed(scene: World):
    page = await (await scene.visit("owner")).new_page()
    await page.goto(scene.url("{rtl}/diff?from=1&to=2"))
    changed = page.locator("td.is-del, td.is-ins")
    assert await changed.count() == 2
    for cell in await changed.all():
        assert await cell.evaluate("e => getComputedStyle(e).direction") == "rtl"
    await page.goto(scene.url("{rtl}"))
    english = page.locator(".prose p", has_text="A paragraph in English")
    assert await english.evaluate("e => getComputedStyle(e).unicodeBidi") == "plaintext"
    await page.context.close()


@proves("WEB-COMFORT")
async def test_a_slash_goes_to_the_search_unless_something_is_typed(scene: World):
    page = await (await scene.visit("owner")).new_page()
    await page.goto(scene.url("/dashboard/documents"))
    await page.keyboard.press("/")
    search = page.get_by_label("Search everything", exact=True)
    assert await search.evaluate("e => e === document.activeElement")
    await page.keyboard.type("a/b")
    assert await search.input_value() == "a/b"
    await page.context.close()


@proves("WEB-COMFORT")
@pytest.mark.parametrize("width", [375, PHONE["width"]])
async def test_on_a_phone_the_head_shows_the_whole_menu_and_leaves_the_window_to_the_page(scene: World, width: int):
    page = await (
        await scene.visit("owner", scripts=False, viewport={"width": width, "height": PHONE["height"]})
    ).new_page()
    await page.goto(scene.url("/dashboard/documents"))
    height = await page.locator("header.top").evaluate("e => e.getBoundingClientRect().height")
    assert height <= 120  # pixels, of 844
    shown = await page.locator("header.top nav :is(a, button)").all()
    assert len(shown) == 9
    for link in shown:
        box = await link.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["height"] >= 24  # as WCAG 2.5.8 has it
    await page.context.close()


@proves("DASH-OUTLINE")
async def test_the_contents_of_a_long_text_stay_beside_it_below_what_can_be_done(scene: World):
    page = await (await scene.visit("owner", scripts=False, viewport=DESKTOP)).new_page()
    await page.goto(scene.url("/dashboard/documents/new"))
    await page.get_by_label("Title").fill("A long text")
    parts = "\n\n".join(f"## Part {n}\n\n" + "Words. " * 90 for n in range(80))
    await page.get_by_label("Text", exact=True).fill(parts)
    await page.get_by_role("button", name="Create").click()
    for name in ("Collections", "Share"):
        box = await page.get_by_role("heading", name=name, exact=True).bounding_box()
        assert box["y"] < DESKTOP["height"], name
    beside = page.locator("section.contents")
    await page.get_by_role("heading", name="Part 70").scroll_into_view_if_needed()
    box = await beside.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= DESKTOP["height"]
    assert await beside.evaluate("e => e.scrollHeight > e.clientHeight")
    await page.context.close()
