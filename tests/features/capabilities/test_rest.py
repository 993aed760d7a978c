"""The description of the service over REST."""

from __future__ import annotations

from tests.contract.requirements import proves


@proves("CAP")
async def test_the_capabilities_are_those_that_the_resource_shows(alice, http):
    answer = await alice.client.get("/v1/mcp/capabilities")
    assert answer.status_code == 200
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "resources/read",
        "params": {"uri": "contextrepo://capabilities"},
    }
    shown = (await http.post("/mcp", json=message, headers={"accept": "application/json"})).json()
    assert shown["result"]["contents"][0]["text"] == answer.text


@proves("CAP")
async def test_the_capabilities_name_every_listed_tool(alice, http):
    described = (await alice.client.get("/v1/mcp/capabilities")).json()
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    listed = (await http.post("/mcp", json=message, headers={"accept": "application/json"})).json()
    assert [tool["name"] for tool in described["tools"]] == [tool["name"] for tool in listed["result"]["tools"]]
    assert (described["name"], described["authentication"]["header"]) == ("context-repo", "Authorization")


@proves("CAP")
async def test_the_capabilities_stand_beside_the_core_document(http):
    core, full = [(await http.get(path)).json()["paths"] for path in ("/openapi.json", "/openapi/full.json")]
    assert "/v1/mcp/capabilities" not in core
    assert "/v1/mcp/capabilities" in full


@proves("CAP")
async def test_the_capabilities_name_every_resource_and_how_often_one_may_call(alice, http):
    described = (await alice.client.get("/v1/mcp/capabilities")).json()
    me = (await alice.client.get("/v1/user/me")).json()["data"]

    async def listed(method, key):
        message = {"jsonrpc": "2.0", "id": 1, "method": method}
        answer = await http.post("/mcp", json=message, headers={"accept": "application/json"})
        return answer.json()["result"][key]

    shown = [(item["uri"], item["title"], item["mimeType"]) for item in await listed("resources/list", "resources")]
    assert [(item["uri"], item["title"], item["mimeType"]) for item in described["resources"]] == shown
    assert [item["uri"] for item in described["resources"] if not item["public"]] == ["contextrepo://user/profile"]
    templates = await listed("resources/templates/list", "resourceTemplates")
    assert sorted(described["resourceTemplates"]) == sorted(item["uriTemplate"] for item in templates)
    rates = described["limits"]["rates"][me["plan"]["name"]]
    assert {tool["rateFamily"] for tool in described["tools"]} <= rates.keys()
    answer = await alice.client.get("/v1/documents")
    assert rates["readonly"]["limit"] == int(answer.headers["x-ratelimit-limit"])
    assert rates["readonly"]["windowSeconds"] == 60
