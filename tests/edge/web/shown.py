"""Every page as people meet it: who is there, where it is, and what leads to the state that is judged."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx2

from tests.edge.web.chromium import PASSWORD
from tests.features.oauth.flow import challenge_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from playwright.async_api import Browser, BrowserContext, Page, StorageState

    from tests.support.product import Up

OWNER = "owner@localhost"
_LINK_SECONDS = 30
_LONG_TAG = "a-tag-that-is-longer-than-a-phone-is-wide-in-one-piece"
_VERIFIER = secrets.token_urlsafe(48)


@dataclass
class World:
    """A service with some life in it, and the people who know it."""

    up: Up
    browser: Browser
    states: dict[str, StorageState]
    places: dict[str, str]
    """Paths that are known only once something was made, by what stands for them in a view."""

    async def visit(self, who: str, *, scripts: bool = True, **options: Any) -> BrowserContext:
        """Give somebody a browser: `owner`, `guest`, or `nobody`; each comes from an address of its own.

        Args:
            options: further arguments of `Browser.new_context`.
        """
        return await self.browser.new_context(
            storage_state=self.states.get(who),
            java_script_enabled=scripts,
            extra_http_headers={"x-forwarded-for": elsewhere()},
            **options,
        )

    def program(self) -> httpx2.AsyncClient:
        """Give a program with the owner's key, which comes from an address of its own."""
        headers = {"authorization": self.up.running().authorization, "x-forwarded-for": elsewhere()}
        return httpx2.AsyncClient(base_url=self.up.url, headers=headers)

    def url(self, path: str) -> str:
        """Fill in a view's path."""
        return self.up.url + path.format(**self.places)


def elsewhere() -> str:
    """Make up an address of the net: each has rates of its own."""
    return "10." + ".".join(str(secrets.randbelow(254) + 1) for _ in range(3))


@dataclass(frozen=True)
class View:
    """A page in one state; `act` leads from the page to the state."""

    name: str
    path: str
    who: str = "owner"
    status: int = 200
    act: Callable[[Page], Awaitable[None]] | None = None
    served_by: str = ""
    """The pattern of the page's route, where it cannot be told from the path."""

    @property
    def pattern(self) -> str:
        """Name the route that shows it."""
        return self.served_by or self.path.partition("?")[0].partition("#")[0]


async def send(page: Page, button: str = "main button[type=submit] >> nth=-1") -> None:
    """Press a button that leads to another page."""
    async with page.expect_navigation():
        await page.locator(button).click()


async def _wrong_password(page: Page) -> None:
    await page.fill("#f-email", f"{secrets.token_hex(4)}@example.test")
    await page.fill("#f-password", "not the password")
    await send(page)


async def _ask_for_mail(page: Page) -> None:
    await page.fill("#f-email", f"{secrets.token_hex(4)}@example.test")
    await send(page)


async def _wrong_code(page: Page) -> None:
    await page.fill("#f-user_code", "BCDF-GHJK")
    await send(page)


async def _wrong_current_password(page: Page) -> None:
    await page.fill("#f-current", "not the password")
    await page.fill("#f-password", "another sentence that nobody guesses")
    await send(page)


async def _create_key(page: Page) -> None:
    await page.fill("#f-name", "Fresh")
    await send(page)


async def _nothing_allowed(page: Page) -> None:
    await page.fill("#f-name", "Allowed nothing")
    for box in await page.locator("main input[type=checkbox]").all():
        await box.uncheck()
    await send(page)


async def _open_all(page: Page) -> None:
    for summary in await page.locator("main summary").all():
        await summary.click()


async def _invite(page: Page) -> None:
    await page.fill("#f-email", f"{secrets.token_hex(4)}@example.test")
    await send(page, "main button:text-is('Invite')")


async def _stale(page: Page) -> None:
    await page.context.clear_cookies(name="csrf")
    await send(page)


async def _preview(page: Page) -> None:
    await page.fill("#f-content", "# Draft\n\n| step | who |\n|---|---|\n| tag | on duty |\n\n> Nobody saved this yet.")
    await send(page, "main button[value=preview]")


async def _write_meanwhile(page: Page, *, line: int) -> None:
    """Let somebody else save a change of a line after the editor was opened here, and save one of the first line."""
    other = await page.context.new_page()
    await other.goto(page.url)
    for editor, at in ((other, line), (page, 0)):
        lines = (await editor.input_value("#f-content")).split("\n")
        lines[at] += f" {secrets.token_hex(2)}"
        await editor.fill("#f-content", "\n".join(lines))
        await send(editor, "main button[value=save]")
    await other.close()


