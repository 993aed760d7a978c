"""Search results as text for models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from app.features.search.schemas import SearchMode
from app.kit.sanitize import one_line, sanitize
from app.kit.wording import excerpt, stored

if TYPE_CHECKING:
    from app.features.search.schemas import (
        CollectionHit,
        DocumentHit,
        FetchedItem,
        FetchItem,
        FindByQuery,
        Hits,
        PromptHit,
        ResultLinks,
        Search,
        SearchMeta,
        SearchResult,
    )

_EXCERPT = 300
_SECTION = 160
_DESCRIPTION = 100
_MODES = {
    SearchMode.HYBRID: "words and meaning",
    SearchMode.LEXICAL: "words",
    SearchMode.LITERAL: "the literal text",
}


def items(result: SearchResult, args: Search) -> str:
    """Render hits by type, with the passage of each document, and say what was searched."""
    hits = result.data
    sought = f"“{one_line(args.q, 200)}”"
    counts = [_count(len(found), kind) for kind, found in _by_kind(hits).items() if found]
    lines = [f"Found {', '.join(counts)} for {sought}:" if counts else f"Found nothing for {sought}."]
    lines += [line for hit in hits.prompts for line in _prompt(hit)]
    lines += [line for hit in hits.documents for line in _document(hit)]
    lines += [line for hit in hits.collections for line in _collection(hit)]
    passages = [line for hit in hits.documents for line in _passage(hit)]
    if passages:
        trusts = (hit.trust for hit in hits.documents)
        lines += ["", stored("\n".join(passages), "Stored passages, one for each document.", *trusts)]
    return "\n".join([*lines, *_how(result.meta, found=bool(counts))])


def _by_kind(hits: Hits) -> dict[str, list[Any]]:
    return {"prompt": list(hits.prompts), "document": list(hits.documents), "collection": list(hits.collections)}


def _count(count: int, kind: str) -> str:
    return f"{count} {kind}{'' if count == 1 else 's'}"


def _prompt(hit: PromptHit) -> list[str]:
    return _item(hit.title, "prompt", hit, f"{hit.prompt_id}{_score(hit.score)}")


def _collection(hit: CollectionHit) -> list[str]:
    lines = _item(hit.name, "collection", hit, f"{hit.collection_id}{_score(hit.score)}")
    return lines + [f"  Holds: {one_line(item.title)} ({item.type} {item.id})" for item in hit.matched_items]


def _item(name: str, kind: str, hit: PromptHit | CollectionHit, facts: str) -> list[str]:
    said = excerpt("Description", hit.description, hit.trust, _DESCRIPTION)
    return [f"- **{one_line(name)}** ({kind})", *said, f"  ID: {facts}"]


def _document(hit: DocumentHit) -> list[str]:
    lines = [f"- **{one_line(hit.title)}**", f"  ID: {hit.document_id} | Status: {hit.status}{_score(hit.score)}"]
    if hit.chunk_id is not None:
        lines.append(f"  Chunk: {hit.chunk_id}")
    if hit.revision is not None:
        lines.append(f"  Revision: {hit.revision}")
    return lines + [f"  Same text: {one_line(copy.title)} ({copy.document_id})" for copy in hit.copies]


def _passage(hit: DocumentHit) -> list[str]:
    """Show what was found: the headings above it, of which a word may have been sought, and its beginning."""
    parts = ((hit.section_path, _SECTION), (hit.highlight, _EXCERPT))
    shown = " — ".join(one_line(part, most) for part, most in parts if part)
    return [f"{hit.document_id}: {shown}"] if shown else []


def _score(score: float | None) -> str:
    return "" if score is None else f" | Score: {score:.2f}"


def _how(meta: SearchMeta, *, found: bool) -> list[str]:
    """Say what was searched, how, and what an empty answer means."""
    lines = [meta.notice] if meta.notice else []
    if not meta.scope.types:
        return lines
    kinds = ", ".join(kind.value for kind in meta.scope.types)
    tags = f", tagged {', '.join(one_line(tag, 100) for tag in meta.scope.tags)}" if meta.scope.tags else ""
    key = "; this key sees only its collections" if meta.scope.restricted else ""
    state = meta.index
    then = f" as of {meta.as_of}" if meta.as_of is not None else ""
    lines.append(f"Searched {kinds}{then}{tags} for {_MODES[meta.mode]}{key}. Items in this scope: {state.total}.")
    if state.pending and meta.mode is not SearchMode.LITERAL:
        first = "Not indexed yet" if found else "This does not mean that there is nothing. Not indexed yet"
        lines.append(f"{first}: {state.pending} of {state.total}; semantic=false sees these too.")
    elif not found and meta.mode is SearchMode.LITERAL:
        also = "" if meta.as_of is not None else ", and what means the same"
        lines.append(f"It is not there as it was sent; semantic=true finds its words in any order{also}.")
    elif not found and meta.as_of is None:
        lines.append("All of it was searched: there is nothing to find here.")
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
