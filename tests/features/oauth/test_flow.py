"""From registration to a call, and back."""

from __future__ import annotations

from tests.edge.mcp.wire import MODERN_ERA
from tests.features.oauth.flow import ISSUER, REDIRECT


async def test_a_client_gets_tokens_and_calls_with_them(flow, bearer, person):
    answer = await flow.authorize()
    assert answer == {"code": answer["code"], "state": flow.state, "iss": ISSUER}
    found = await flow.exchange(answer["code"])
    assert found.status_code == 200, found.text
    assert found.headers["cache-control"] == "no-store"
    tokens = found.json()
    assert tokens["token_type"] == "Bearer"
    assert tokens["expires_in"] == 3600
    assert set(tokens["scope"].split()) >= {"documents.read", "documents.write", "workspace.write"}
    client = bearer(tokens["access_token"])
    result = await MODERN_ERA.call(client, "get_user_info")
    me = result["structuredContent"]["data"]
    assert (me["id"], me["authMethod"]) == (str(person.id), "oauth")
    again = await flow.refresh(tokens["refresh_token"])
    assert again.status_code == 200
    assert again.json()["access_token"] != tokens["access_token"]
    assert (await MODERN_ERA.call(bearer(again.json()["access_token"]), "get_user_info"))["structuredContent"]


async def test_the_consent_page_names_everything(flow):
    page = await flow.open()
    assert page.status_code == 200, page.text
    for text in (
        "Test client",
        "registered dynamically",
        "client.example",
        f"{ISSUER}/mcp",
        "Read and search documents",
    ):
        assert text in page.text
    policy = page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self' https://client.example" in policy
    assert page.headers["referrer-policy"] == "no-referrer"
    assert REDIRECT.split("/")[2] in page.text
