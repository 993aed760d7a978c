"""Runs in a confined process: a stranger's Markdown becomes HTML there, or runs out of time without harm."""

from __future__ import annotations

from typing import Any

from app.kit.markdown.html import strange_html


def render(options: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Render a text; `own` names the addresses of this service."""
    return {"html": strange_html(body.decode(), options["own"])}
