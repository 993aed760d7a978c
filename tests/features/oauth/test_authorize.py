"""What the authorization endpoint refuses, and where it sends nobody."""

from __future__ import annotations

import pytest

from tests.contract.requirements import proves
from tests.features.oauth.conftest import browser_of
from tests.features.oauth.flow import ISSUER, LOOPBACK, Flow, answer_of, fields_of

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"

MUTANTS = [
    "https://client.example/callback/extra",
    "https://client.example/callback/",
    "https://client.example/callback?a=b",
    "https://client.example/callback?",
    "https://client.example/callback#fragment",
    "https://client.example/Callback",
    "https://CLIENT.example/callback",
    "https://client.example./callback",
    "https://client.example@evil.example/callback",
    "https://evil.example@client.example/callback",
    "https://client.example/a/../callback",
    "https://client.example/%2e%2e/callback",
    "https://client.example/%63allback",
    "https://client.example:8443/callback",
    "https://client.example:443/callback",
    "https://www.client.example/callback",
    "https://client.example.evil.example/callback",
    "http://client.example/callback",
    "https:/client.example/callback",
    "//client.example/callback",
    "/callback",
    "https://client.example\\@evil.example/callback",
    "https://client.example/call\tback",
    " https://client.example/callback",
    "javascript:alert(1)//https://client.example/callback",
]


@pytest.mark.parametrize("redirect", MUTANTS)
@proves("OAUTH-REDIRECT")
async def test_an_address_that_is_not_exactly_the_registered_one_is_refused_without_redirect(flow, redirect):
    page = await flow.open(redirect_uri=redirect)
    assert page.status_code == 400
    assert "location" not in page.headers


@pytest.mark.parametrize(
    "client_id", [None, "", "unknown", "dyn_unknown", "\x00", "ü", '"', "x" * 5000, "http://a.example/c"]
)
async def test_an_unknown_client_is_refused_without_redirect(flow, client_id):
    page = await flow.open(client_id=client_id)
    assert page.status_code == 400
    assert "location" not in page.headers


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
async def test_a_client_or_address_that_is_sent_twice_is_refused_without_redirect(flow, name):
    value = getattr(flow, name, flow.redirect)
    page = await flow.http.get(f"{flow.request()}&{name}={value}")
    assert page.status_code == 400


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ("http://127.0.0.1:6000/callback", True),
        ("http://127.0.0.1/callback", True),
        ("http://127.0.0.1:6000/other", False),
        ("http://localhost:5000/callback", False),
        ("http://127.0.0.2:5000/callback", False),
        ("https://127.0.0.1:5000/callback", False),
        ("http://127.0.0.1:5000/callback?x=y", False),
    ],
)
async def test_only_the_port_of_a_loopback_address_may_differ(person, given, allowed):
    flow = Flow(person.http, redirect=LOOPBACK)
    await flow.register()
    page = await flow.open(redirect_uri=given)
    assert (page.status_code == 200) is allowed
    assert page.status_code in (200, 400)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "ü"}, "invalid_request"),
        ({"scope": "documents.read admin"}, "invalid_scope"),
        ({"scope": ["documents.read", "prompts.read"]}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": f"{ISSUER}/nothing"}, "invalid_target"),
        ({"resource": [f"{ISSUER}/mcp", f"{ISSUER}/v1"]}, "invalid_target"),
        ({"resource": f"{ISSUER}/mcp#x"}, "invalid_target"),
        ({"prompt": "none login"}, "invalid_request"),
    ],
)
@proves("OAUTH-PKCE")
async def test_a_wrong_request_is_answered_at_the_clients_address(flow, changes, error):
    answer = answer_of(await flow.open(**changes))
    assert (answer["error"], answer["state"], answer["iss"]) == (error, flow.state, ISSUER)
    assert "code" not in answer


@pytest.mark.parametrize("state", ["plain", "a b&c=d", "ünïcode/+%20", '{"a": 1}', "x" * 2000])
async def test_the_state_comes_back_as_it_was(flow, state):
    assert (await flow.authorize(state=state))["state"] == state
    assert (await flow.authorize(state=state, decision="deny"))["state"] == state


async def test_without_a_state_none_comes_back(flow):
    assert "state" not in await flow.authorize(state=None)


async def test_a_denial_is_answered_with_the_issuer(flow):
    answer = await flow.authorize(decision="deny")
    assert (answer["error"], answer["state"], answer["iss"]) == ("access_denied", flow.state, ISSUER)


async def test_unknown_parameters_are_overlooked(flow):
    assert "code" in await flow.authorize(audience="x", nonce="y", display="page")


async def test_a_visitor_signs_in_first_and_comes_back(app, flow):
    async with browser_of(app) as stranger:
        answer = await stranger.get(flow.request())
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/sign-in?next=/oauth/authorize")
        bad = await stranger.get(flow.request(redirect_uri="https://evil.example/"))
        assert bad.status_code == 400
        silent = answer_of(await stranger.get(flow.request(prompt="none")))
        assert (silent["error"], silent["iss"]) == ("login_required", ISSUER)


async def test_the_form_cannot_be_sent_by_another_site_or_without_its_token(flow):
    page = await flow.open()
    fields = fields_of(page.text) | {"decision": "allow"}
    for headers, sent in (
        ({"sec-fetch-site": "cross-site"}, fields),
        ({"origin": "https://evil.example"}, fields),
        ({}, fields),
        ({"sec-fetch-site": "same-origin"}, fields | {"csrf": "0" * 64}),
        ({"sec-fetch-site": "same-origin"}, {k: v for k, v in fields.items() if k != "csrf"}),
    ):
        assert (await flow.http.post("/oauth/authorize", data=sent, headers=headers)).status_code == 403


