"""Passages as Markdown for models; what others wrote stays on one line or inside a fence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.sanitize import one_line
from app.kit.wording import stored

if TYPE_CHECKING:
    from app.features.navigation.schemas import (
        Chunk,
        ExpandChunk,
        FoundPassages,
        NearChunks,
        ReadChunk,
        SearchPassages,
    )
    from app.kit.schema import One

_REBUILT = "Nothing is there. If something should be, run deep_search again: the chunk tree may have been rebuilt."


def passages(result: One[FoundPassages], args: SearchPassages) -> str:
    """Render passages, best first."""
    found, meta = result.data.results, result.data.meta
    count = len(found)
    lines = [f"Found {count} passage{'' if count == 1 else 's'} for “{one_line(args.query, 200)}”{':' * bool(count)}"]
    for number, hit in enumerate(found, 1):
        lines.append(f"{number}. **{one_line(hit.document_title)}** | Score: {hit.score:.2f}")
        lines.append(f"   Chunk: {hit.chunk_id} | Document: {hit.document_id}")
        lines.extend([f"   Section: {one_line(hit.section_path)}"] if hit.section_path else [])
        lines.extend(f"   Same text: {one_line(copy.document_title)} ({copy.document_id})" for copy in hit.copies)
    if found:
        texts = "\n\n".join(f"{number}. {hit.content}" for number, hit in enumerate(found, 1))
        lines.extend(["", stored(texts, "Stored passages, numbered as above.", *(hit.trust for hit in found))])
    if meta.notice:
        lines.append(f"Note: {meta.notice}")
    if meta.pending:
        lines.append(f"Still being indexed, and perhaps missing: {meta.pending} of {meta.total} documents.")
    if found and meta.session_id:
        lines.append(f'For other passages search again with sessionId="{meta.session_id}".')
    return "\n".join(lines)


def chunk(result: One[Chunk], args: ReadChunk) -> str:  # noqa: ARG001  one signature for all
    """Render a chunk with its place."""
    item = result.data
    where, facts = item.hierarchy, item.metadata
    position = where.position
    lines = [
        f"# {one_line(where.document_title)}",
        *([f"Section: {one_line(where.section_path)}"] if where.section_path else []),
        f"Level: {item.level} | Index: {position.chunk_index} | Words: {facts.word_count}",
        f"Characters: {facts.start_index}–{facts.end_index} of revision {facts.revision}",
        f"Chunk: {item.chunk_id} | Document: {where.document_id}",
    ]
    ways = (("Parent", position.parent_chunk_id), ("Previous", position.prev_sibling_id))
    for name, other in (*ways, ("Next", position.next_sibling_id)):
        if other is not None:
            lines.append(f"{name}: {other}")
    if item.notice:
        lines.append(f"Note: {item.notice}")
    said = f"Content: stored text of document {where.document_id}, revision {facts.revision}."
    lines.extend(["", stored(item.content, said, item.trust)])
    if item.cursor:
        lines.append(f'There is more: call deep_read again with cursor="{item.cursor}".')
    return "\n".join(lines)


def near(result: One[NearChunks], args: ExpandChunk) -> str:
    """Render the chunks around another, in the order of the text."""
    found = result.data.chunks
    notes = [f"Note: {result.data.notice}"] if result.data.notice else []
    if not found:
        return "\n".join([f"Found 0 chunks ({args.direction}).", *notes, _REBUILT])
    lines = [f"Found {len(found)} chunk{'' if len(found) == 1 else 's'} ({args.direction}):"]
    for number, item in enumerate(found, 1):
        more = f' | goes on: deep_read cursor="{item.cursor}"' if item.cursor else ""
        lines.append(f"{number}. {item.level} {item.chunk_index} of **{one_line(item.document_title)}**")
        lines.append(f"   Chunk: {item.chunk_id}{more}")
    texts = "\n\n".join(f"{number}. {item.content}" for number, item in enumerate(found, 1))
    fence = stored(texts, "Stored texts, numbered as above.", *(item.trust for item in found))
    return "\n".join([*lines, "", fence, *notes])
