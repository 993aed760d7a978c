"""What can be asked about the service itself."""

from __future__ import annotations

from app.features.capabilities.schemas import GetCapabilities
from app.gate.capabilities import Capabilities
from app.gate.operation import Context, query
from app.gate.policy import Rate


@query("mcp.capabilities", scope=None, rate=Rate.READONLY)
async def get_capabilities(ctx: Context, args: GetCapabilities) -> Capabilities:  # noqa: ARG001  it has none
    """Describe the service: addresses, tools with their scopes, resources, limits and how to authenticate."""
    return ctx.get(Capabilities)