async def test_a_form_that_was_tampered_with_is_judged_again(flow):
    page = await flow.open()
    query = flow.request(redirect_uri="https://evil.example/").partition("?")[2]
    answer = await flow.submit(page, query=query)
    assert (answer.status_code, "location" in answer.headers) == (400, False)


async def test_a_workspace_of_others_cannot_be_chosen(flow, people):
    other = await people.user()
    answer = answer_of(await flow.submit(await flow.open(), workspace=str(other.workspace_id)))
    assert answer["error"] == "invalid_request"
    assert "code" not in answer


async def test_a_person_can_take_permissions_out(flow, bearer):
    asked = {"scope": "documents.read documents.write"}
    answer = await flow.authorize(fields={"scope__documents.write": None}, **asked)
    tokens = (await flow.exchange(answer["code"])).json()
    assert tokens["scope"] == "documents.read"
    refused = await flow.submit(
        await flow.open(**asked), **{"scope__documents.write": None, "scope__documents.read": None}
    )
    assert refused.status_code == 400


async def test_hidden_characters_of_a_name_are_not_shown(person):
    flow = Flow(person.http)
    name = "Cl\u202eaude\u200b <script>alert(1)</script>"
    await flow.register(client_name=name)
    page = (await flow.open()).text
    assert "\u202e" not in page
    assert "\u200b" not in page
    assert "<script>alert" not in page
    assert "Claude &lt;script&gt;alert(1)&lt;/script&gt;" in page


async def test_the_page_warns_of_programs_on_the_same_machine(person, flow):
    local = Flow(person.http, redirect=LOOPBACK)
    await local.register()
    assert "Any program on it could pretend" in (await local.open()).text
    assert "Any program on it could pretend" not in (await flow.open()).text


async def test_consent_is_asked_once_for_a_client_and_again_for_more(flow):
    narrow = {"scope": "documents.read"}
    await flow.tokens(**narrow)
    again = await flow.open(**narrow)
    assert "code" in answer_of(again)
    assert "code" in answer_of(await flow.open(prompt="none", **narrow))
    assert (await flow.open(prompt="consent", **narrow)).status_code == 200
    assert (await flow.open(scope="documents.read documents.write")).status_code == 200
    assert (await flow.open(resource=f"{ISSUER}/v1", **narrow)).status_code == 200
    assert answer_of(await flow.open(prompt="none"))["error"] == "consent_required"


async def test_consent_to_one_registration_is_none_to_its_twin(flow, person):
    await flow.tokens()
    twin = Flow(person.http)
    await twin.register()
    assert (await twin.open()).status_code == 200
    assert answer_of(await twin.open(prompt="none"))["error"] == "consent_required"


async def test_consent_counts_for_the_place_that_was_shown_and_for_no_other_of_the_client(flow, person):
    shown, other = "https://shown.example/cb", "https://other.example/cb"
    await flow.register(redirect_uris=[shown, f"{shown}/more", other], grant_types=["authorization_code", DEVICE])
    flow.redirect = shown
    await flow.tokens()
    assert "code" in answer_of(await flow.open(redirect_uri=f"{shown}/more"))
    asked = await flow.open(redirect_uri=other)
    assert (asked.status_code, "other.example" in asked.text) == (200, True)
    assert answer_of(await flow.open(redirect_uri=other, prompt="none"))["error"] == "consent_required"
    codes = (await flow.http.post("/oauth/device_authorization", data={"client_id": flow.client_id})).json()
    page = await flow.http.get(f"/oauth/device?user_code={codes['user_code']}")
    assert "has access now" in (await flow.submit(page)).text
    assert (await flow.token(grant_type=DEVICE, device_code=codes["device_code"])).status_code == 200
    assert (await flow.open(redirect_uri=other)).status_code == 200  # a device's answer goes nowhere


async def test_a_client_on_the_same_machine_is_asked_about_each_time(person):
    local = Flow(person.http, redirect=LOOPBACK)
    await local.register()
    await local.tokens()
    assert (await local.open()).status_code == 200
    assert answer_of(await local.open(prompt="none"))["error"] == "consent_required"


@proves("OAUTH-PROMPT-LOGIN")
async def test_prompt_login_ends_the_browsers_session(flow, app, person):
    cookie = person.http.cookies["__Host-session"]
    assert (await person.http.get("/dashboard")).status_code == 200
    answer = await flow.open(prompt="login")
    async with browser_of(app, cookie) as again:  # whoever kept the cookie has nothing
        assert (await again.get("/dashboard")).headers["location"].startswith("/sign-in")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/sign-in?next=")
    assert "prompt" not in answer.headers["location"]
    assert "__Host-session=" in answer.headers["set-cookie"]


async def test_a_viewer_grants_only_what_a_viewer_may(people, signed_in):
    owner = await people.user()
    viewer = await signed_in(await people.member(owner.workspace_id, "viewer"))
    flow = Flow(viewer.http)
    await flow.register()
    answer = await flow.authorize(fields={"workspace": str(owner.workspace_id)})
    scope = (await flow.exchange(answer["code"])).json()["scope"]
    assert scope
    assert "write" not in scope
