"""Copies of a document among the hits: it is shown once, and names the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.features.search.schemas import COPIED_FROM

if TYPE_CHECKING:
    from collections.abc import Sequence


def fold(hits: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the first of several documents with one text, and name the others in its `copies`.

    Only texts that are the same to the byte: of two contracts that differ in a number each says something else. Notes
    of a line stand for themselves: people have many alike, and they cost no room.
    """
    kept: list[dict[str, Any]] = []
    known: dict[bytes, dict[str, Any]] = {}
    for hit in hits:
        if len(hit["highlight"] or "") < COPIED_FROM:
            kept.append(hit)
        elif (first := known.get(hit["content_digest"])) is not None:
            first["copies"].append(hit)
        else:
            known[hit["content_digest"]] = hit | {"copies": []}
            kept.append(known[hit["content_digest"]])
    return kept
