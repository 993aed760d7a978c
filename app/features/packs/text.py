"""Packs as Markdown for models; the stored texts stay inside a fence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.kit.sanitize import one_line
from app.kit.wording import stored

if TYPE_CHECKING:
    from app.features.packs.schemas import GetPack, MakePack, Pack
    from app.kit.schema import One

_SHOWN = 10


def pack(result: One[Pack], args: MakePack | GetPack) -> str:  # noqa: ARG001  one signature for all
    """Render a pack: what it is, its text, what it left out."""
    found = result.data
    count = len(found.documents)
    size = f"{found.tokens} of {found.budget} tokens ({found.tokenizer})"
    lines = [f"Pack of {count} document{'' if count == 1 else 's'}: {size}", f"Hash: {found.hash}"]
    if found.text:
        lines.extend(["", stored(found.text, "Stored texts with their documents and revisions.", found.trust)])
    if found.notice:
        lines.append(f"Note: {found.notice}")
    for item in found.left_out[:_SHOWN]:
        cost = "" if item.tokens is None else f", {item.tokens} tokens"
        lines.append(
            f"Left out ({item.reason}): {item.passages} of **{one_line(item.title)}** ({item.document_id}{cost})"
        )
    if (more := len(found.left_out[_SHOWN:]) + found.left_out_more) > 0:
        lines.append(f"Left out of {more} more documents; ask for more tokens or more narrowly.")
    if found.pending:
        lines.append(f"Still being indexed, and perhaps missing: {found.pending} of the documents.")
    return "\n".join(lines)
