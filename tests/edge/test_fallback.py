"""What no route serves."""

from __future__ import annotations

import pytest

from app import features
from app.edge.discovery.pages import PAGES as ABOUT

PAGES = {page.path for page in features.collect("pages", "PAGES") if "GET" in page.methods}
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/nope", "/v1/nope", "/docs/nope"])
async def test_a_browser_gets_a_page_and_a_program_the_envelope(http, path):
    page = await http.get(path, headers=BROWSER)
    assert (page.status_code, page.headers["content-type"].partition(";")[0]) == (404, "text/html")
    assert "no such page" in page.text
    if not path.startswith("/docs"):
        assert (await http.get(path)).json()["error"]["reason"] == "NOT_FOUND"
    assert (await http.post("/nope", headers=BROWSER)).json()["error"]["reason"] == "NOT_FOUND"


@pytest.mark.parametrize("path", sorted(PAGES | {page.path for page in ABOUT} - {"/"} | {"/llms.txt", "/agent"}))
async def test_a_closing_slash_leads_to_the_page_without_it(http, path):
    path = path.replace("{", "").replace("}", "")
    for headers in (BROWSER, {}):
        moved = await http.get(f"{path}/?a=b%20c", headers=headers, follow_redirects=False)
        assert (moved.status_code, moved.headers["location"]) == (308, f"{path}?a=b%20c")
    assert (await http.head(f"{path}//", follow_redirects=False)).headers["location"] == path


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/",
        "/nope/",
        "/dashboard/nope/",
        "/v1/documents/",
        "/%5Cevil.example/",
        "/static/x/y/",
        "/dashboard/documents/%00/",
        "/invite/%00/",
        "/dashboard/%0a/",
        "/docs/%0d%0aX-A:b/",
        "/docs/%3Fx/",
        "/docs/%23x/",
        "/docs/%2541/",
    ],
)
async def test_a_closing_slash_of_what_is_no_page_leads_nowhere(http, path):
    url = f"{http.base_url}".rstrip("/") + path
    assert (await http.get(url, headers=BROWSER, follow_redirects=False)).status_code == 404


async def test_a_form_is_not_sent_on(http):
    assert (await http.post("/sign-in/", headers=BROWSER, follow_redirects=False)).status_code == 404
