"""The Inspector's command line, as it is shipped: lists, a call, a refused call, by key and by signing in."""

from __future__ import annotations

import json
import socket
import subprocess

import pytest

from tests.clients.browser import printed_url
from tests.contract.requirements import proves

pytestmark = pytest.mark.prove
ERAS = ["legacy", "modern"]


@pytest.fixture
def environment(product, tmp_path):
    """A home of the test's own, where it keeps what it got by signing in; it may open a browser without a terminal."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    return {
        "MCP_OAUTH_CALLBACK_URL": f"http://127.0.0.1:{port}/oauth/callback",
        "PATH": product.environment["PATH"],
        "HOME": str(tmp_path),
        "MCP_INSPECTOR_SECRET_STORE": "file",
        "MCP_AUTO_OPEN_ENABLED": "true",
    }


@pytest.fixture
def inspect(inspector, product, environment):
    """Run one method."""

    def run(path, method, *arguments, era="legacy", key=None):
        command = [*inspector, "--server-url", product.url + path, "--transport", "http", "--method", method]
        command += ["--protocol-era", era, "--format", "json", "--stored-auth-only", *arguments]
        if key:
            command += ["--header", f"Authorization: API-Key {key}"]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)

    return run


def result_of(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["result"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
@proves("MCP-INSPECTOR")
def test_by_api_key(up, inspect, path, era):
    def ask(*arguments):
        return inspect(path, *arguments, era=era, key=up.key)

    tools = {tool["name"]: tool for tool in result_of(ask("tools/list", "--strict"))["tools"]}
    assert "create_document" in tools
    arguments = json.dumps({"title": "By the Inspector", "content": "Hello"})
    made = result_of(ask("tools/call", "--tool-name", "create_document", "--tool-args-json", arguments))
    assert made["structuredContent"]["data"]["title"] == "By the Inspector"
    refused = ask("tools/call", "--tool-name", "get_document", "--tool-arg", "documentId=none")
    assert refused.returncode != 0
    assert "NOT_FOUND" in refused.stdout + refused.stderr
    resources = {resource["uri"] for resource in result_of(ask("resources/list"))["resources"]}
    assert "contextrepo://capabilities" in resources
    assert isinstance(result_of(ask("prompts/list"))["prompts"], list)


def test_without_a_credential_it_learns_where_to_sign_in(inspect):
    done = inspect("/grok-mcp", "tools/list")
    assert done.returncode != 0
    assert "auth_required" in done.stdout + done.stderr


@pytest.mark.parametrize("era", ERAS)
def test_by_signing_in(inspector, inspect, environment, product, browser, tmp_path, era):
    errors = tmp_path / "stderr"
    command = [*inspector, "--server-url", f"{product.url}/mcp", "--transport", "http", "--protocol-era", era]
    command += ["--format", "json", "--method", "tools/call", "--tool-name", "get_user_info"]
    with errors.open("w") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        )
        try:
            browser.follow(browser.allow(printed_url(errors, f"{product.url}/oauth/authorize")))
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 0, errors.read_text()
    me = json.loads(said)["result"]["structuredContent"]["data"]
    assert (me["email"], me["authMethod"]) == (browser.email, "oauth")
    for method, found in (("resources/list", "resources"), ("prompts/list", "prompts"), ("tools/list", "tools")):
        assert found in result_of(inspect("/mcp", method, era=era))
    product.expire_access()
    again = result_of(inspect("/mcp", "tools/call", "--tool-name", "get_user_info", era=era))
    assert again["structuredContent"]["data"]["email"] == browser.email
