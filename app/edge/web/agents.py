"""What browsers call themselves, in the words of people."""

from __future__ import annotations

_PROGRAMS = [("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome"), ("Safari", "Safari")]
_SYSTEMS = [
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Mac OS", "macOS"),
    ("Windows", "Windows"),
    ("Linux", "Linux"),
]


def browser_name(user_agent: str | None) -> str:
    """Shorten what a browser calls itself to what people call it."""
    text = user_agent or "unknown"
    program = next((name for mark, name in _PROGRAMS if mark in text), "")
    system = next((name for mark, name in _SYSTEMS if mark in text), "")
    return f"{program} on {system}" if program and system else text[:60]
