"""What one program saves is there for another."""

from __future__ import annotations

import mcp_types as types
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.contract.requirements import proves


@proves("SEARCH-HANDOVER")
async def test_what_one_client_hands_over_another_finds(alice, index):
    """Two clients that know no more than the descriptions of the tools: one tells when to save, one where to look."""
    url = "http://service.test/mcp"
    writer = types.Implementation(name="editor-plugin", version="3.1")
    reader = types.Implementation(name="chat-app", version="12")
    async with Client(streamable_http_client(url, http_client=alice.client), client_info=writer) as client:
        saving = {tool.name: tool.description for tool in (await client.list_tools()).tools}["create_document"]
        assert all(word in saving for word in ("conversation", "decision", "handoff"))
        handoff = {
            "title": "Handoff: moving the invoices to the new ledger",
            "content": "Decided: balances are rounded per line. Open: the March import fails with E-1042.",
            "tags": ["handoff"],
        }
        made = await client.call_tool("create_document", handoff)
        assert not made.is_error
    await index.run(alice.workspace_id)
    transport = streamable_http_client(url, http_client=alice.client)
    async with Client(transport, client_info=reader, mode="legacy") as client:
        looking = {tool.name: tool.description for tool in (await client.list_tools()).tools}["find_items"]
        assert all(word in looking for word in ("decisions", "handoffs", "conversations"))
        found = await client.call_tool("find_items", {"query": "where did we stop with the ledger migration?"})
        (hit,) = found.structured_content["data"]["documents"]
        read = await client.call_tool("get_document", {"documentId": hit["documentId"]})
        assert "rounded per line" in read.content[0].text
        tagged = await client.call_tool("find_items", {"query": "E-1042", "tags": ["handoff"]})
        assert tagged.structured_content["data"]["documents"][0]["documentId"] == hit["documentId"]
