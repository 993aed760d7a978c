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
