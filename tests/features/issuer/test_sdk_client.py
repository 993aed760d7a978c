"""A client of the official SDK, which knows nothing of us, signs in at the external issuer and calls."""

from __future__ import annotations

import httpx2
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from tests.contract.requirements import proves
from tests.support.asgi import Transport
from tests.support.sdk import Storage
from tests.support.service import BASE_URL


@proves("ISSUER-METADATA", "AUTH-MCP-FLOW")
async def test_the_python_sdk_signs_in_at_the_external_issuer(guest_app, issuer):
    answers, storage = [], Storage()

    async def redirect(authorize):
        assert authorize.startswith(f"{issuer.url}/authorize?")
        async with httpx2.AsyncClient() as browser:
            answers.append((await browser.get(authorize)).headers["location"])

    async def callback():
        found = httpx2.URL(answers.pop()).params
        return AuthorizationCodeResult(code=found["code"], state=found["state"], iss=found["iss"])

    provider = OAuthClientProvider(
        f"{BASE_URL}/mcp",
        OAuthClientMetadata(
            client_name="Python SDK",
            redirect_uris=["http://127.0.0.1:43210/callback"],
            token_endpoint_auth_method="none",
        ),
        storage,
        redirect,
        callback,
    )
    async with (
        httpx2.AsyncClient(auth=provider, mounts={BASE_URL: Transport(guest_app)}, timeout=30) as http,
        Client(streamable_http_client(f"{BASE_URL}/mcp", http_client=http)) as client,
    ):
        assert (await client.list_tools()).tools
        me = await client.call_tool("get_user_info", {})
        made = await client.call_tool("create_document", {"title": "By the issuer", "content": "Hello"})
    assert me.structured_content["data"]["authMethod"] == "oauth"
    assert not made.is_error
    assert storage.tokens.access_token.count(".") == 2
