"""`subscriptions/listen`, by the SDK's own client and by hand: acknowledged empty, then over."""

from __future__ import annotations

import pydantic_core
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA, MODERN_ERA

METHOD = "subscriptions/listen"
WANTED = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["contextrepo://documents/1"]}}
STREAM = "application/json, text/event-stream"


def frames(text):
    """The messages of an event stream."""
    lines = text.splitlines()
    return [pydantic_core.from_json(line.removeprefix("data:")) for line in lines if line.startswith("data:")]


@proves("MCP-LISTEN")
@pytest.mark.parametrize("path", ["/mcp", "/docs-mcp"])
async def test_the_sdk_client_listens_anonymously_and_learns_that_nothing_will_come(http, path):
    transport = streamable_http_client(f"http://service.test{path}", http_client=http)
    async with Client(transport) as client:
        async with client.listen(tools_list_changed=True, resource_subscriptions=["x://y"]) as subscription:
            assert subscription.honored.model_dump(exclude_none=True) == {}
            assert [event async for event in subscription] == []
        assert (await client.list_tools()).tools


@proves("MCP-LISTEN")
@pytest.mark.parametrize("path", ["/mcp", "/grok-mcp", "/mcp/all"])
async def test_the_sdk_client_listens_with_a_credential(alice, path):
    transport = streamable_http_client(f"http://service.test{path}", http_client=alice.client)
    async with Client(transport) as client, client.listen(prompts_list_changed=True) as subscription:
        assert subscription.honored.model_dump(exclude_none=True) == {}
        assert [event async for event in subscription] == []


@proves("MCP-LISTEN")
async def test_the_acknowledgement_is_the_first_frame_and_the_result_the_last(http):
    answer = await MODERN_ERA.send(http, METHOD, WANTED, message_id="mine")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
    acknowledged, result = frames(answer.text)
    named = {"io.modelcontextprotocol/subscriptionId": "mine"}
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"] == {"notifications": {}, "_meta": named}
    assert result["id"] == "mine"
    assert named.items() <= result["result"]["_meta"].items()


@proves("MCP-LISTEN")
async def test_a_surface_that_is_for_nobody_unknown_acknowledges_nobody_unknown(http):
    assert (await MODERN_ERA.send(http, METHOD, WANTED, path="/grok-mcp")).status_code == 401


async def test_a_listener_that_takes_json_alone_is_told_what_to_accept(http):
    answer = await MODERN_ERA.send(http, METHOD, WANTED, accept="application/json", message_id=4)
    assert (answer.status_code, answer.json()["id"]) == (406, 4)
    assert "text/event-stream" in answer.json()["error"]["message"]


async def test_a_filter_is_needed(http):
    answer = await MODERN_ERA.send(http, METHOD)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


async def test_handshake_revisions_do_not_know_the_method(http):
    assert (await LEGACY_ERA.send(http, METHOD, WANTED)).json()["error"]["code"] == -32601
