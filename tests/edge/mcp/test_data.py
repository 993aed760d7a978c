"""Tools as data: what is refused when the program is put together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import GetPromptRequestParams

from app.edge.mcp.server import Handlers
from app.edge.mcp.surface import PUBLIC, Surface, in_order
from app.features.documents.schemas import CreateDocument
from app.features.documents.tools import TOOLS
from tests.contract.requirements import proves

GET, CREATE = TOOLS[1], TOOLS[2]


def test_a_tool_may_only_narrow_its_operation():
    with pytest.raises(TypeError, match="subclass"):
        replace(GET, narrowed=CreateDocument)


def test_an_absence_that_succeeds_needs_a_structure():
    with pytest.raises(TypeError, match="structured"):
        replace(GET, when_absent=lambda _: "gone")


def test_two_tools_cannot_share_a_place_or_a_name():
    for other in (replace(CREATE, number=GET.number), replace(CREATE, name=GET.name)):
        with pytest.raises(ValueError, match="share"):
            in_order([GET, other])


@proves("MCP-OLD-NAMES")
def test_old_names_lead_to_their_targets():
    surface = Surface("/mcp", (replace(GET, name="find_items"),), PUBLIC)
    assert surface.by_name["search_context_repo"] is surface.by_name["find_items"]
    assert "list_prompts" not in surface.by_name


async def test_a_surface_without_prompts_lists_none_and_knows_none():
    handlers = Handlers(Surface("/mcp", (GET,), PUBLIC))
    assert (await handlers.list_prompts(None, None)).prompts == []
    with pytest.raises(MCPError, match="Prompt not found"):
        await handlers.get_prompt(None, GetPromptRequestParams(name="x"))
