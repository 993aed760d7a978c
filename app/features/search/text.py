"""Search results as text for models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from app.kit.sanitize import fenced, one_line, sanitize

if TYPE_CHECKING:
    from app.features.search.schemas import (
        DocumentHit,
        FetchedItem,
        FetchItem,
        FindByQuery,
        ResultLinks,
        Search,
        SearchResult,
    )

_EXCERPT = 300


def items(result: SearchResult, args: Search) -> str:
    """Render hits by type, with the passage of each, and say what was searched."""
    hits = result.data.documents
    count = len(hits)
    lines = [f"Found {count} document{'' if count == 1 else 's'} for “{one_line(args.q, 200)}”{':' if count else '.'}"]
    for hit in hits:
        score = f" | Score: {hit.score:.2f}" if hit.score is not None else ""
        lines.append(f"- **{one_line(hit.title)}**")
        lines.append(f"  ID: {hit.document_id} | Status: {hit.status}{score}")
        if hit.chunk_id is not None:
            lines.append(f"  Chunk: {hit.chunk_id}")
    if passages := [f"{hit.document_id}: {one_line(hit.highlight, _EXCERPT)}" for hit in hits if hit.highlight]:
        lines.extend(["", fenced("\n".join(passages), "Stored passages, one for each document.")])
    return "\n".join([*lines, *_unseen(result, hits)])


def _unseen(result: SearchResult, hits: list[DocumentHit]) -> list[str]:
    meta = result.meta
    lines = [meta.notice] if meta.notice else []
    if meta.pending and meta.semantic:
        lines.append(f"{meta.pending} documents are still being indexed and may be missing; semantic=false sees them.")
    elif not hits:
        lines.append("Everything that this credential may read was searched.")
    return lines


def links(result: ResultLinks, args: FindByQuery) -> str:  # noqa: ARG001  one signature for all
    """Mirror the result as JSON, which is what readers of this tool parse."""
    return _json(result.model_dump(mode="json", by_alias=True))


def fetched(result: FetchedItem, args: FetchItem) -> str:  # noqa: ARG001  one signature for all
    """Mirror the item as JSON, which is what readers of this tool parse."""
    return _json(result.model_dump(mode="json", by_alias=True))


def _json(value: Any) -> str:
    return json.dumps(_clean(value), ensure_ascii=False)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list) else value
