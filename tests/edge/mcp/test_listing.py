"""`tools/list`: the same bytes for everybody, small, and what the SDK would send."""

from __future__ import annotations

import json
import re

import bpe_openai
import jsonschema
import pytest

from tests.edge.mcp.wire import HANDSHAKE, MODERN, MODERN_ERA, Era

MAX_TOKENS_EACH = 440  # schemas and hints included; the largest describes edits of parts of a text
MAX_TOKENS_ALL = 6_000
ALL_TOOLS = 29
VERSIONS = [None, *HANDSHAKE, MODERN]


async def tools_of(client):
    return (await MODERN_ERA.send(client, "tools/list")).json()["result"]["tools"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_ready_list_is_what_the_sdk_serialises(http, version):
    era = Era(version)
    ready = await era.send(http, "tools/list", message_id=0)
    # An own key in `_meta` is unusual, so this one goes through the SDK.
    asked = await era.send(http, "tools/list", {"_meta": {"example.test/unusual": 1}}, message_id=0)
    assert ready.content == asked.content


async def test_an_unusual_list_request_is_judged_by_the_sdk(http, era):
    answer = await era.send(http, "tools/list", {"cursor": "x"})
    assert answer.json()["error"]["code"] == -32602


@pytest.mark.parametrize("message_id", [0, -1, 10**30, "a", 'ü\u2028"\\', ""])
async def test_the_id_comes_back_as_it_was(http, era, message_id):
    assert (await era.send(http, "tools/list", message_id=message_id)).json()["id"] == message_id


async def test_the_list_is_the_same_for_everybody_and_in_order(http, alice, era):
    first = await era.send(http, "tools/list")
    assert first.content == (await era.send(alice.client, "tools/list")).content
    names = [tool["name"] for tool in first.json()["result"]["tools"]]
    documents = [
        "list_documents",
        "get_document",
        "create_document",
        "update_document",
        "delete_document",
        "get_document_versions",
        "restore_document_version",
    ]
    assert names[0] == "get_user_info"
    assert [name for name in names if name in documents] == documents


async def test_every_tool_says_what_a_client_must_know(http):
    for tool in await tools_of(http):
        assert tool["title"]
        assert tool["description"]
        hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert tool["annotations"].keys() == hints
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["outputSchema"] == {"type": "object", "properties": {"data": {}, "error": {"type": "object"}}}
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        assert "ifMatch" not in tool["inputSchema"]["properties"]


async def test_tools_that_change_anything_say_that_the_user_must_want_it(http):
    silent = [
        tool["name"]
        for tool in await tools_of(http)
        if not tool["annotations"]["readOnlyHint"] and not re.search(r"\buser('s| wants)", tool["description"])
    ]
    assert silent == []


async def test_the_list_is_public_and_may_be_kept(http):
    result = (await MODERN_ERA.send(http, "tools/list")).json()["result"]
    assert (result["cacheScope"], result["ttlMs"]) == ("public", 300_000)


async def test_the_list_costs_few_tokens(http):
    encoding = bpe_openai.get_encoding("o200k_base")
    costs = {
        tool["name"]: len(encoding.encode(json.dumps(tool, separators=(",", ":")))) for tool in await tools_of(http)
    }
    print(sum(costs.values()), costs)
    assert sum(costs.values()) / len(costs) <= MAX_TOKENS_ALL / ALL_TOOLS
    assert max(costs.values()) <= MAX_TOKENS_EACH
