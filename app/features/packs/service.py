"""Chooses what a pack holds, and writes its text: both follow from what is stored alone."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from app.features.packs.schemas import LeftOut, Manifest, PackedDocument, Reason, Span
from app.kit import tokenizer
from app.kit.markdown.chunks import SEPARATOR
from app.kit.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from app.features.packs.schemas import MakePack

_MOST_LEFT_OUT: Final = 100
_GAP: Final = "[…]"


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that may go into a pack; `text` is None where it is so long that it was not read."""

    document_id: UUID
    title: str
    revision: int
    start: int
    end: int
    path: tuple[str, ...]
    text: str | None


@dataclass(frozen=True, slots=True)
class Begun:
    """A document that goes in as far as it fits, where nothing fits whole."""

    piece: Piece
    """Its text, or as much of it as might fit."""
    ends: Sequence[int]
    """Where its passages end, by characters; none where that is not known yet."""


@dataclass(slots=True)
class Choice:
    """The pieces that were taken, best first, and what was left out, by document and reason."""

    taken: list[Piece] = field(default_factory=list)
    left: dict[tuple[UUID, Reason], LeftOut] = field(default_factory=dict)

    def leave(self, piece: Piece, reason: Reason, tokens: int | None) -> None:
        """Note that a piece was left out."""
        key = piece.document_id, reason
        before = self.left.get(key)
        whole = tokens if before is None else None if None in (tokens, before.tokens) else tokens + before.tokens  # type: ignore[operator]
        self.left[key] = LeftOut(
            document_id=piece.document_id,
            title=piece.title,
            revision=piece.revision,
            reason=reason,
            passages=1 + (before.passages if before else 0),
            tokens=whole,
        )


async def compose(
    args: MakePack, budget: int, pieces: Sequence[Piece], begun: Begun | None, pending: int, notice: str | None
) -> tuple[Manifest, str]:
    """Choose of pieces, best first, what fits a budget; beside the event loop, since tokens are counted."""
    return await asyncio.to_thread(_compose, args, budget, pieces, begun, pending, notice)


def _compose(
    args: MakePack, budget: int, pieces: Sequence[Piece], begun: Begun | None, pending: int, notice: str | None
) -> tuple[Manifest, str]:
    choice = _choose(pieces, budget)
    notices = [notice]
    if args.query is not None:
        notices.append(_unfit(choice, pieces))
    elif begun is not None and not choice.taken:
        notices.append(_begin(choice, begun, budget))
    if args.tokens > budget:
        notices.append(f"tokens {args.tokens} is over the cap; {budget} were the budget.")
    documents, text, tokens = _written(choice, budget)
    left = list(choice.left.values())
    manifest = Manifest(
        query=args.query,
        collection_id=args.collection_id,
        document_id=args.document_id,
        budget=budget,
        tokens=tokens,
        tokenizer=tokenizer.TOKENIZER,
        text_hash=digest_of(text),
        documents=documents,
        left_out=left[:_MOST_LEFT_OUT],
        left_out_more=len(left[_MOST_LEFT_OUT:]),
        pending=pending,
        notice=" ".join(filter(None, notices)) or None,
    )
    return manifest, text


def _unfit(choice: Choice, pieces: Sequence[Piece]) -> str | None:
    """Say where nothing fits the query, or the best does not fit the budget."""
    if not pieces:
        return "Nothing stored fits the query."
    if pieces[0] in choice.taken:
        return None
    lesser = "the text is of lesser ones" if choice.taken else "nor do others"
    return f"The best passage does not fit: it needs {_cost(pieces[0], set())} tokens; {lesser}."


