"""Revisions, entity tags and preconditions (RFC 9110 sections 8.8.3 and 13.1.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_OURS = re.compile(r"r([1-9][0-9]{0,9})-([0-9a-f]{16})")
HASH_PREFIX = 16


def etag(revision: int, content_hash: str) -> str:
    """Write the strong entity tag of a revision: `"r<revision>-<first 16 hex of contentHash>"`."""
    return f'"r{revision}-{content_hash[:HASH_PREFIX]}"'


@dataclass(frozen=True, slots=True)
class EntityTags:
    """A parsed `If-Match`: `any` for `*`, else the (revision, hash prefix) pairs of the tags that can match.

    Weak and foreign tags never match, so they are not in `tags`; an empty `tags` matches nothing.
    """

    any: bool
    tags: tuple[tuple[int, str], ...]


def parse_if_match(value: str) -> EntityTags | None:
    """Read an `If-Match` header; None when it is not a list of entity tags or `*`."""
    text = value.strip()
    if text == "*":
        return EntityTags(any=True, tags=())
    parts = [part.strip() for part in text.split(",")]
    matches = [_TAG.fullmatch(part) for part in parts]
    if not all(matches):
        return None
    strong = [match.group(2) for match in matches if match and not match.group(1)]
    ours = [match for tag in strong if (match := _OURS.fullmatch(tag))]
    return EntityTags(any=False, tags=tuple((int(match.group(1)), match.group(2)) for match in ours))


def strong_tags(value: str) -> tuple[str, ...]:
    """Give the strong entity tags of an `If-Match` header, without quotes; `*` and weak tags name no state."""
    matches = [_TAG.fullmatch(part.strip()) for part in value.split(",")]
    return tuple(match.group(2) for match in matches if match and not match.group(1))


def matches_any(header: str, current: str) -> bool:
    """Tell whether an `If-None-Match` header names the current tag (weak comparison, RFC 9110 section 13.1.2)."""
    text = header.strip()
    return text == "*" or any(part.strip().removeprefix("W/") == current for part in text.split(","))


@dataclass(frozen=True, slots=True)
class Precondition:
    """What a write expects of the current revision, and how it was said (`form` decides 412 or 409).

    `revisions` pairs with `hashes`; an empty hash matches any. No pairs at all: nothing can match.
    """

    form: Literal["header", "body"]
    revisions: tuple[int, ...]
    hashes: tuple[str, ...]

    def holds(self, revision: int, content_hash: str) -> bool:
        """Tell whether the current revision is one that is expected."""
        pairs = zip(self.revisions, self.hashes, strict=True)
        return any(number == revision and tag in ("", content_hash[:HASH_PREFIX]) for number, tag in pairs)


def expected(precondition: Precondition | None) -> tuple[tuple[int, ...] | None, tuple[str, ...] | None]:
    """Give revisions and hashes as a statement takes them; two None where nothing is expected."""
    return (precondition.revisions, precondition.hashes) if precondition else (None, None)
