"""Shared pages in Chromium: readable for everybody, and nothing of what they hold is ever run or fetched."""

from __future__ import annotations

import random

import pytest

from tests.contract.requirements import proves
from tests.edge.web.chromium import DESKTOP, PHONE, barriers, keep_pictures, quiet, too_wide
from tests.edge.web.shown import elsewhere
from tests.features.links.test_attacks import payloads

pytestmark = pytest.mark.prove
SIZES = {"wide": DESKTOP, "narrow": PHONE}
PASSWORD = "eight letters"
SAMPLE = 400
CONTENT = """# Fog

When fog hides the light, **sound the horn** every minute. See [the rules](https://example.com/rules).

| ship | signal |
|---|---|
| tug | two short, one long, and then a very long description of what else may be heard out there |

```
a line of code that is rather long and does not end where the window ends, but goes on and on and on
```

> Boats keep clear.

1. Look
2. Listen
"""
_HOOK = """
window.ran = [];
for (const name of ["alert", "confirm", "prompt", "print", "open", "fetch"]) {
  window[name] = (...given) => { window.ran.push([name, ...given].join(" ")); };
}
"""


async def shared(scene, page, title, content, password=""):
    """Share a document from its page, as the owner does."""
    headers = {"authorization": scene.up.running().authorization}
    made = await page.request.post(
        scene.url("/v1/documents"), data={"title": title, "content": content}, headers=headers
    )
    found = (await made.json())["data"]["id"]
    await page.goto(scene.url(f"/dashboard/share/document/{found}"))
    await page.fill("#f-password", password)
    async with page.expect_navigation():
        await page.locator("main button[type=submit] >> nth=-1").click()
    return found, await page.input_value("#s-secret")


async def reader(scene, *, examined=False):
    """Give somebody without an account a browser; to be examined, its pages must let the examiner's script run."""
    headers = {"x-forwarded-for": elsewhere()}
    context = await scene.browser.new_context(bypass_csp=examined, extra_http_headers=headers)
    return await quiet(context)


@proves("LINK-PAGE", "WEB-EVERYBODY")
async def test_a_shared_page_keeps_nobody_out_and_its_password_opens_it(scene):
    owner = await (await scene.visit("owner", scripts=False)).new_page()
    _, address = await shared(scene, owner, "Harbour rules", CONTENT)
    _, locked = await shared(scene, owner, "Behind a password", CONTENT, PASSWORD)
    for name, where in (("shared", address), ("shared-locked", locked), ("shared-gone", scene.url("/s/none"))):
        page, _ = await reader(scene, examined=True)
        await page.goto(where)
        for scheme, size in (("light", "wide"), ("dark", "narrow")):
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            await page.set_viewport_size(SIZES[size])
            assert await barriers(page) == [], name
            assert await too_wide(page) <= 0, name
        await keep_pictures(page, name, SIZES)
        await page.context.close()
    page, complaints = await reader(scene)
    await page.goto(locked)
    await page.fill("#f-password", "wrong")
    async with page.expect_navigation():
        await page.click("button[type=submit]")
    assert "not the password" in await page.content()
    await page.fill("#f-password", PASSWORD)
    async with page.expect_navigation():
        await page.click("button[type=submit]")
    assert "sound the horn" in await page.content()
    assert [said for said in complaints if "403" not in said] == []
    await page.emulate_media(media="print")
    assert await page.locator(".sheet-foot").is_hidden()


async def unsealed(route):
    """Take the policy from a page, so that only the text itself stands between an attack and the browser."""
    answer = await route.fetch()
    kept = {name: value for name, value in answer.headers.items() if name != "content-security-policy"}
    await route.fulfill(response=answer, headers=kept)


@proves("LINK-XSS")
async def test_nothing_of_a_sample_of_attacks_is_run_or_fetched_even_without_the_pages_policy(scene):
    owner = await (await scene.visit("owner", scripts=False)).new_page()
    document, address = await shared(scene, owner, "x", "x")
    headers = {"authorization": scene.up.running().authorization}
    texts = payloads()
    chosen = random.Random(7).sample(texts, SAMPLE)  # the same each time
    page, foreign, ran = None, [], []
    for number, text in enumerate(chosen):
        if number % 100 == 0:
            page, _ = await reader(scene)
            await page.route("**/s/*", unsealed)
            await page.add_init_script(_HOOK)
            page.on("request", lambda asked: foreign.append(asked.url) if not asked.url.startswith(scene.up.url) else 0)
            page.on("dialog", lambda dialog: foreign.append(dialog.message))
        data = {"title": (text.strip() or "x")[:500], "content": text or " "}
        sent = await owner.request.patch(scene.url(f"/v1/documents/{document}"), data=data, headers=headers)
        assert sent.ok, await sent.text()
        answer = await page.goto(address)
        assert answer.status == 200
        for place in await page.locator("article a").all():
            await place.hover(timeout=2000, force=True)
            break
        ran += await page.evaluate("window.ran")
    assert (foreign, ran) == ([], [])
    await page.evaluate("document.body.innerHTML = '<img src=none onerror=alert(1)>'")
    await page.wait_for_function("window.ran.includes('alert 1')")  # it would have been seen
