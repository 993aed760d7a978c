"""Other people's clients sign in: 401, consent, call, step-up, refresh, restart, call."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from tests.clients.browser import printed_url
from tests.support.sdk import Storage

pytestmark = pytest.mark.prove
CALLBACK = "http://127.0.0.1:43210/callback"
_KEEP_DOCUMENT = """
INSERT INTO oauth_clients (client_id, kind, metadata, expires_at)
VALUES ($1, 'document', $2::text::jsonb, now() + interval '1 day')
"""


@pytest.fixture
def document(product):
    """A client described by a document that the service has fetched before: the tests' web has no https."""
    client_id = f"https://app-{secrets.token_hex(4)}.example/client.json"
    metadata = {
        "client_name": "A described client",
        "redirect_uris": ["http://127.0.0.1/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
    }
    product.sql(_KEEP_DOCUMENT, client_id, json.dumps(metadata))
    return client_id


def python_provider(url, browser, storage, metadata_url=None):
    answers = []
    opened = []

    async def redirect(authorize):
        opened.append(authorize)
        without = ".write" if len(opened) == 1 else ""
        answers.append(await anyio.to_thread.run_sync(lambda: browser.allow(authorize, without=without)))

    async def callback():
        found = httpx2.URL(answers.pop()).params
        return AuthorizationCodeResult(code=found["code"], state=found["state"], iss=found["iss"])

    provider = OAuthClientProvider(
        url,
        OAuthClientMetadata(client_name="Python SDK", redirect_uris=[CALLBACK], token_endpoint_auth_method="none"),
        storage,
        redirect,
        callback,
        client_metadata_url=metadata_url,
    )
    return provider, opened


@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
@pytest.mark.parametrize("how", ["registered", "described"])
async def test_the_python_sdk_signs_in(product, browser, document, path, how):
    url, storage = product.url + path, Storage()
    metadata_url = document if how == "described" else None
    provider, opened = python_provider(url, browser, storage, metadata_url)

    async def call(name, arguments):
        async with (
            httpx2.AsyncClient(auth=provider, timeout=30) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await client.call_tool(name, arguments)

    me = await call("get_user_info", {})
    assert me.structured_content["data"]["authMethod"] == "oauth"
    assert "write" not in storage.tokens.scope
    made = await call("create_document", {"title": "By OAuth", "content": "Hello"})
    assert not made.is_error
    assert "documents.write" in storage.tokens.scope
    assert len(opened) == 2
    assert (storage.client.client_id == document) is (how == "described")
    before = storage.tokens
    await anyio.to_thread.run_sync(product.expire_access)
    await anyio.to_thread.run_sync(product.restart)
    provider.context.token_expiry_time = 1.0  # this SDK refreshes by its clock only, and not after a 401
    again = await call("get_user_info", {})
    assert again.structured_content["data"]["email"] == browser.email
    assert len(opened) == 2
    assert storage.tokens.refresh_token != before.refresh_token


def answers_of(process, browser, steps, *, narrow):
    """Answer a script's lines until it gives its result; `steps` are called when it pauses.

    Args:
        narrow: allow reading only at first, so that the client has to ask for more.
    """
    opened = 0
    for line in process.stdout:
        message = json.loads(line)
        if "authorize" in message:
            opened += 1
            reply = browser.allow(message["authorize"], without=".write" if narrow and opened == 1 else "")
        elif "paused" in message:
            steps()
            reply = ""
        else:
            return opened, message
        process.stdin.write(reply + "\n")
        process.stdin.flush()
    raise AssertionError(process.stderr.read())


@pytest.mark.parametrize(
    ("version", "path", "described"),
    [
        ("v2", "/mcp", False),
        ("v2", "/mcp", True),
        ("v2", "/grok-mcp", False),
        ("v1", "/mcp", False),
        ("v1", "/mcp", True),
    ],
)
def test_the_typescript_sdk_signs_in(product, browser, document, node, node_clients, version, path, described):
    script = node_clients / f"{secrets.token_hex(8)}.mjs"  # Node looks for packages beside the script
    shutil.copy(Path(__file__).with_name("oauth.mjs"), script)
    arguments = [node, str(script), version, product.url + path, *([document] if described else [])]
    process = subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )

    def steps():
        product.expire_access()
        product.restart()

    try:
        opened, seen = answers_of(process, browser, steps, narrow=version == "v2")
    finally:
        process.kill()
        process.wait()
        script.unlink()
    assert seen["me"]["structuredContent"]["data"]["email"] == browser.email
    assert not seen["made"].get("isError")
    assert seen["again"]["structuredContent"]["data"]["email"] == browser.email
    assert seen["refreshed"] is True
    assert "documents.write" in seen["scope"]
    # v1 answers a 403 with a refresh, which cannot widen anything: there a person has to allow all at once.
    assert opened == (2 if version == "v2" else 1)
    assert (seen["clientId"] == document) is described


def test_the_fastmcp_client_signs_in(product, browser, fastmcp):
    process = subprocess.Popen(
        [fastmcp, str(Path(__file__).with_name("fastmcp_client.py")), f"{product.url}/mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for line in process.stdout:
            seen = json.loads(line)
            if "authorize" in seen:
                location = browser.allow(seen["authorize"])
                browser.follow(location)
            elif "paused" in seen:
                product.expire_access()
                product.restart()
                process.stdin.write("\n")
                process.stdin.flush()
            else:
                break
        else:
            raise AssertionError(process.stderr.read())
    finally:
        process.kill()
        process.wait()
    assert seen["me"]["data"]["email"] == seen["again"]["data"]["email"] == browser.email
    assert seen["made"]["data"]["id"]
    assert seen["refreshed"] is True


def test_mcp_remote_signs_in(product, browser, node, node_clients, tmp_path):
    proxy = node_clients / "node_modules" / "mcp-remote" / "dist" / "proxy.js"
    errors = (tmp_path / "stderr").open("w+")
    process = subprocess.Popen(
        [node, str(proxy), f"{product.url}/grok-mcp", "43555", "--allow-http", "--transport", "http-only", "--debug"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        env=product.environment | {"MCP_REMOTE_CONFIG_DIR": str(tmp_path / "config"), "BROWSER": "/bin/true"},
    )

    def send(message):
        process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        process.stdin.flush()

    def heard():
        return json.loads(process.stdout.readline())

    try:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        send({"id": 1, "method": "initialize", "params": hello})
        browser.follow(browser.allow(printed_url(tmp_path / "stderr", f"{product.url}/oauth/authorize")))
        assert heard()["result"]["serverInfo"]["name"] == "context-repo"
        send({"method": "notifications/initialized"})
        send({"id": 2, "method": "tools/call", "params": {"name": "get_user_info", "arguments": {}}})
        assert heard()["result"]["structuredContent"]["data"]["email"] == browser.email
        product.expire_access()
        product.restart()
        send({"id": 3, "method": "tools/call", "params": {"name": "get_user_info", "arguments": {}}})
        assert heard()["result"]["structuredContent"]["data"]["email"] == browser.email
    finally:
        process.kill()
        process.wait()
        errors.close()


def test_the_authorization_server_conforms(product, browser, node, conformance_folder, tmp_path):
    suite = conformance_folder / "dist" / "index.js"
    log = tmp_path / "log"
    product.sql(
        "INSERT INTO oauth_clients (client_id, kind, metadata, expires_at) "
        "VALUES ('conformance', 'registered', $1::text::jsonb, now() + interval '1 day') ON CONFLICT DO NOTHING",
        json.dumps({"client_name": "Conformance", "redirect_uris": ["http://127.0.0.1:3111/callback", "http://localhost:3111/callback"],
                    "token_endpoint_auth_method": "none"}),
    )  # fmt: skip
    with log.open("w") as out:
        process = subprocess.Popen(
            [node, str(suite), "authorization", "--url", product.url, "--client-id", "conformance",
             "--resource", f"{product.url}/mcp", "-p", "3111"],
            stdout=out, stderr=subprocess.STDOUT, cwd=tmp_path, env=product.environment,
        )  # fmt: skip
        try:
            browser.follow(browser.allow(printed_url(log, f"{product.url}/oauth/authorize")))
            assert process.wait(60) == 0, log.read_text()
        finally:
            process.kill()
    assert "Failed: 0" in log.read_text() or "0 failed" in log.read_text(), log.read_text()
