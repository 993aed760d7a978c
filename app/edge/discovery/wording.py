"""The Markdown of the site: templates filled with the facts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

if TYPE_CHECKING:
    from app.edge.discovery.facts import Facts
    from app.edge.mcp.tool import Tool
    from app.edge.rest.router import Rest
    from app.gate.policy import Meter, Plan


def environment(folder: Path) -> jinja2.Environment:
    """Make an environment for Markdown templates: what they write is text, so that nothing is escaped."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(folder)),
        autoescape=False,  # noqa: S701  Markdown of ours, of no stranger's words
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals.update(
        first=first, needs=needs, scopes_of=scopes_of, limits_of=limits_of, tool_needs=tool_needs, words_of=words_of
    )
    return made


def first(description: str) -> str:
    """Take the first sentence of a description, on one line."""
    flat = " ".join(description.split())
    head, mark, _ = flat.partition(". ")
    return head + ("." if mark else "")


def scopes_of(face: Rest | Tool) -> list[str]:
    """Name the scopes that an operation needs."""
    return [scope.value for scope in face.operation.scopes]


def needs(face: Rest) -> str:
    """Say what it takes to call an operation."""
    operation = face.operation
    names = [f"`{name}`" for name in scopes_of(face)]
    found = (" and " if operation.every_scope else " or ").join(names) or "any credential"
    return "a signed-in person" if operation.credentials else found


def tool_needs(tool: Tool) -> str:
    """Say what it takes to call a tool."""
    return " or ".join(f"`{name}`" for name in scopes_of(tool)) or "any credential"


_WORDS = {
    "documents": "documents",
    "prompts": "prompts",
    "collections": "collections",
    "storage_bytes": "bytes of storage",
    "api_keys": "API keys",
    "api_units_month": "writes and searches a month",
    "scrapes_month": "web pages kept or refreshed a month",
    "reason_month": "answers a month",
}


def words_of(meter: Meter) -> str:
    """Say what a meter counts."""
    return _WORDS[meter.value]


def limits_of(plan: Plan) -> list[tuple[str, str]]:
    """Give a plan's allowances in words: what is counted, and how much there is."""
    return [(words_of(meter), f"{count:,}") for meter, count in plan.limits.items()]


_TEXTS = environment(Path(__file__).with_name("texts"))


def text(name: str, facts: Facts, **more: Any) -> str:
    """Fill in a text of the site."""
    return _TEXTS.get_template(name).render(facts=facts, **more)
