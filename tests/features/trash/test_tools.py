"""What a tool says of an item that it deleted: where it is, and what brings it back."""

from __future__ import annotations

import re

import pytest

from tests.contract.requirements import proves
from tests.edge.mcp.wire import LEGACY_ERA, text_of


@pytest.mark.parametrize("path", ["/mcp", "/mcp/all"])
@pytest.mark.parametrize("kind", ["document", "prompt", "collection"])
@proves("TRASH-SAID")
async def test_a_deleted_item_comes_back_by_what_the_tool_says(alice, make, kind, path):
    item = (await getattr(make, kind)(alice.client))["id"]
    said = text_of(await LEGACY_ERA.call(alice.client, f"delete_{kind}", {f"{kind}Id": item}, path=path))
    assert "in the trash for 30 days" in said
    (trashed,) = (await alice.client.get("/v1/trash")).json()["data"]
    assert trashed["id"] == item
    way = re.search(r"POST (\S+/restore)", said)[1]
    assert (await alice.client.post(way)).status_code == 200
    assert (await alice.client.get(f"/v1/{kind}s/{item}")).status_code == 200
