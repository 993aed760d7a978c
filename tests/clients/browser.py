"""A person's browser, driven by hand: signs in once, then allows what clients ask for."""

from __future__ import annotations

import html
import re
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

_TAG = re.compile(r"<(input|option)\b([^>]*)>")
_ATTRIBUTE = re.compile(r'([\w-]+)(?:="([^"]*)")?')
_OWN = {"sec-fetch-site": "same-origin"}
PASSWORD = "a password of the proofs, long enough"


def fields_of(page: str) -> dict[str, str]:
    """What a browser would send of the form of a page's main part, without its buttons."""
    found: dict[str, str] = {}
    main = page[page.index("<main") :]
    select = re.search(r'<select[^>]*name="([\w.]+)"', main)
    for tag, text in _TAG.findall(main):
        values = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(text)}
        if tag == "option" and select and select.group(1) not in found:
            found[select.group(1)] = values["value"]
        elif tag == "input" and "name" in values and (values.get("type") != "checkbox" or "checked" in values):
            found[values["name"]] = values.get("value", "")
    return found


class Browser:
    """One person at one service."""

    def __init__(self, url: str, email: str, sign_in_link: str) -> None:
        self.email = email
        self.pages: list[str] = []
        """The consent pages that were shown."""
        self._http = httpx2.Client(base_url=url, timeout=20)
        page = self._http.get(urlsplit(sign_in_link).path)
        answer = self._http.post(
            urlsplit(sign_in_link).path, data=fields_of(page.text) | {"password": PASSWORD}, headers=_OWN
        )
        assert answer.status_code == 303, answer.text
        self._http.cookies.clear()

    def allow(self, authorize_url: str, *, without: str = "") -> str:
        """Open a client's request, sign in if asked, allow it; returns the address that the client waits at.

        Args:
            without: permissions whose names end in this are unchecked.
        """
        answer = self._http.get(authorize_url)
        if answer.status_code == 303 and answer.headers["location"].startswith("/sign-in"):
            page = self._http.get(answer.headers["location"])
            sent = fields_of(page.text) | {"email": self.email, "password": PASSWORD}
            answer = self._http.post("/sign-in", data=sent, headers=_OWN)
            assert answer.status_code == 303, answer.text
            answer = self._http.get(answer.headers["location"])
        if answer.status_code == 200:
            self.pages.append(answer.text)
            fields = fields_of(answer.text)
            kept = {name: value for name, value in fields.items() if not (without and name.endswith(without))}
            answer = self._http.post("/oauth/authorize", data=kept | {"decision": "allow"}, headers=_OWN)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def follow(self, location: str) -> None:
        """Go where the client waits, as a browser does by itself; some print the address before they listen."""
        deadline = time.monotonic() + 30
        with httpx2.Client(timeout=20, trust_env=False) as http:
            while True:
                try:
                    answer = http.get(location)
                except httpx2.ConnectError:
                    assert time.monotonic() < deadline, "the client does not listen"
                    time.sleep(0.1)
                else:
                    break
        assert answer.status_code < 400


def printed_url(log: Path, prefix: str) -> str:
    """Wait until a program prints an address that it wants a person to open."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if found := re.search(re.escape(prefix) + r"\?[^\s\"]+", log.read_text()):
            return found.group(0)
        time.sleep(0.1)
    raise AssertionError(log.read_text())
