"""Resources."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.contract.requirements import proves

PUBLIC = ["contextrepo://capabilities", "contextrepo://openapi"]
PROFILE = "contextrepo://user/profile"


async def test_the_list_is_short_and_public(http, era):
    resources = (await era.send(http, "resources/list")).json()["result"]["resources"]
    assert [resource["uri"] for resource in resources] == [*PUBLIC, PROFILE]
    templates = (await era.send(http, "resources/templates/list")).json()["result"]["resourceTemplates"]
    assert [template["uriTemplate"] for template in templates] == [
        "contextrepo://collections/{id}",
        "contextrepo://documents/{id}",
        "contextrepo://prompts/{id}",
    ]


@proves("RES-PUBLIC")
async def test_public_resources_are_readable_by_everybody(http, era):
    for uri in PUBLIC:
        contents = (await era.send(http, "resources/read", {"uri": uri})).json()["result"]["contents"]
        assert [(part["uri"], part["mimeType"]) for part in contents] == [(uri, "application/json")]


async def test_the_openapi_resource_is_the_served_document(http, era):
    contents = (await era.send(http, "resources/read", {"uri": PUBLIC[1]})).json()["result"]["contents"]
    assert contents[0]["text"] == (await http.get("/openapi.json")).text


async def test_a_document_reads_like_its_tool(alice, make, era):
    document = await make.document(alice.client, content="The text.")
    answer = await era.send(alice.client, "resources/read", {"uri": f"contextrepo://documents/{document['id']}"})
    contents = answer.json()["result"]["contents"]
    assert (contents[0]["mimeType"], "The text." in contents[0]["text"]) == ("text/markdown", True)


@proves("RES-TEMPLATES")
async def test_prompts_collections_and_the_profile_read_like_their_tools(alice, bob, make, era):
    prompt = await make.prompt(alice.client, content="Greet ${who}.")
    document = await make.document(alice.client, title="A member")
    collection = await make.collection(alice.client, name="Greetings", items=[document["id"]])
    for uri, parts in {
        f"contextrepo://prompts/{prompt['id']}": ["Greet ${who}.", prompt["id"]],
        f"contextrepo://collections/{collection['id']}": ["Greetings", "A member"],
        PROFILE: [alice.email, str(alice.id)],
    }.items():
        (contents,) = (await era.send(alice.client, "resources/read", {"uri": uri})).json()["result"]["contents"]
        assert (contents["uri"], contents["mimeType"]) == (uri, "text/markdown")
        assert all(part in contents["text"] for part in parts)
        foreign = (await era.send(bob.client, "resources/read", {"uri": uri})).json()
        assert alice.email not in str(foreign)
        assert uri == PROFILE or foreign["error"]["data"]["reason"] == "NOT_FOUND"


async def test_the_profile_is_for_who_is_signed_in(http, alice, make, era):
    assert (await era.send(http, "resources/read", {"uri": PROFILE})).status_code == 401
    assert "error" in (await era.send(alice.client, "resources/read", {"uri": f"{PROFILE}/x"})).json()
    for scope in ("documents.read", "prompts.read"):
        client = make.client(await make.key(alice, scopes=(scope,)))
        assert "result" in (await era.send(client, "resources/read", {"uri": PROFILE})).json()


@pytest.mark.parametrize("uri", ["contextrepo://nothing", "contextrepo://documents/", "foo://bar", "x"])
async def test_an_unknown_resource_is_named(alice, era, uri):
    error = (await era.send(alice.client, "resources/read", {"uri": uri})).json()["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": uri})


async def test_an_absent_document_carries_the_rest_error(alice, bob, make, era):
    foreign = (await make.document(bob.client))["id"]
    for document_id in (str(uuid4()), "no-id", foreign):
        uri = f"contextrepo://documents/{document_id}"
        error = (await era.send(alice.client, "resources/read", {"uri": uri})).json()["error"]
        assert (error["code"], error["data"]["reason"], error["data"]["uri"]) == (-32602, "NOT_FOUND", uri)


async def test_anonymous_readers_are_challenged_only_for_our_schemes(http, era):
    assert (await era.send(http, "resources/read", {"uri": "contextrepo://documents/1"})).status_code == 401
    assert (await era.send(http, "resources/read", {"uri": "foo://bar"})).json()["error"]["code"] == -32602


async def test_a_read_needs_the_scope(alice, make, era):
    client = make.client(await make.key(alice, scopes=("prompts.read",)))
    error = (await era.send(client, "resources/read", {"uri": "contextrepo://documents/1"})).json()["error"]
    assert (error["code"], error["data"]["reason"]) == (-32001, "INSUFFICIENT_SCOPE")