def _begin(choice: Choice, begun: Begun, budget: int) -> str:
    """Take as many whole passages from a document's beginning as fit, note how many do not, and say so."""
    piece, ends, text = begun.piece, begun.ends, begun.piece.text or ""
    if not ends:
        return "The text is longer than the budget, and its passages are not known before it is indexed."
    spent, count, start = _cost(replace(piece, text=""), set()), 0, 0
    for end in ends:
        spent += tokenizer.count(text[start:end])
        if spent > budget or end > len(text):
            break
        count, start = count + 1, end
    key = piece.document_id, Reason.BUDGET
    rest = choice.left[key].tokens
    if count:
        choice.taken.append(replace(piece, end=start, text=text[:start]))
        rest = None if rest is None else tokenizer.count(text[start:])
    choice.left[key] = choice.left[key].model_copy(update={"passages": len(ends) - count, "tokens": rest})
    if not count:
        return f"Nothing fits: the first of {len(ends)} passages needs {spent} tokens."
    return (
        f"The text is longer than the budget: these are the first {count} of {len(ends)} passages; a query chooses "
        "among them."
    )


def _choose(pieces: Iterable[Piece], budget: int) -> Choice:
    """Take what fits, best first; what does not fit makes room for shorter ones behind it."""
    choice, left = Choice(), budget
    seen: set[str] = set()
    opened: set[UUID] = set()
    for piece in pieces:
        if piece.text is None:
            choice.leave(piece, Reason.BUDGET, None)
            continue
        cost = _cost(piece, opened)
        if piece.text in seen:
            choice.leave(piece, Reason.DUPLICATE, cost)
        elif cost > left:
            choice.leave(piece, Reason.BUDGET, cost)
        else:
            left -= cost
            choice.taken.append(piece)
            seen.add(piece.text)
            opened.add(piece.document_id)
    return choice


def _cost(piece: Piece, opened: set[UUID]) -> int:
    """Count a piece by itself with all that may stand around it, so that a sum is rarely less than the whole."""
    around = [_GAP, _section(piece.path), piece.text or "", ""]
    if piece.document_id not in opened:
        around.insert(0, _head(piece.document_id, piece.title, piece.revision))
    return tokenizer.count("\n\n".join(around))


def _written(choice: Choice, budget: int) -> tuple[list[PackedDocument], str, int]:
    """Write the text; should it count more than the sum of its pieces, the last ones go."""
    while True:
        documents = _documents(choice.taken)
        texts = {(p.document_id, p.start, p.end): p.text or "" for p in choice.taken}
        text = render(documents, [texts[d.document_id, s.start_index, s.end_index] for d in documents for s in d.spans])
        tokens = tokenizer.count(text)
        if tokens <= budget:
            return documents, text, tokens
        gone = choice.taken.pop()
        choice.leave(gone, Reason.BUDGET, tokenizer.count(gone.text or ""))


def _documents(pieces: Sequence[Piece]) -> list[PackedDocument]:
    """Gather pieces by document, in the order of the best of each; within a document in the order of its text.

    Pieces of one document at two revisions (it is being indexed) stand apart.
    """
    gathered: dict[tuple[UUID, int], list[Piece]] = {}
    for piece in pieces:
        gathered.setdefault((piece.document_id, piece.revision), []).append(piece)
    return [
        PackedDocument(
            document_id=document_id,
            title=found[0].title,
            revision=revision,
            spans=[
                Span(start_index=piece.start, end_index=piece.end, section_path=list(piece.path))
                for piece in sorted(found, key=lambda piece: piece.start)
            ],
        )
        for (document_id, revision), found in gathered.items()
    ]


def render(documents: Sequence[PackedDocument], texts: Sequence[str]) -> str:
    """Write a pack's text from its documents and the texts of their spans, in order."""
    following = iter(texts)
    blocks: list[str] = []
    for document in documents:
        blocks.append(_head(document.document_id, document.title, document.revision))
        for before, span in pairwise([None, *document.spans]):
            assert span is not None
            if before is None or before.section_path != span.section_path:
                blocks.append(_section(span.section_path))
            elif span.start_index > before.end_index + 2:
                blocks.append(_GAP)
            blocks.append(next(following).strip("\n"))
    return "\n\n".join(block for block in blocks if block)


def digest_of(text: str) -> str:
    """Digest a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def _head(document_id: UUID, title: str, revision: int) -> str:
    return f"# {one_line(title)}\n(document {document_id}, revision {revision})"


def _section(path: Sequence[str]) -> str:
    return f"## {one_line(SEPARATOR.join(path))}" if path else ""
