"""Two server processes on one database and Redis, without affinity: whoever answers, it is the same service."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import secrets
import time
from urllib.parse import urlencode

import httpx2
import pytest

from app import admin
from tests.clients.browser import Browser
from tests.contract.requirements import proves
from tests.edge.mcp.wire import BOTH
from tests.support.stack import PLANS, ServerProcess

pytestmark = pytest.mark.prove
CALLS = 200
REDIRECT = "http://127.0.0.1:43211/callback"


@contextlib.asynccontextmanager
async def two(settings, plans):
    """Clients of two processes with one public address, which is the first one's."""
    plans.write_text(PLANS, encoding="utf-8")
    one, other = (ServerProcess(settings.model_copy(update={"plans_file": plans})) for _ in range(2))
    url = f"http://127.0.0.1:{one.port}"
    try:
        for process in (one, other):
            process.extra = {"PUBLIC_URL": url}
            process.start()
        for process in (one, other):
            await asyncio.to_thread(process.wait_ready)
        async with (
            httpx2.AsyncClient(base_url=url, timeout=20) as first,
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{other.port}", timeout=20) as second,
        ):
            yield url, first, second
    finally:
        for process in (one, other):
            process.close()


async def allowed(settings, url, client_id, verifier):
    """A person signs in at the first process and allows it; returns the code."""
    email = f"{secrets.token_hex(4)}@example.test"
    await asyncio.to_thread(admin.create_user, settings, email)
    link = await asyncio.to_thread(admin.sign_in_link, settings.model_copy(update={"public_url": url}), email)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    asked = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": REDIRECT,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "resource": f"{url}/mcp",
    }
    browser = await asyncio.to_thread(Browser, url, email, link["signInLink"])
    answer = await asyncio.to_thread(browser.allow, f"/oauth/authorize?{urlencode(asked)}")
    return httpx2.URL(answer).params["code"]


def call(era, client, token):
    params = {"name": "get_user_info", "arguments": {}}
    return era.send(client, "tools/call", params, authorization=f"Bearer {token}")


@proves("OAUTH-ANYWHERE", "MCP-STATELESS")
async def test_authorize_on_one_take_the_token_on_the_other_call_either_and_revoke_for_both(settings, tmp_path):
    async with two(settings, tmp_path / "plans.toml") as (url, first, second):
        body = {"client_name": "Two", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}
        client_id = (await second.post("/oauth/register", json=body)).json()["client_id"]
        verifier = secrets.token_urlsafe(48)
        code = await allowed(settings, url, client_id, verifier)
        sent = {"client_id": client_id, "code": code, "redirect_uri": REDIRECT, "code_verifier": verifier}
        tokens = (await second.post("/oauth/token", data=sent | {"grant_type": "authorization_code"})).json()
        kept = {"client_id": client_id, "grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        fresh = (await first.post("/oauth/token", data=kept)).json()["access_token"]
        limit = asyncio.Semaphore(10)

        async def one_call(number):
            async with limit:
                client = (first, second)[number % 2]
                return await call(BOTH[number // 2 % 2], client, (tokens["access_token"], fresh)[number // 4 % 2])

        answers = await asyncio.gather(*(one_call(number) for number in range(CALLS)))
        good = [
            answer for answer in answers if answer.status_code == 200 and not answer.json()["result"].get("isError")
        ]
        assert len(good) == CALLS, next(answer.text for answer in answers if answer not in good)

        done = await first.post("/oauth/revoke", data={"client_id": client_id, "token": fresh})
        assert done.status_code == 200
        deadline = time.monotonic() + 5
        for client in (first, second):
            while (await call(BOTH[0], client, fresh)).status_code != 401:
                assert time.monotonic() < deadline, "a revoked token still works"
                await asyncio.sleep(0.1)
