"""The Python SDK's own client against the application, in both of its modes."""

from __future__ import annotations

import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

VERSIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@pytest.mark.parametrize("mode", VERSIONS)
@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
async def test_the_sdk_client_lists_calls_and_reads(alice, mode, path):
    transport = streamable_http_client(f"http://service.test{path}", http_client=alice.client)
    async with Client(transport, mode=mode) as client:
        assert client.protocol_version == VERSIONS[mode]
        assert client.server_info.name == "context-repo"
        assert "get_document" in [tool.name for tool in (await client.list_tools()).tools]
        made = await client.call_tool("create_document", {"title": "x", "content": "y"})
        document_id = made.structured_content["data"]["id"]
        read = await client.read_resource(f"contextrepo://documents/{document_id}")
        assert "y" in read.contents[0].text
        failed = await client.call_tool("get_document", {"documentId": "none"})
        assert (failed.is_error, failed.structured_content["error"]["reason"]) == (True, "NOT_FOUND")
        gone = await client.call_tool("delete_document", {"documentId": document_id})
        assert gone.structured_content == {"id": document_id, "deleted": True}
        assert (await client.list_prompts()).prompts == []


@pytest.mark.parametrize("mode", VERSIONS)
async def test_the_sdk_client_discovers_anonymously(http, mode):
    transport = streamable_http_client("http://service.test/mcp", http_client=http)
    async with Client(transport, mode=mode) as client:
        assert (await client.list_tools()).tools
        assert (await client.list_resources()).resources
