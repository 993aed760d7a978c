"""What the service is, in one place: every page, card and list for agents and crawlers is made of this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app import version
from app.edge.mcp.surface import PUBLIC, every, narrow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.edge.mcp.surface import Surface
    from app.edge.mcp.tool import Tool
    from app.edge.rest.router import Rest
    from app.gate.capabilities import Capabilities
    from app.gate.policy import Plan, Plans
    from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Guide:
    """A page of the handbook: its address on the site, its title, and one sentence about it."""

    path: str
    title: str
    description: str
    section: str


@dataclass(frozen=True)
class Facts:
    """Taken from the inventory and the operator's settings; empty settings leave their lines out."""

    product: str
    url: str
    version: str
    operator: str
    support_email: str
    issues_url: str
    legal_url: str
    issuer: str
    body_limit: int
    tools: tuple[Tool, ...]
    """The contract's tools, in order."""
    every_tool: tuple[Tool, ...]
    faces: tuple[Rest, ...]
    surfaces: tuple[str, ...]
    capabilities: Capabilities
    plans: Plans
    self_hosted: bool
    own_model: bool
    """Whether texts are embedded on this service, so that none leaves it for that."""
    guides: tuple[Guide, ...]

    @classmethod
    def of(
        cls,
        settings: Settings,
        faces: Iterable[Rest],
        tools: Iterable[Tool],
        surfaces: Iterable[Surface],
        capabilities: Capabilities,
        plans: Plans,
        guides: Iterable[Guide],
    ) -> Facts:
        """Gather them once, when the service is put together."""
        known = tuple(tools)
        return cls(
            product=settings.product_name,
            url=settings.url,
            version=version(),
            operator=settings.operator,
            support_email=settings.support_email,
            issues_url=settings.issues_url,
            legal_url=settings.legal_url,
            issuer=settings.auth_issuer or settings.url,
            body_limit=settings.max_body_bytes,
            tools=narrow(known),
            every_tool=every(known),
            faces=tuple(sorted(faces, key=lambda face: (face.path, face.method))),
            surfaces=tuple(surface.path for surface in surfaces),
            capabilities=capabilities,
            plans=plans,
            self_hosted=settings.default_plan == "self-hosted",
            own_model=not settings.embeddings_url,
            guides=tuple(guides),
        )

    @property
    def core(self) -> list[Rest]:
        """The operations of the contract's core."""
        return [face for face in self.faces if face.core]

    @property
    def host(self) -> str:
        """The host of the service, without its port."""
        return urlsplit(self.url).hostname or "localhost"

    @property
    def public_methods(self) -> list[str]:
        """What `/mcp` answers without a credential."""
        return sorted(PUBLIC)

    @property
    def sold(self) -> list[Plan]:
        """The plans with their limits: those for sale and the trial, or the one of a service of one's own."""
        names = [name for name, plan in self.plans.plans.items() if (name == "self-hosted") == self.self_hosted]
        return [self.plans.plans[name] for name in names]

    @property
    def short(self) -> str:
        """What it is, in at most 100 characters."""
        return "Versioned prompts and documents that agents share over MCP and REST."

    @property
    def summary(self) -> str:
        """What it is, in two sentences."""
        return (
            f"{self.product} keeps versioned prompts, documents and collections for AI agents and people. Agents reach "
            "them over MCP and REST: they search, read passages, get cited answers, and edit without losing an update."
        )
