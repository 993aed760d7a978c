"""Answers as Markdown for models; what others wrote stays on one line or inside a fence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.features.reason.citations import unmarked
from app.kit.sanitize import one_line
from app.kit.wording import stored

if TYPE_CHECKING:
    from app.features.reason.schemas import Answer, Reason
    from app.kit.schema import One

_LONGEST = 1_000
"""Characters of a gap: where nothing was found, one says all."""


def answer(result: One[Answer], args: Reason) -> str:  # noqa: ARG001  one signature for all
    """Render an answer; a section that would be empty is left out."""
    item = result.data
    sections = []
    if item.answer:
        made = f"Made from stored text ({item.meta.mode})."
        sections.append(("Answer", [stored(item.answer, made, *(cited.trust for cited in item.citations))]))
    sources = [
        f"- **{unmarked(one_line(cited.document_title))}** | Score: {cited.score:.2f} | Revision: {cited.revision}\n"
        f"  Chunk: {cited.chunk_id} | Document: {cited.document_id}\n"
        f"  Citation: {cited.id}"
        for cited in item.citations
    ]
    sections += [
        ("Sources", sources),
        ("Gaps", [f"- {one_line(gap, _LONGEST)}" for gap in item.gaps]),
        ("Conflicts", [f"- {one_line(conflict, 500)}" for conflict in item.conflicts]),
    ]
    meta = item.meta
    facts = [f"- Passages gathered: {meta.chunks_gathered}", f"- Citations dropped: {meta.citations_dropped}"]
    by = f" ({one_line(meta.model, 100)})" if meta.model else ""
    sections.append(("Meta", [*facts, f"- Mode: {meta.mode}{by}", f"- Latency: {meta.latency_ms} ms"]))
    return "\n\n".join("\n".join([f"## {title}", *lines]) for title, lines in sections if lines)
