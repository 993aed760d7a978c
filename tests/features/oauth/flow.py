"""A client and a person's browser, by hand: registration, PKCE, consent, tokens."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit
from uuid import UUID

import httpx2

ISSUER = "https://service.test"
REDIRECT = "https://client.example/callback"
LOOPBACK = "http://127.0.0.1:5000/callback"
_INPUT = re.compile(r"<(input|option|button)\b([^>]*)>")
_ATTRIBUTE = re.compile(r'([\w-]+)(?:="([^"]*)")?')


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def fields_of(page: str) -> dict[str, str]:
    """What a browser would send of a page's form, without its buttons."""
    found: dict[str, str] = {}
    select = re.search(r'<select[^>]*name="(\w+)"', page)
    for tag, text in _INPUT.findall(page[page.index("<main") :]):
        values = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(text)}
        if tag == "option" and select and select.group(1) not in found:
            found[select.group(1)] = values["value"]
        elif tag == "input" and "name" in values and (values.get("type") != "checkbox" or "checked" in values):
            found[values["name"]] = values.get("value", "")
    return found


@dataclass
class Flow:
    """One client and one person."""

    http: httpx2.AsyncClient
    client_id: str = ""
    secret: str | None = None
    redirect: str = REDIRECT
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(8))
    registered: dict[str, Any] = field(default_factory=dict)

    async def register(self, **metadata: Any) -> httpx2.Response:
        body = {
            "client_name": "Test client",
            "redirect_uris": [self.redirect],
            "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token"],
        } | metadata
        answer = await self.http.post("/oauth/register", json=body)
        if answer.status_code == 201:
            self.registered = answer.json()
            self.client_id, self.secret = self.registered["client_id"], self.registered.get("client_secret")
        return answer

    def request(self, **changes: Any) -> str:
        """The address that the client sends the browser to; None leaves a parameter out."""
        parameters = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect,
            "state": self.state,
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
            "resource": f"{ISSUER}/mcp",
        } | changes
        pairs = [(name, value) for name, value in parameters.items() if value is not None]
        return f"/oauth/authorize?{urlencode(pairs, doseq=True)}"

    async def open(self, **changes: Any) -> httpx2.Response:
        """The page that the person sees, or where the browser is sent."""
        return await self.http.get(self.request(**changes))

    async def submit(self, page: httpx2.Response, *, decision: str = "allow", **fields: str | None) -> httpx2.Response:
        """Press a button of a page."""
        sent = fields_of(page.text) | {"decision": decision}
        for name, value in fields.items():
            key = name.replace("__", ".")
            if value is None:
                sent.pop(key, None)
            else:
                sent[key] = value
        path = re.search(r'<main.*?action="([^"]+)"', page.text, re.DOTALL)
        assert path is not None
        return await self.http.post(path.group(1), data=sent, headers={"sec-fetch-site": "same-origin"})

    async def authorize(self, *, decision: str = "allow", fields: dict[str, str | None] | None = None, **changes: Any):
        """Consent to an authorization request; returns the parameters of the answer."""
        page = await self.open(**changes)
        if page.status_code == 200:
            page = await self.submit(page, decision=decision, **(fields or {}))
        return answer_of(page)

    async def token(self, **parameters: Any) -> httpx2.Response:
        sent = {
            name: value for name, value in ({"client_id": self.client_id} | parameters).items() if value is not None
        }
        if self.secret and "client_secret" not in parameters:
            sent["client_secret"] = self.secret
        return await self.http.post("/oauth/token", data=sent)

    async def exchange(self, code: str, /, **changes: Any) -> httpx2.Response:
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect,
            "code_verifier": self.verifier,
        }
        return await self.token(**(sent | changes))

    async def refresh(self, refresh_token: str, /, **changes: Any) -> httpx2.Response:
        return await self.token(grant_type="refresh_token", refresh_token=refresh_token, **changes)

    async def tokens(self, **changes: Any) -> dict[str, Any]:
        """The whole way to tokens."""
        answer = await self.authorize(**changes)
        assert "code" in answer, answer
        found = await self.exchange(answer["code"])
        assert found.status_code == 200, found.text
        return found.json()


def answer_of(response: httpx2.Response) -> dict[str, str]:
    """The parameters with which the browser is sent to the client."""
    assert response.status_code == 303, (response.status_code, response.text)
    query = urlsplit(response.headers["location"]).query
    assert all(len(values) == 1 for values in parse_qs(query, keep_blank_values=True).values())
    return dict(parse_qsl(query, keep_blank_values=True))


@dataclass(frozen=True)
class Person:
    """A user with a browser that is signed in."""

    id: UUID
    workspace_id: UUID
    email: str
    http: httpx2.AsyncClient