async def _merge(page: Page) -> None:
    await _write_meanwhile(page, line=-1)
    assert "Both changes fit together" in await page.inner_text("main")


async def _overlap(page: Page) -> None:
    await _write_meanwhile(page, line=0)
    assert "Both changed the same lines" in await page.inner_text("main")


async def _export(page: Page) -> None:
    await send(page, "main button:text-is('Begin an export')")
    await page.get_by_role("link", name="Download the archive").wait_for()


async def _still_written(page: Page) -> None:
    assert "Writing item" in await page.inner_text("#progress")


async def open_passages(page: Page) -> None:
    await page.get_by_role("link", name="Passages").first.click()
    await page.get_by_role("link", name="Close the passages").wait_for()


async def _ask(page: Page) -> None:
    """Ask until what the owner wrote is indexed."""
    deadline = time.monotonic() + _LINK_SECONDS
    while True:
        await page.fill("#q-q", "What is announced after the build?")
        await send(page, "main button[type=submit]")
        if await page.locator(".cite").count():
            return
        assert time.monotonic() < deadline


async def _open_citation(page: Page) -> None:
    await _ask(page)
    async with page.expect_navigation():
        await page.locator(".cite").first.click()


VIEWS = [
    View("sign-in", "/sign-in", "nobody"),
    View("sign-in-refused", "/sign-in", "nobody", 401, _wrong_password),
    View("forgot-password", "/forgot-password", "nobody"),
    View("mail-sent", "/forgot-password", "nobody", act=_ask_for_mail),
    View("first-link", "{set_password}", "nobody", served_by="/set-password/{token}"),
    View("link-over", "/set-password/no-such-token", "nobody", 410, served_by="/set-password/{token}"),
    View("sign-up", "/sign-up", "nobody"),
    View("register", "{sign_up}", "nobody", served_by="/sign-up/{token}"),
    View("invite-of-a-stranger", "{invite_of_stranger}", "nobody", served_by="/invite/{token}"),
    View("invite-before-sign-in", "{invite_of_guest}", "nobody", served_by="/invite/{token}"),
    View("invite", "{invite_of_guest}", "guest", served_by="/invite/{token}"),
    View("invite-of-another", "{invite_of_guest}", "owner", served_by="/invite/{token}"),
    View("app-refused", "/oauth/authorize?client_id=none", "nobody", 400),
    View("start", "/"),
    View("home", "/", "nobody"),
    View("pricing", "/pricing", "nobody"),
    View("about", "/about", "nobody"),
    View("chatgpt-app", "/chatgpt-app", "nobody"),
    View("mcp-server", "/mcp-server", "nobody"),
    View("status", "/status", "nobody"),
    View("handbook", "/docs", "nobody"),
    View("handbook-page", "/docs/coordination", "nobody", served_by="/docs/{name}"),
    View("handbook-api", "/docs/api", "nobody", served_by="/docs/{name}"),
    View("links", "/dashboard/links"),
    View("links-none", "/dashboard/links", "guest"),
    View("share", "/dashboard/share/document/{unshared}", served_by="/dashboard/share/{kind}/{id}"),
    View("share-shared", "/dashboard/share/document/{document}", served_by="/dashboard/share/{kind}/{id}"),
    View("overview", "/dashboard"),
    View("overview-of-two", "/dashboard", "guest"),
    View("connect", "/dashboard/connect"),
    View("connect-guide", "/dashboard/connect#claude-code"),
    View("doctor", "/dashboard/doctor"),
    View("doctor-done", "/dashboard/doctor", "guest", act=send),
    View("keys", "/dashboard/keys"),
    View("keys-none", "/dashboard/keys", "guest"),
    View("keys-change", "/dashboard/keys", act=_open_all),
    View("key-created", "/dashboard/keys", act=_create_key),
    View("key-refused", "/dashboard/keys", "owner", 400, _nothing_allowed),
    View("apps", "/dashboard/apps"),
    View("apps-none", "/dashboard/apps", "guest"),
    View("members", "/dashboard/members"),
    View("members-change", "/dashboard/members", act=_open_all),
    View("member-invited", "/dashboard/members", act=_invite),
    View("workspaces", "/dashboard/workspaces"),
    View("workspaces-of-two", "/dashboard/workspaces", "guest"),
    View("account", "/dashboard/account"),
    View("account-refused", "/dashboard/account", "owner", 400, _wrong_current_password),
    View("sessions", "/dashboard/sessions"),
    View("document", "/dashboard/documents/{document}", served_by="/dashboard/documents/{id}"),
    View("document-leased", "/dashboard/documents/{leased}", served_by="/dashboard/documents/{id}"),
    View("sign-out", "/sign-out"),
    View("form-refused", "/sign-out", "owner", 403, _stale),
    View("consent", "{consent}", served_by="/oauth/authorize"),
    View("consent-web", "{consent_web}", served_by="/oauth/authorize"),
    View("device", "/oauth/device"),
    View("device-refused", "/oauth/device", "owner", 400, _wrong_code),
    View("device-consent", "/oauth/device?user_code={user_code}"),
    View("documents", "/dashboard/documents"),
    View("documents-none", "/dashboard/documents", "guest"),
    View("document-new", "/dashboard/documents/new"),
    View("document-edit", "/dashboard/documents/{document}/edit", served_by="/dashboard/documents/{id}/edit"),
    View(
        "document-preview",
        "/dashboard/documents/{document}/edit",
        act=_preview,
        served_by="/dashboard/documents/{id}/edit",
    ),
    View("document-merge", "{edited}/edit", "owner", 409, _merge, served_by="/dashboard/documents/{id}/edit"),
    View("document-overlap", "{edited}/edit", "owner", 409, _overlap, served_by="/dashboard/documents/{id}/edit"),
    View("document-rtl", "{rtl}", served_by="/dashboard/documents/{id}"),
    View("document-past", "{rtl}?asOf=1", served_by="/dashboard/documents/{id}"),
    View("document-rtl-edit", "{rtl}/edit", served_by="/dashboard/documents/{id}/edit"),
    View("document-rtl-diff", "{rtl}/diff?from=1&to=2", served_by="/dashboard/documents/{id}/diff"),
    View("versions", "/dashboard/documents/{document}/versions", served_by="/dashboard/documents/{id}/versions"),
    View("diff", "/dashboard/documents/{document}/diff?from=1&to=1", served_by="/dashboard/documents/{id}/diff"),
    View(
        "no-original",
        "/dashboard/documents/none/original",
        "owner",
        404,
        served_by="/dashboard/documents/{id}/original",
    ),
    View("upload", "/dashboard/documents/upload"),
    View("save-page", "/dashboard/documents/save-page"),
    View("prompts", "/dashboard/prompts"),
    View("prompt-new", "/dashboard/prompts/new"),
    View("prompt", "/dashboard/prompts/{prompt}", served_by="/dashboard/prompts/{id}"),
    View("prompt-edit", "/dashboard/prompts/{prompt}/edit", served_by="/dashboard/prompts/{id}/edit"),
    View("prompt-versions", "/dashboard/prompts/{prompt}/versions", served_by="/dashboard/prompts/{id}/versions"),
    View("prompt-diff", "/dashboard/prompts/{prompt}/diff?from=1&to=1", served_by="/dashboard/prompts/{id}/diff"),
    View("collections", "/dashboard/collections"),
    View("collection-new", "/dashboard/collections/new"),
    View("collection", "/dashboard/collections/{collection}", served_by="/dashboard/collections/{id}"),
    View("collection-edit", "/dashboard/collections/{collection}/edit", served_by="/dashboard/collections/{id}/edit"),
    View("collection-add", "/dashboard/collections/{collection}/add", served_by="/dashboard/collections/{id}/add"),
    View("search", "/dashboard/search?q=release"),
    View("search-as-of", "/dashboard/search?q=release&asOf=2030-01-01"),
    View("search-passages", "/dashboard/search?q=release", act=open_passages),
    View("search-rtl", "/dashboard/search?q=الإصدار&mode=literal", served_by="/dashboard/search"),
    View("search-empty", "/dashboard/search", "guest"),
    View("ask", "/dashboard/ask"),
    View("ask-answered", "/dashboard/ask?document={document}", act=_ask),
    View("ask-nothing", "/dashboard/ask", "guest"),
    View("citation", "/dashboard/ask", act=_open_citation, served_by="/dashboard/citations/{id}"),
    View("no-citation", "/dashboard/citations/none", "owner", 404, served_by="/dashboard/citations/{id}"),
    View("trash", "/dashboard/trash"),
    View("settings", "/dashboard/settings"),
    View("audit", "/dashboard/audit"),
    View("export", "/dashboard/export"),
    View("export-ready", "/dashboard/export", act=_export, served_by="/dashboard/export/{id}"),
    View("export-running", "/dashboard/export/{export}", act=_still_written, served_by="/dashboard/export/{id}"),
    View("no-export", "/dashboard/export/none", "owner", 404, served_by="/dashboard/export/{id}"),
    View("no-archive", "/dashboard/export/none/content", "owner", 404, served_by="/dashboard/export/{id}/content"),
    View("samples", "/dashboard/samples"),
    View("not-a-document", "/dashboard/documents/none", "owner", 404, served_by="/dashboard/documents/{id}"),
]


