"""Collections that are found through their members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    import asyncpg

_SHOWN: Final = 5
"""Members that a collection names."""


def join(
    collections: Sequence[dict[str, Any]],
    members: Mapping[UUID, Mapping[str, Any]],
    memberships: Iterable[asyncpg.Record],
) -> list[dict[str, Any]]:
    """Put collections found by themselves together with those that hold a found member, best first.

    `members` has what was found by id, best first. A collection is as good as the best of its own score and its
    members'; where nothing is scored those found by themselves come first.
    """
    joined = {hit["id"]: hit | {"matched": []} for hit in collections}
    places = {item: place for place, item in enumerate(members)}
    for row in sorted(memberships, key=lambda row: places[row["member"]]):
        named = {name: row[name] for name in ("id", "title", "description", "trust")}
        hit = joined.setdefault(row["id"], named | {"score": None, "matched": []})
        member = members[row["member"]]
        hit["matched"].append(member)
        if member["score"] is not None:
            hit["score"] = max(hit["score"] or 0.0, member["score"])
    for hit in joined.values():
        hit["matched"] = hit["matched"][:_SHOWN]
    return sorted(joined.values(), key=lambda hit: -(hit["score"] or 0.0))
