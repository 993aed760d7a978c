"""The protocol's own prompts: `prompts/list` and `prompts/get`."""

from __future__ import annotations

from uuid import uuid4

import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from app.store.postgres import Database
from tests.contract.requirements import proves
from tests.edge.mcp.wire import BOTH, MODERN_ERA

each_era = pytest.mark.parametrize("era", BOTH, ids=lambda era: era.version)
each_path = pytest.mark.parametrize("path", ["/mcp", "/grok-mcp"])
EXACT = 'Hi ${who}!\r\n{"a": {{x}}, "b": ${y}} ${who} $${who} ${who } \u202e\u200b\x1b[31m\t${n}'


async def listed(era, client, **params):
    return (await era.send(client, "prompts/list", params or None)).json()["result"]


async def got(era, client, prompt, arguments=None, **headers):
    params = {"name": prompt["id"]} | ({"arguments": arguments} if arguments is not None else {})
    return (await era.send(client, "prompts/get", params, **headers)).json()


def only_text(answer):
    (message,) = answer["result"]["messages"]
    assert (message["role"], message["content"]["type"]) == ("user", "text")
    return message["content"]["text"]


@each_era
@each_path
@proves("PRM-NATIVE-LIST")
async def test_a_listed_prompt_is_named_by_its_id_with_its_variables_as_arguments(alice, make, era, path):
    variables = [{"name": "who", "description": "Whom"}, {"name": "n", "type": "number"}]
    made = await make.prompt(alice.client, title="Gr\u202eeet\nnow", content="${who} ${n}", variables=variables)
    plain = await make.prompt(alice.client, title="Plain", content="text", description="")
    archived = await make.prompt(alice.client, title="Gone")
    await alice.client.patch(f"/v1/prompts/{archived['id']}", json={"isArchived": True})
    answer = await era.send(alice.client, "prompts/list", path=path)
    result = answer.json()["result"]
    assert "nextCursor" not in result
    assert [prompt["name"] for prompt in result["prompts"]] == [plain["id"], made["id"]]
    assert result["prompts"][1] == {
        "name": made["id"],
        "title": "Greet now",
        "description": "Greet now - What it is for.",
        "arguments": [
            {"name": "who", "description": "Whom", "required": False},
            {"name": "n", "description": "(JSON: number)", "required": False},
        ],
    }
    assert (result["prompts"][0]["description"], result["prompts"][0]["arguments"]) == ("Plain", [])


@each_era
@proves("PRM-NATIVE-LIST")
async def test_a_hundred_and_one_prompts_come_as_a_hundred_and_one_more(alice, make, era):
    made = {(await make.prompt(alice.client))["id"] for _ in range(101)}
    first = await listed(era, alice.client)
    last = await listed(era, alice.client, cursor=first["nextCursor"])
    assert (len(first["prompts"]), len(last["prompts"]), "nextCursor" in last) == (100, 1, False)
    assert {prompt["name"] for prompt in first["prompts"] + last["prompts"]} == made


@each_era
@proves("PRM-NATIVE-GET")
async def test_the_stored_text_comes_byte_for_byte(alice, make, era):
    made = await make.prompt(alice.client, title="Greet", content=EXACT, variables=[{"name": "who"}, {"name": "n"}])
    for arguments in (None, {}, {"other": "x", "y": "x"}):
        answer = await got(era, alice.client, made, arguments)
        assert (answer["result"]["description"], only_text(answer)) == ("Greet", EXACT)


@each_era
@proves("PRM-NATIVE-GET")
async def test_only_declared_variables_that_have_a_value_are_replaced(alice, make, era):
    made = await make.prompt(alice.client, content=EXACT, variables=[{"name": "who"}, {"name": "n"}])
    answer = await got(era, alice.client, made, {"who": "${n} \\1 {{x}}", "y": "no"})
    assert only_text(answer) == EXACT.replace("${who}", "${n} \\1 {{x}}")


@each_era
@proves("PRM-VARS")
async def test_a_value_of_another_type_is_refused_and_named(alice, make, era):
    made = await make.prompt(alice.client, content="${n}", variables=[{"name": "n", "type": "integer"}])
    assert only_text(await got(era, alice.client, made, {"n": "7"})) == "7"
    error = (await got(era, alice.client, made, {"n": "seven"}))["error"]
    assert (error["code"], error["data"]["reason"]) == (-32602, "INVALID_REQUEST")
    assert error["data"]["details"][0]["field"] == "n"


@each_era
async def test_absent_foreign_and_deleted_prompts_are_not_found(alice, bob, make, era):
    foreign, gone = await make.prompt(bob.client), await make.prompt(alice.client)
    await alice.client.delete(f"/v1/prompts/{gone['id']}")
    for name in (foreign["id"], gone["id"], str(uuid4()), "no-id", ""):
        error = (await got(era, alice.client, {"id": name}))["error"]
        assert (error["code"], error["data"]["reason"]) == (-32602, "NOT_FOUND")
        assert "not found" in error["message"]
    assert (await listed(era, alice.client))["prompts"] == []


@each_era
async def test_a_cursor_that_is_not_ours_is_refused(alice, era):
    error = (await era.send(alice.client, "prompts/list", {"cursor": "x"})).json()["error"]
    assert (error["code"], error["data"]["reason"]) == (-32602, "INVALID_REQUEST")


@each_era
async def test_the_scope_the_plan_and_the_rate_hold_here_too(alice, make, strict, era):
    made = await make.prompt(alice.client)
    narrow = make.client(await make.key(alice, scopes=("documents.write",)))
    limited = strict.client(alice.key)
    await listed(era, limited)
    for client, reason in ((narrow, "INSUFFICIENT_SCOPE"), (limited, "RATE_LIMITED")):
        for method, params in (("prompts/list", {}), ("prompts/get", {"name": made["id"]})):
            answer = await era.send(client, method, params)
            assert (answer.json()["error"]["code"], answer.json()["error"]["data"]["reason"]) == (-32001, reason)
            assert ("retry-after" in answer.headers) is (reason == "RATE_LIMITED")
    await make.plan(alice, None)
    unpaid = make.client(await make.key(alice))
    assert (await era.send(unpaid, "prompts/list")).json()["error"]["data"]["reason"] == "PLAN_REQUIRED"


@each_era
@pytest.mark.parametrize(("method", "params"), [("prompts/list", {}), ("prompts/get", {"name": "1"})])
@proves("ERR-500")
async def test_a_fault_of_ours_does_not_show_its_cause(alice, era, monkeypatch, method, params):
    def broken(*_):
        raise RuntimeError("a secret")

    monkeypatch.setattr(Database, "snapshot", broken)
    answer = await era.send(alice.client, method, params)
    assert (answer.json()["error"]["code"], answer.json()["error"]["data"]["reason"]) == (-32603, "INTERNAL")
    assert "secret" not in answer.text


async def test_a_list_of_somebodys_prompts_may_not_be_shared(alice):
    result = await listed(MODERN_ERA, alice.client)
    assert (result["cacheScope"], result["ttlMs"]) == ("private", 0)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@proves("PRM-NATIVE-GET")
async def test_the_sdk_client_lists_and_fills_prompts(alice, make, mode):
    made = await make.prompt(alice.client, content=EXACT)
    transport = streamable_http_client("http://service.test/mcp", http_client=alice.client)
    async with Client(transport, mode=mode) as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.name == made["id"]
        result = await client.get_prompt(prompt.name, {"who": "Ada"})
        assert result.messages[0].content.text == EXACT.replace("${who}", "Ada")