async def made(up: Up, browser: Browser, owner: StorageState) -> World:
    """Put some life into a service whose owner is signed in."""
    world = World(up, browser, {"owner": owner}, {})
    guest, stranger, newcomer = (f"{secrets.token_hex(4)}@example.test" for _ in range(3))
    page = await (await world.visit("owner", scripts=False)).new_page()
    for field, address in (("invite_of_guest", guest), ("invite_of_stranger", stranger)):
        await page.goto(world.url("/dashboard/members"))
        await page.fill("#f-email", address)
        await send(page, "main button:text-is('Invite')")
        world.places[field] = path_of(await page.input_value("#s-secret"))
    await page.goto(world.url("/dashboard/keys"))
    await page.fill("#f-name", "Nightly export on the build machine")
    for box in await page.locator("main input[type=checkbox]").all():
        await box.check()
    await send(page)
    await _programs(world, up)
    await _write(world)
    await _allow(world, page)
    await _share(world, page)
    await _settle(world, guest)
    world.places["set_password"] = await _mailed_link(world, "/forgot-password", guest)
    world.places["sign_up"] = await _mailed_link(world, "/sign-up", newcomer)
    return world


RIGHT_TO_LEFT = """# دليل الإصدار

يصدر التطبيق كل يوم ثلاثاء عند الساعة 9:30، ويستعمل الفريق الأمر `make release` على الفرع main.

1. كل الفحوص ناجحة.
2. سجل التغييرات كامل (CHANGELOG.md).

> إذا تعطل شيء فأوقفوا التوزيع أولا.

| الخطوة | من | المدة |
|---|---|---|
| البناء | المناوب | 10 دقائق |
| الإرسال | הצוות | יום אחד |

A paragraph in English stands in the middle of it.
"""


