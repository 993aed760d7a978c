"""What no route serves."""

from __future__ import annotations

import pytest

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/nope", "/v1/nope", "/docs/nope"])
async def test_a_browser_gets_a_page_and_a_program_the_envelope(http, path):
    page = await http.get(path, headers=BROWSER)
    assert (page.status_code, page.headers["content-type"].partition(";")[0]) == (404, "text/html")
    assert "no such page" in page.text
    if not path.startswith("/docs"):
        assert (await http.get(path)).json()["error"]["reason"] == "NOT_FOUND"
    assert (await http.post("/nope", headers=BROWSER)).json()["error"]["reason"] == "NOT_FOUND"
