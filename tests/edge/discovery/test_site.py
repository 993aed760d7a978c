"""What agents and crawlers find: each path in its form, all of them saying the same."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import urljoin, urlsplit

import jsonschema_rs
import protego
import pytest
import yaml
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

from app import features
from app.edge.discovery.pages import PAGES
from app.edge.discovery.site import PUBLISHED, SURFACES
from app.edge.mcp.surface import PUBLIC, every, narrow
from app.features.handbook.guides import GUIDES
from app.gate.policy import Plans
from tests.contract.requirements import proves
from tests.edge.discovery import forms
from tests.edge.mcp.wire import MODERN_ERA
from tests.support.faces import rest_faces
from tests.support.service import BASE_URL, client_of, serving
from tests.support.visitor import signed_in

SIGNAL = "ai-train=no, search=yes, ai-input=yes"
JSON, MARKDOWN, PLAIN = "application/json", "text/markdown; charset=utf-8", "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
OPENAPI = "application/vnd.oai.openapi+json;version=3.1"
PROFILE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'
WELL_KNOWN = "/.well-known"
RESOURCE = f"{WELL_KNOWN}/oauth-protected-resource"

TYPES = {
    "/AGENTS.md": MARKDOWN,
    "/llms.txt": PLAIN,
    "/llms-full.txt": PLAIN,
    "/docs/llms.txt": PLAIN,
    "/docs/llms-full.txt": PLAIN,
    "/agent": JSON,
    "/agent.json": JSON,
    "/openapi.json": OPENAPI,
    "/openapi/full.json": OPENAPI,
    "/api/openapi.yaml": "application/yaml",
    "/robots.txt": PLAIN,
    "/sitemap.xml": "application/xml",
    "/icon.svg": "image/svg+xml",
    f"{WELL_KNOWN}/agent.json": JSON,
    f"{WELL_KNOWN}/ai-plugin.json": JSON,
    f"{WELL_KNOWN}/agent-card.json": JSON,
    f"{WELL_KNOWN}/mcp.json": JSON,
    f"{WELL_KNOWN}/mcp/server-card.json": JSON,
    "/mcp/server-card": "application/mcp-server-card+json",
    f"{WELL_KNOWN}/mcp/server-card": "application/mcp-server-card+json",
    f"{WELL_KNOWN}/ai-catalog.json": JSON,
    f"{WELL_KNOWN}/api-catalog": PROFILE,
    f"{WELL_KNOWN}/oauth-authorization-server": JSON,
    RESOURCE: JSON,
    f"{RESOURCE}/v1": JSON,
    f"{RESOURCE}/mcp": JSON,
    f"{RESOURCE}/grok-mcp": JSON,
    f"{RESOURCE}/mcp/all": JSON,
    f"{WELL_KNOWN}/http-message-signatures-directory": "application/http-message-signatures-directory+json",
    **{page.twin: MARKDOWN for page in PAGES},
    **{page.path: HTML for page in PAGES},
}


@pytest.fixture
def tools():
    """Every tool of the inventory."""
    return list(features.collect("tools", "TOOLS"))


async def card(http, path):
    answer = await http.get(path)
    assert answer.status_code == 200
    return answer.json()


def check(schema, value):
    jsonschema_rs.validator_for({"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema).validate(value)


def test_the_table_names_every_path_that_is_published():
    listed = {item.path for item in (*PUBLISHED, *SURFACES)} | {page.path for page in PAGES} - {"/docs-mcp"}
    assert listed - {"/docs-mcp"} == TYPES.keys()


@proves("DISC-OPEN", "DISC-PAGES", "DISC-TWINS")
@pytest.mark.parametrize("path", TYPES)
async def test_every_path_is_public_of_its_type_cacheable_and_open_to_other_origins(http, path):
    answer = await http.get(path, headers={"origin": "https://elsewhere.test"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == TYPES[path]
    live = path in ("/status", "/status.md", "/")
    assert ("public" in answer.headers["cache-control"]) is not live
    assert answer.headers.get_list("access-control-allow-origin") == ["*"]
    if not live:
        tag = answer.headers["etag"]
        assert (await http.get(path, headers={"if-none-match": tag})).status_code == 304
        assert (await http.get(path, headers={"if-none-match": f'"x", W/{tag}'})).status_code == 304
    head = await http.head(path)
    assert (head.status_code, head.headers["content-type"]) == (200, TYPES[path])
    preflight = {"origin": "https://elsewhere.test", "access-control-request-method": "GET"}
    assert (await http.options(path, headers=preflight)).status_code == 204


@proves("DISC-OPEN")
async def test_what_is_ours_carries_the_content_signal(http):
    for item in PUBLISHED:
        assert (await http.get(item.path)).headers["content-signal"] == SIGNAL, item.path
    for path in ("/openapi.json", "/api/openapi.yaml", "/docs/llms.txt", "/docs/search.md"):
        assert (await http.get(path)).headers["content-signal"] == SIGNAL, path


@proves("DISC-AWP", "DISC-COUNTS")
async def test_the_agent_web_manifest(http, tools):
    found = await card(http, "/agent.json")
    check(forms.AGENT_WEB_PROTOCOL, found)
    assert [action["operation"] for action in found["actions"]] == [tool.name for tool in narrow(tools)]
    assert {action["via"] for action in found["actions"]} == {"mcp"}
    assert found["capabilities"]["batch_actions"] is True
    assert "POST /v1/documents:batch" in {face.label for face in rest_faces()}


@proves("DISC-AWP")
async def test_the_agent_web_manifest_tells_what_each_action_gives(http, alice, make):
    outputs = {action["id"]: action["outputs"] for action in (await card(http, "/agent.json"))["actions"]}
    document = await make.document(alice.client)
    calls = {
        "get_document": {"documentId": document["id"]},
        "list_documents": {},
        "search": {"query": "harbour"},
        "fetch": {"id": f"document_{document['id']}"},
        "delete_document": {"documentId": document["id"]},
    }
    types = {dict: "object", list: "array", str: "string", bool: "boolean"}
    for name, arguments in calls.items():
        given = (await MODERN_ERA.call(alice.client, name, arguments))["structuredContent"]
        assert "error" not in given, given
        found = {key: types[type(value)] for key, value in given.items()}
        assert {key: outputs[name][key]["type"] for key in found} == found
        assert outputs[name].keys() - found.keys() <= {"notice", "trust", "hiddenCharacters"}


@proves("DISC-PLUGIN")
async def test_the_plugin_manifest_by_both_names(http):
    found = await card(http, f"{WELL_KNOWN}/agent.json")
    check(forms.PLUGIN, found)
    assert found == await card(http, f"{WELL_KNOWN}/ai-plugin.json")


@proves("DISC-A2A", "DISC-COUNTS")
async def test_the_agent_card(http, tools):
    found = await card(http, f"{WELL_KNOWN}/agent-card.json")
    check(forms.AGENT_CARD, found)
    assert [skill["id"] for skill in found["skills"]] == [tool.name for tool in narrow(tools)]


@proves("DISC-MCP", "DISC-SERVER-CARD", "DISC-COUNTS")
async def test_the_server_cards_and_the_list_of_tools_agree(http):
    short, full = await card(http, f"{WELL_KNOWN}/mcp.json"), await card(http, f"{WELL_KNOWN}/mcp/server-card.json")
    check(forms.MCP_CARD, short)
    check(forms.MCP_CARD, full)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    listed = (await http.post("/mcp", json=message, headers={"accept": "application/json"})).json()["result"]["tools"]
    assert len(full["tools"]) == len(listed) == 29
    for shown, known in zip(full["tools"], listed, strict=True):
        check(forms.TOOL, shown)
        jsonschema_rs.meta.validate(shown["inputSchema"])
        assert shown == {name: known[name] for name in shown}


@proves("DISC-SEP2127")
async def test_the_registry_card_and_the_catalogue_of_cards(http):
    found = await card(http, "/mcp/server-card")
    check(forms.REGISTRY_CARD, found)
    assert found == await card(http, f"{WELL_KNOWN}/mcp/server-card")
    catalog = await card(http, f"{WELL_KNOWN}/ai-catalog.json")
    check(forms.AI_CATALOG, catalog)
    for entry in catalog["entries"]:
        assert (await http.get(entry["url"])).status_code == 200


@proves("DISC-CATALOG")
async def test_the_api_catalogue_and_its_link(http):
    found = await card(http, f"{WELL_KNOWN}/api-catalog")
    check(forms.LINKSET, found)
    head = await http.head(f"{WELL_KNOWN}/api-catalog")
    assert 'rel="api-catalog"' in head.headers["link"]
    for entry in found["linkset"]:
        for targets in (value for name, value in entry.items() if name != "anchor"):
            for target in targets:
                answer = await http.get(target["href"])
                assert answer.status_code == 200, target
                assert answer.headers["content-type"].startswith(target["type"]), target


@proves("DISC-AS", "DISC-PRM", "GROK-CARD")
async def test_the_authorization_metadata_by_the_models_of_the_sdk(http):
    server = OAuthMetadata.model_validate(await card(http, f"{WELL_KNOWN}/oauth-authorization-server"))
    assert str(server.issuer).rstrip("/") == BASE_URL
    assert server.code_challenge_methods_supported == ["S256"]
    for suffix, resource in {"": "/mcp", "/v1": "/v1", "/mcp": "/mcp", "/grok-mcp": "/grok-mcp"}.items():
        found = ProtectedResourceMetadata.model_validate(await card(http, f"{RESOURCE}{suffix}"))
        assert str(found.resource) == f"{BASE_URL}{resource}"
        assert found.bearer_methods_supported == ["header"]


@proves("DISC-SIGNATURES")
async def test_the_directory_of_keys_is_empty(http):
    check(forms.KEYS, await card(http, f"{WELL_KNOWN}/http-message-signatures-directory"))


@proves("DISC-OPENAPI", "DISC-COUNTS")
async def test_the_descriptions_of_the_api_hold_the_core(http):
    found = await card(http, "/openapi.json")
    assert found["openapi"].startswith("3.1")
    assert found == yaml.safe_load((await http.get("/api/openapi.yaml")).text)
    assert {"apiKey", "bearer"} <= found["components"]["securitySchemes"].keys()
    assert sum(len(item) for item in found["paths"].values()) == 35


@proves("DISC-ROBOTS")
async def test_the_rules_for_crawlers(http):
    text = (await http.get("/robots.txt")).text
    assert f"\nContent-Signal: {SIGNAL}\n" in text
    rules = protego.Protego.parse(text)
    for path, allowed in {
        "/": True,
        "/docs/search": True,
        "/s/x": True,
        "/dashboard": False,
        "/v1/documents": False,
    }.items():
        assert rules.can_fetch(f"{BASE_URL}{path}", "AnyBot") is allowed, path
    assert list(rules.sitemaps) == [f"{BASE_URL}/sitemap.xml"]
    listed = forms.sitemap((await http.get("/sitemap.xml")).content)
    assert len(listed) == len(PAGES) + 1 + len(GUIDES)
    for address in listed:
        assert (await http.get(address)).headers["content-type"] == HTML


@proves("DISC-LLMS")
async def test_the_texts_for_language_models(http):
    for path in ("/llms.txt", "/docs/llms.txt"):
        sections = forms.llms((await http.get(path)).text)
        for _, address in (link for links in sections.values() for link in links):
            assert (await http.get(address)).status_code == 200, address
    assert 60 <= len((await http.get("/llms.txt")).text.splitlines()) <= 100
    full = (await http.get("/llms-full.txt")).text
    assert full.startswith("# ")
    assert full.splitlines()[2].startswith("> ")


@proves("DISC-AGENT")
async def test_the_catalogue_of_capabilities_by_what_is_accepted(http):
    as_json = await http.get("/agent", headers={"accept": "application/json, text/markdown"})
    assert as_json.json() == (await http.get("/agent")).json()
    assert len(as_json.json()["tools"]) == 29
    as_text = await http.get("/agent", headers={"accept": "text/markdown"})
    assert as_text.headers["content-type"] == MARKDOWN
    assert as_text.headers["vary"] == "accept"
    assert as_text.text.count("\n- `") == 29


@proves("DISC-AGENTS", "DISC-COUNTS")
async def test_the_page_for_agents_says_what_is_so(http, tools):
    text = (await http.get("/AGENTS.md")).text
    wanted = [
        "What it is",
        "When to use it",
        "When not to use it",
        "Authentication",
        "Limits",
        "Revisions and coordination",
        "Tools",
        "Discovery",
        "Content signals",
        "Contact",
    ]
    assert [title for title in re.findall(r"^## (.+)$", text, re.MULTILINE) if title in wanted] == wanted
    assert f"{len(narrow(tools))} tools" in text
    assert f"{len(every(tools))} tools" in text
    faces = list(features.collect("rest", "ROUTES"))
    assert f"{sum(face.core for face in faces)} operations" in text
    assert f"{len(faces)} in `/openapi/full.json`" in text
    assert all(f"`{method}`" in text for method in PUBLIC)
    assert re.findall(r"^- `([a-z_]+)`: ", text, re.MULTILINE) == [tool.name for tool in narrow(tools)]
    for path in re.findall(r"^- `(/[^`]*)`: ", text, re.MULTILINE):
        answer = await http.get(path)
        assert answer.status_code == (405 if path == "/docs-mcp" else 200), path


@proves("DISC-COUNTS")
async def test_plans_on_the_page_are_those_of_the_gate(http, settings):
    text = (await http.get("/pricing.md")).text
    assert "12000 `readonly` calls" in text
    async with serving(settings.model_copy(update={"default_plan": "trial"})) as hosted, client_of(hosted) as client:
        sold = (await client.get("/pricing.md")).text
        plans = Plans.load().plans
        assert re.findall(r"^## (.+)$", sold, re.MULTILINE)[:-1] == [name for name in plans if name != "self-hosted"]
        for name in ("trial", "Pro", "Pro Max"):
            part = sold.split(f"## {name}\n")[1].split("\n## ")[0]
            assert f"{plans[name].limits['documents']:,} documents" in part
        assert "plans Pro Max, Ultimate" in (await client.get("/AGENTS.md")).text


@proves("DISC-OPERATOR")
async def test_who_runs_it_stands_where_the_operator_said_so(http, settings):
    named = {
        "operator": "Lamp <b>Ltd</b>",
        "support_email": "help@lamp.test",
        "issues_url": "https://lamp.test/issues",
        "legal_url": "https://lamp.test/privacy",
    }
    for path in ("/AGENTS.md", "/about.md", "/about"):
        text = (await http.get(path)).text
        assert "Support:" not in text
        assert "Operator:" not in text
    async with serving(settings.model_copy(update=named)) as app, client_of(app) as client:
        for path in ("/AGENTS.md", "/about.md"):
            text = (await client.get(path)).text
            assert all(value in text for value in list(named.values())[:3]), path
        assert "<b>Ltd" not in (await client.get("/about")).text
        assert (await client.get(f"{WELL_KNOWN}/ai-plugin.json")).json()["contact_email"] == "help@lamp.test"
        assert (await client.get(f"{WELL_KNOWN}/agent-card.json")).json()["provider"]["organization"] == named[
            "operator"
        ]


@proves("CHATGPT-APP")
async def test_search_and_fetch_only_read_and_lead_to_pages(alice, make, http):
    made = await make.document(alice.client, title="Cited", content="a lighthouse keeper's rule")
    await make.indexed(alice)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    accept = {"accept": "application/json"}
    asked = message | {"params": {"name": "search", "arguments": {"query": "lighthouse"}}}
    results = (await alice.client.post("/mcp", json=asked, headers=accept)).json()["result"]
    (found,) = [item for item in results["structuredContent"]["results"] if item["title"] == "Cited"]
    assert json.loads(results["content"][0]["text"]) == results["structuredContent"]
    assert urlsplit(found["url"]).path == f"/dashboard/documents/{made['id']}"
    page = await (await make.browser(alice)).get(found["url"])
    assert page.status_code == 200
    full = await card(http, f"{WELL_KNOWN}/mcp/server-card.json")
    assert {tool["annotations"]["readOnlyHint"] for tool in full["tools"] if tool["name"] in ("search", "fetch")} == {
        True
    }


@proves("DISC-PAGES")
async def test_whoever_is_signed_in_is_led_to_the_dashboard_and_no_cache_mixes_the_two(alice, make, http):
    page = await http.get("/")
    assert page.headers["cache-control"] == "private, no-cache"
    assert page.headers["vary"] == "cookie"
    assert "/sign-in" in page.text
    assert (await (await make.browser(alice)).get("/")).headers["location"] == "/dashboard"


@proves("DISC-PAGES")
@pytest.mark.parametrize("path", ["/about", "/pricing", "/docs", "/docs/dashboard"])
async def test_whoever_is_signed_in_reads_below_the_head_of_the_dashboard_and_no_cache_keeps_that(
    path, service, alice, make, http
):
    page = await http.get(path)
    assert (page.headers["cache-control"], page.headers["vary"]) == ("public, max-age=300", "cookie")
    assert ("/sign-in" in page.text, '<nav aria-label="Main">' in page.text) == (True, False)
    browser = await signed_in(service, make, alice)
    own = await browser.get(path, headers={"if-none-match": page.headers["etag"]})
    assert (own.status_code, own.headers["cache-control"], own.headers["vary"]) == (200, "private, no-cache", "cookie")
    assert '<nav aria-label="Main">' in own.text
    assert "access-control-allow-origin" not in own.headers
    again = await browser.get(path, headers={"if-none-match": own.headers["etag"]})
    assert (again.status_code, again.headers["cache-control"]) == (304, "private, no-cache")


def links_of(text, media_type):
    if "html" in media_type:
        return [html.unescape(found) for found in re.findall(r'(?:href|src)="([^"]+)"', text)]
    if "markdown" in media_type or "text/plain" in media_type:
        bare = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        return re.findall(r"\]\(([^)\s]+)\)", bare)
    return re.findall(rf'"({re.escape(BASE_URL)}[^"\s]*)"', text)


NO_PAGES = {
    f"{BASE_URL}/v1": "names the API as a whole",
    f"{BASE_URL}/oauth/authorize": "wants the request of a client",
}
"""Addresses that metadata name and that are no links, each with its reason."""


@proves("DISC-LINKS")
async def test_no_link_of_any_generated_page_is_dead(http):
    waiting, seen, dead = [f"{BASE_URL}{path}" for path in TYPES], {}, []
    while waiting:
        address, _, anchor = waiting.pop().partition("#")
        if address in NO_PAGES:
            continue
        if address not in seen:
            answer = await http.get(address, headers={"x-forwarded-for": f"10.77.0.{len(seen) % 250}"})
            ok = answer.status_code in (200, 303, 401, 405)  # a person signs in there, a program sends POST
            if not ok:
                dead.append((answer.status_code, address))
            seen[address] = answer.text if ok else ""
            crawled = ok and not urlsplit(address).path.startswith(("/openapi", "/api/", "/static/"))
            for link in links_of(answer.text, answer.headers.get("content-type", "")) if crawled else ():
                found = urljoin(address, link)
                if found.startswith(BASE_URL) and "{" not in found:
                    waiting.append(found)
        if anchor and "<html" in seen[address] and f'id="{anchor}"' not in seen[address]:
            dead.append(("anchor", f"{address}#{anchor}"))
    assert dead == []
    assert len(seen) > 80


@proves("EXT-CORS")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/user/me"),
        ("GET", "/v1/collections"),
        ("POST", "/v1/documents"),
        ("POST", "/v1/documents/scrape"),
        ("POST", f"/v1/documents/{'0' * 8}/refresh"),
    ],
)
async def test_a_browser_extension_may_call_with_a_key(alice, http, method, path):
    origin = {"origin": "chrome-extension://abcdefghijklmnop"}
    asked = {"access-control-request-method": method, "access-control-request-headers": "authorization, content-type"}
    preflight = await http.options(path, headers=origin | asked)
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (204, "*")
    allowed = preflight.headers["access-control-allow-headers"].lower()
    assert all(name in allowed for name in ("authorization", "content-type", "idempotency-key", "if-match"))
    answer = await alice.client.request(method, path, headers=origin, json={} if method == "POST" else None)
    assert answer.status_code in (200, 400, 404)
    assert answer.headers["access-control-allow-origin"] == "*"


@proves("DISC-PAGES")
async def test_a_page_is_light_and_asks_nobody_else(http):
    for page in PAGES:
        text = (await http.get(page.path)).text
        sizes = [len(text)]
        for address in re.findall(r'<(?:link|script)[^>]+(?:href|src)="([^"]+)"', text):
            assert address.startswith("/"), address
            sizes.append(len((await http.get(address)).content))
        assert sum(sizes) <= 150_000, page.path