async def _write(world: World) -> None:
    """Let a program write documents to be edited, one that is read from the right, and begin an export."""
    async with world.program() as http:

        async def wrote(**body: Any) -> str:
            answer = await http.post("/v1/documents", json=body)
            place = f"/v1/documents/{answer.json()['data']['id']}"
            world.places[body["tags"][0]] = place.replace("/v1", "/dashboard")
            return place

        await wrote(title="Meeting notes", content="First.\n\nSecond.\n\nThird.\n\nLast.", tags=["edited"])
        place = await wrote(title="دليل الإصدار والنشر", content=RIGHT_TO_LEFT, tags=["rtl", "إصدار"])
        changed = RIGHT_TO_LEFT.replace("ثلاثاء", "خميس")
        assert (await http.patch(place, json={"content": changed})).status_code == 200
        world.places["export"] = await begun_export(world, http)


async def begun_export(world: World, http: httpx2.AsyncClient) -> str:
    """Begin an export and hold it in the middle of its work; returns its id."""
    begun: str = (await http.post("/v1/exports")).json()["data"]["id"]
    deadline = time.monotonic() + _LINK_SECONDS
    while (await http.get(f"/v1/exports/{begun}")).json()["data"]["state"] != "ready":
        assert time.monotonic() < deadline
    changed = "state = 'running', items_done = items_total / 2, created_at = now() + interval '1 hour'"
    await set_export(world, http, begun, changed)
    return begun


async def set_export(world: World, http: httpx2.AsyncClient, export_id: str, change: str) -> None:
    """Change an export behind the service's back."""
    home = (await http.get("/v1/user/me")).json()["data"]["workspace"]["id"]
    statement = f"UPDATE exports SET {change} WHERE id = $1"
    await asyncio.to_thread(world.up.sql, statement, UUID(export_id), workspace=home)


async def _share(world: World, page: Page) -> None:
    """Let the owner share a document."""
    await page.goto(world.url("/dashboard/share/document/{document}"))
    await send(page, "main button[type=submit] >> nth=-1")
    world.places["shared"] = path_of(await page.input_value("#s-secret"))


async def _settle(world: World, guest: str) -> None:
    """Let the guest make an account, without accepting the invite, and a workspace."""
    context = await world.visit("nobody", scripts=False)
    page = await context.new_page()
    await page.goto(world.url("{invite_of_guest}"))
    await page.fill("#f-name", "Guest")
    await page.fill("#f-password", PASSWORD)
    await send(page)
    assert page.url == world.url("{invite_of_guest}")
    await page.goto(world.url("/dashboard/workspaces"))
    await page.fill("#f-name", "Release team")
    await send(page)
    assert guest in await page.inner_text("main")
    world.states["guest"] = await context.storage_state()


