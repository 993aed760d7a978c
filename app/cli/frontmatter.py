"""YAML front matter of Markdown files: the title and tags of a document, above its text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

_HEAD = re.compile(r"---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n(?:\r?\n)?|\Z)", re.DOTALL | re.MULTILINE)
_SAID = frozenset({"title", "tags"})
_EXPORTED = _SAID | {"id", "revision", "version", "contentHash", "sourceUrl", "createdAt", "lastChangedAt"}
"""What an archive writes above a document's text; `contentHash` tells it from somebody's own fields."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a file says of itself, and its text."""

    text: str
    title: str | None = None
    tags: list[str] = field(default_factory=list)


def split(content: str) -> Parts:
    """Take title and tags out of a file; what follows the front matter and one empty line is the text, as it stands.

    Front matter with fields that a document has no place for stays in the text, so that nothing is lost; a rule at the
    top that is no front matter does too.
    """
    head = _HEAD.match(content)
    fields = _read(head["yaml"]) if head else None
    if head is None or fields is None:
        return Parts(content)
    consumed = fields.keys() <= _SAID or (fields.keys() <= _EXPORTED and "contentHash" in fields)
    text = content[head.end() :] if consumed else content
    return Parts(text, _title(fields.get("title")), _tags(fields.get("tags")))


def _read(text: str) -> dict[str, Any] | None:
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):  # a date that is none is a ValueError
        return None
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        return None
    return found


def _title(value: object) -> str | None:
    return None if value is None or isinstance(value, list | dict) else str(value).strip() or None


def _tags(value: object) -> list[str]:
    """Read a list, or a text with commas, as both are common; each tag once."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    tags = (str(part).strip() for part in parts if part is not None and not isinstance(part, list | dict))
    return list(dict.fromkeys(tag for tag in tags if tag))
