"""The handbook: pages for people, Markdown for programs, and an endpoint of MCP that needs no sign-in."""

from __future__ import annotations

import html
import re

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from app import features
from app.edge.mcp.surface import every, narrow
from app.features.handbook.guides import GUIDES
from app.gate.policy import Feature, Meter, Rate
from app.kit.errors import FeatureNotInPlan, PlanRequired, QuotaExceeded
from tests.contract.requirements import proves
from tests.support.asgi import Transport
from tests.support.service import BASE_URL

ENDPOINT = "/docs-mcp"


async def call(http, method, **params):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = await http.post(ENDPOINT, json=message, headers={"accept": "application/json"})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def tool(http, name, **arguments):
    return (await call(http, "tools/call", name=name, arguments=arguments))["result"]


@proves("DISC-DOCS")
@pytest.mark.parametrize("path", ["/docs", *(guide.path for guide in GUIDES)])
async def test_every_page_is_html_and_markdown(http, path):
    page, twin = await http.get(path), await http.get(f"{path}.md")
    assert page.status_code == twin.status_code == 200
    assert page.headers["access-control-allow-origin"] == twin.headers["access-control-allow-origin"] == "*"
    assert twin.headers["content-type"] == "text/markdown; charset=utf-8"
    assert twin.text.startswith("# ")
    assert f'<link rel="alternate" type="text/markdown" href="{path}.md">' in page.text
    titles = re.findall(
        r"^## (.+)$", re.sub(r"^```.*?^```", "", twin.text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    shown = html.unescape(re.sub(r"<[^>]+>", "", page.text))
    assert all(re.sub(r"\[([^\]]+)\]\([^)]+\)|`", r"\1", title) in shown for title in titles)
    for answer in (page, twin):
        again = await http.get(str(answer.url), headers={"if-none-match": answer.headers["etag"]})
        assert again.status_code == 304


@proves("DISC-DOCS")
async def test_the_index_and_the_whole_text_hold_every_page(http):
    index, whole = (await http.get("/docs/llms.txt")).text, (await http.get("/docs/llms-full.txt")).text
    assert index.count("](") == len(GUIDES)
    for guide in GUIDES:
        assert f"]({BASE_URL}{guide.path}.md): {guide.description}" in index
        assert (await http.get(f"{guide.path}.md")).text.strip() in whole


async def test_the_references_name_every_operation_and_every_tool(http):
    api, tools = (await http.get("/docs/api.md")).text, (await http.get("/docs/tools.md")).text
    faces = list(features.collect("rest", "ROUTES"))
    assert re.findall(r"^### `(.+)`$", api, re.MULTILINE).__len__() == len(faces)
    for face in faces:
        assert f"### `{face.method} {face.path}`" in api
    known = list(features.collect("tools", "TOOLS"))
    assert re.findall(r"^## ([a-z_]+)$", tools, re.MULTILINE) == [tool.name for tool in narrow(known)]
    extra = {tool.name for tool in every(known)} - {tool.name for tool in narrow(known)}
    assert all(f"- `{name}`:" in tools for name in extra)


@proves("DISC-DOCS")
async def test_the_page_of_the_dashboard_names_every_page_that_a_person_can_go_to(http):
    named = set(re.findall(r"^\| `(/dashboard[^`]*)`", (await http.get("/docs/dashboard.md")).text, re.MULTILINE))
    pages = features.collect("pages", "PAGES")
    fixed = {page.path for page in pages if "GET" in page.methods and page.path.startswith("/dashboard")}
    assert named == {path for path in fixed if "{" not in path}


@proves("DISC-DOCS")
async def test_the_page_of_plans_has_what_the_code_counts_and_refuses(http, service):
    text = (await http.get("/docs/plans.md")).text
    faces = [face.operation for face in features.collect("rest", "ROUTES")]
    for rate in Rate:
        assert f"| `{rate}` | {sum(1 for operation in faces if operation.rate is rate)} |" in text
    for name in (*Meter, *Feature, *service.state.gate.plans.plans):
        assert f"`{name}`" in text
    for refusal in (PlanRequired, FeatureNotInPlan, QuotaExceeded):
        assert f"| `{refusal.reason}` |" in text
    assert "- `web_pages`: `POST /v1/documents/scrape`, `POST /v1/documents/{documentId}/refresh`\n" in text
    assert "`GET /v1/user/me`. A signed-in person" in text


async def test_a_page_that_is_not_there_is_404(http):
    for path in ("/docs/none", "/docs/none.md", "/docs/../docs/none"):
        assert (await http.get(path)).status_code == 404


@proves("DOCS-MCP")
async def test_the_endpoint_has_three_tools_that_only_read_and_wants_no_credential(http):
    listed = (await call(http, "tools/list"))["result"]["tools"]
    assert [item["name"] for item in listed] == ["search_docs", "read_docs_page", "list_docs_pages"]
    for item in listed:
        assert item["annotations"] == {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }
    pages = (await tool(http, "list_docs_pages"))["structuredContent"]["pages"]
    assert [page["path"] for page in pages] == [guide.path for guide in GUIDES]
    wrong = {"authorization": "Bearer nonsense"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = await http.post(ENDPOINT, json=message, headers={"accept": "application/json"} | wrong)
    assert answer.status_code == 200


@proves("DOCS-MCP")
@pytest.mark.parametrize("origin", ["https://elsewhere.test", "null"])
async def test_pages_of_every_origin_may_call_what_looks_at_no_credential(http, origin):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = await http.post(ENDPOINT, json=message, headers={"accept": "application/json", "origin": origin})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
    assert len(answer.json()["result"]["tools"]) == 3


@proves("DOCS-MCP")
@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("how do I take a lease", "/docs/coordination"),
        ("password for a public link", "/docs/sharing"),
        ("citation", "/docs/reason"),
        ("TRUSTED_PROXIES", "/docs/self-hosting"),
        ("connect Cursor", "/docs/connect"),
        ("restore a deleted document from the trash", "/docs/documents"),
    ],
)
async def test_the_search_finds_the_page_that_tells(http, query, path):
    results = (await tool(http, "search_docs", query=query, limit=5))["structuredContent"]["results"]
    assert path in [item["path"] for item in results[:3]], results
    assert results[0]["score"] == 1
    assert all(0 < item["score"] <= 1 and item["url"].startswith(BASE_URL) for item in results)


@proves("DOCS-MCP")
@pytest.mark.parametrize("path", ["/docs/sharing", "sharing", "docs/sharing.md", f"{BASE_URL}/docs/sharing.md#x"])
async def test_a_page_is_read_by_path_or_address(http, path):
    found = await tool(http, "read_docs_page", path=path)
    assert found["structuredContent"]["markdown"] == (await http.get("/docs/sharing.md")).text


async def test_what_is_wrong_is_told_in_the_result(http):
    for name, arguments, code, reason in (
        ("read_docs_page", {"path": "https://other.test/docs/sharing"}, 404, "NOT_FOUND"),
        ("read_docs_page", {"path": "../../etc/passwd"}, 404, "NOT_FOUND"),
        ("read_docs_page", {}, 400, "INVALID_REQUEST"),
        ("search_docs", {"query": ""}, 400, "INVALID_REQUEST"),
        ("search_docs", {"query": "a", "limit": 0}, 400, "INVALID_REQUEST"),
    ):
        failed = await tool(http, name, **arguments)
        assert failed["isError"] is True
        error = failed["structuredContent"]["error"]
        assert (error["code"], error["reason"], bool(error["requestId"])) == (code, reason, True)
        assert failed["content"][0]["text"] == f"Error: {reason}: {error['message']}"
        assert ("not found" in error["message"]) is (code == 404)
    nothing = await tool(http, "search_docs", query="zzzyx")
    assert nothing["structuredContent"] == {"results": []}
    assert "error" in await call(http, "tools/call", name="create_document", arguments={})


@proves("DOCS-MCP")
async def test_a_client_of_the_sdk_searches_and_reads(service):
    async with (
        httpx2.AsyncClient(transport=Transport(service), base_url=BASE_URL) as carrier,
        Client(streamable_http_client(f"{BASE_URL}{ENDPOINT}", http_client=carrier)) as client,
    ):
        found = await client.call_tool("search_docs", {"query": "public link"})
        assert found.structured_content["results"]