async def signed_in_by(world: World, link: str) -> StorageState:
    """Choose a password by a one-time link."""
    context = await world.visit("nobody", scripts=False)
    page = await context.new_page()
    await page.goto(link)
    await page.fill("#f-password", PASSWORD)
    await send(page)
    assert page.url == world.url("/dashboard")
    return await context.storage_state()


def path_of(link: str) -> str:
    """Give the path of one of the service's own links."""
    return httpx2.URL(link).path


async def registered(up: Up, name: str, redirect: str, verifier: str) -> str:
    """Register a program; returns the path where it sends people."""
    body = {"client_name": name, "redirect_uris": [redirect], "token_endpoint_auth_method": "none"}
    async with httpx2.AsyncClient(base_url=up.url, headers={"x-forwarded-for": elsewhere()}) as http:
        answer = await http.post("/oauth/register", json=body)
    parameters = {
        "response_type": "code",
        "client_id": answer.json()["client_id"],
        "redirect_uri": redirect,
        "code_challenge": challenge_of(verifier),
        "code_challenge_method": "S256",
        "resource": f"{up.url}/mcp",
    }
    return f"/oauth/authorize?{httpx2.QueryParams(parameters)}"


async def _programs(world: World, up: Up) -> None:
    """Let programs ask for access, and write a document."""
    world.places["consent"] = await registered(up, "Desktop assistant", "http://127.0.0.1:9/callback", _VERIFIER)
    world.places["consent_web"] = await registered(
        up, "Team assistant", "https://assistant.example/callback", _VERIFIER
    )
    async with httpx2.AsyncClient(base_url=up.url, headers={"x-forwarded-for": elsewhere()}) as http:
        begun = (await http.post("/oauth/device_authorization", data={"client_id": "ctx"})).json()
        world.places["user_code"] = begun["user_code"]
        text = "# Release runbook\n\nTag, wait for the build, then announce.\n\n" + "A long line without end. " * 40
        written = {"title": "Release runbook", "content": text, "tags": ["runbook", "release", _LONG_TAG]}
        headers = {"authorization": up.running().authorization}
        prompt = {"title": "Notes", "description": "Writes notes.", "content": "For ${version}."}
        collection = {"name": "Releases", "color": "#3366cc"}
        for kind, body in (("prompt", prompt), ("collection", collection)):
            made = await http.post(f"/v1/{kind}s", json=body, headers=headers)
            world.places[kind] = made.json()["data"]["id"]
        for name in ("unshared", "document"):
            answer = await http.post("/v1/documents", json=written, headers=headers)
            world.places[name] = answer.json()["data"]["id"]
        made = await http.post("/v1/documents", json=written | {"title": "Taken in turns"}, headers=headers)
        world.places["leased"] = made.json()["data"]["id"]
        policy = {"policy": "lease_required"}
        named = {"if-match": made.headers["etag"], "idempotency-key": "policy"}
        where = f"/v1/documents/{world.places['leased']}/coordination"
        (await http.put(where, json=policy, headers=headers | named)).raise_for_status()


@asynccontextmanager
async def answering() -> AsyncIterator[str]:
    """Be a program that waits on this machine for its answer; gives the address where it waits."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nDone")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/callback"


async def _allow(world: World, page: Page) -> None:
    """Let the owner allow a program, so that one is listed."""
    async with answering() as place:
        asked = world.up.url + await registered(world.up, "Command line helper", place, _VERIFIER)
        await page.goto(asked)
        await send(page, "main button[value=allow]")
    fields = {
        "grant_type": "authorization_code",
        "client_id": httpx2.URL(asked).params["client_id"],
        "redirect_uri": place,
        "code": httpx2.URL(page.url).params["code"],
        "code_verifier": _VERIFIER,
    }
    async with httpx2.AsyncClient(base_url=world.up.url) as http:
        assert (await http.post("/oauth/token", data=fields)).status_code == 200


async def _mailed_link(world: World, path: str, address: str) -> str:
    """Ask for a link and read it in the mail."""
    page = await (await world.visit("nobody", scripts=False)).new_page()
    await page.goto(world.url(path))
    await page.fill("#f-email", address)
    await send(page)
    deadline = time.monotonic() + _LINK_SECONDS
    while time.monotonic() < deadline:
        mails = (await asyncio.to_thread(world.up.admin, "outbox"))["mails"]
        for mail in mails:
            if mail["recipient"] == address and (
                found := re.search(r"http\S+/(sign-up|set-password)/\S+", mail["body"])
            ):
                return path_of(found[0])
    raise AssertionError("no mail came")
