"""A person with a browser, as far as HTTP shows it: cookies, forms with hidden fields, where requests come from."""

from __future__ import annotations

import html
import re
import secrets
from typing import TYPE_CHECKING, Any

import httpx2

from tests.support.asgi import Transport
from tests.support.service import BASE_URL

if TYPE_CHECKING:
    from tests.support.factories import User

PASSWORD = "a sentence that nobody guesses"
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


class Visitor:
    """Follows no redirect by itself; sends forms as the page shows them."""

    def __init__(self, app: Any, base_url: str = BASE_URL, **headers: str) -> None:
        self.origin = base_url
        forwarded = "10." + ".".join(str(secrets.randbelow(254) + 1) for _ in range(3))
        self.client = httpx2.AsyncClient(
            transport=Transport(app), base_url=base_url, headers={"x-forwarded-for": forwarded} | headers
        )

    async def get(self, path: str, **options: Any) -> httpx2.Response:
        """Open a page."""
        return await self.client.get(path, **options)

    async def fill(self, page: str, leads_to: str | None = None, **fields: str) -> httpx2.Response:
        """Open a page and send one of its forms (by default the one that leads to the page itself)."""
        shown = await self.get(page)
        assert shown.status_code == 200, (shown.status_code, shown.text)
        return await self.send(leads_to or page, hidden(shown, leads_to or page.partition("?")[0]) | fields)

    async def send(self, path: str, fields: dict[str, str], **headers: str) -> httpx2.Response:
        """Send a form as a browser does from a page of ours, which gives no referrer."""
        said = {"origin": self.origin, "sec-fetch-site": "same-origin"} | headers
        return await self.client.post(path, data=fields, headers=said)

    async def sign_in(self, email: str, password: str = PASSWORD, **fields: str) -> httpx2.Response:
        """Sign in by the form."""
        return await self.fill("/sign-in", email=email, password=password, **fields)

    def cookie(self, name: str = "session") -> str | None:
        """Tell a cookie's value."""
        return self.client.cookies.get(name)


def hidden(answer: httpx2.Response, action: str) -> dict[str, str]:
    """Read the hidden fields of the form that leads to `action`."""
    form = re.search(
        rf'<form method="post" action="{re.escape(html.escape(action))}".*?</form>', answer.text, re.DOTALL
    )
    assert form, f"no form leads to {action}: {answer.text}"
    return {name: html.unescape(value) for name, value in _HIDDEN.findall(form[0])}


async def with_password(app: Any, user: User, password: str = PASSWORD) -> Visitor:
    """Give a user a password by a one-time link; returns the browser that is signed in by it."""
    link = await sign_in_link(app, user.email)
    visitor = Visitor(app)
    answer = await visitor.fill(link, password=password)
    assert answer.status_code == 303, answer.text
    return visitor


async def sign_in_link(app: Any, email: str) -> str:
    """Make a one-time link; returns its path."""
    from app.features.signin import service

    made = await service.create_sign_in_link(app.state.gate.database, BASE_URL, email)
    return str(made["signInLink"]).removeprefix(BASE_URL)


async def signed_in(app: Any, make: Any, user: User) -> Visitor:
    """Give the browser of a user who signed in before."""
    visitor = Visitor(app)
    visitor.client.cookies.set("session", await make.session(user))
    return visitor


def as_browser(text: str) -> str:
    r"""Write a text as browsers send what stands in a field: every line ends with `\r\n`."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")
