"""What people come for, done with Tab, Enter, Space and letters alone, with and without scripts."""

from __future__ import annotations

import secrets

import httpx2
import pytest

from tests.contract.requirements import proves
from tests.edge.web.chromium import PASSWORD, barriers, tab_to
from tests.edge.web.shown import OWNER, World, answering, path_of, registered

pytestmark = pytest.mark.prove


async def typed(page, label, text):
    await tab_to(page, page.get_by_label(label, exact=True))
    await page.keyboard.type(text)


async def pressed(page, button, key="Enter"):
    """Press a control of the page's main part by key, and wait for the page that it leads to."""
    await tab_to(page, button)
    async with page.expect_navigation():
        await page.keyboard.press(key)


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
@proves("WEB-KEYBOARD")
async def test_sign_in_create_and_revoke_a_key_invite_consent_and_sign_out(scene: World, scripts):
    page = await (await scene.visit("nobody", scripts=scripts)).new_page()
    main = page.locator("main")

    await page.goto(scene.url("/dashboard/keys"))
    await typed(page, "Email", OWNER)
    await page.keyboard.press("Tab")
    await page.keyboard.type(PASSWORD)
    async with page.expect_navigation():
        await page.keyboard.press("Enter")
    assert page.url == scene.url("/dashboard/keys")

    name = f"By keyboard {secrets.token_hex(4)}"
    await typed(page, "Name", name)
    await tab_to(page, page.get_by_label("Change documents"))
    await page.keyboard.press("Space")
    await pressed(page, main.get_by_role("button", name="Create key"))
    key = await page.input_value("#s-secret")
    async with httpx2.AsyncClient(base_url=scene.up.url, headers={"authorization": f"API-Key {key}"}) as http:
        assert (await http.get("/v1/user/me")).json()["data"]["email"] == OWNER
        row = page.get_by_role("row").filter(has_text=name)
        await tab_to(page, row.locator("summary"))
        await page.keyboard.press("Enter")
        await pressed(page, row.get_by_role("button", name="Revoke for good"))
        assert await row.count() == 0

    await page.goto(scene.url("/dashboard/members"))
    address = f"{secrets.token_hex(4)}@example.test"
    await typed(page, "Email", address)
    await pressed(page, main.get_by_role("button", name="Invite", exact=True))
    assert path_of(await page.input_value("#s-secret")).startswith("/invite/")
    await pressed(page, main.get_by_role("button", name=f"Take back the invite of {address}"))
    assert await page.get_by_text(address).count() == 0

    async with answering() as place:
        for decision, answer in (("Deny", "error"), ("Allow", "code")):
            await page.goto(scene.up.url + await registered(scene.up, "Helper", place, secrets.token_urlsafe(48)))
            await pressed(page, main.get_by_role("button", name=decision))
            assert page.url.startswith(place)
            assert answer in httpx2.URL(page.url).params

    await page.goto(scene.url("/dashboard"))
    await pressed(page, page.get_by_role("navigation").get_by_role("button", name="Sign out"))
    assert page.url == scene.url("/sign-in")
    await page.context.close()


async def test_a_device_is_allowed_and_a_password_changed_by_keyboard(scene: World):
    page = await (await scene.visit("owner")).new_page()
    await page.goto(scene.url("/oauth/device"))
    async with httpx2.AsyncClient(base_url=scene.up.url) as http:
        begun = (await http.post("/oauth/device_authorization", data={"client_id": "ctx"})).json()
    await page.keyboard.type(begun["user_code"].lower())
    async with page.expect_navigation():
        await page.keyboard.press("Enter")
    await pressed(page, page.get_by_role("button", name="Allow"))
    assert "The device has access now" in await page.inner_text("main")
    await page.context.close()


async def test_the_first_tab_leads_past_the_navigation(scene: World):
    page = await (await scene.visit("owner")).new_page()
    await page.goto(scene.url("/dashboard/account"))
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.textContent") == "Skip to the content"
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.closest('main') !== null")
    await page.context.close()


async def test_a_barrier_would_be_found(scene: World):
    page = await (await scene.visit("nobody")).new_page()
    await page.goto(scene.url("/sign-in"))
    await page.evaluate("document.querySelector('label').remove()")
    await page.evaluate("document.querySelector('.lead').style.color = '#ccc'")
    assert {text.split()[1] for text in await barriers(page)} == {"label:", "color-contrast:"}
    await page.context.close()
