"""Asks a site's robots.txt (RFC 9309) whether a page may be read; runs in a confined process."""

from __future__ import annotations

from typing import Any

from protego import Protego


def judge(options: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Tell whether the agent may fetch the address, as `allowed`."""
    rules = Protego.parse(body.decode("utf-8", "replace"))
    return {"allowed": bool(rules.can_fetch(options["url"], options["agent"]))}
