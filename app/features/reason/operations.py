"""Answering from stored passages, and opening a citation (contract: operation 34)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from app.features.collections.errors import CollectionNotFound
from app.features.documents.errors import DocumentNotFound
from app.features.navigation.service import gather
from app.features.reason import queries, service
from app.features.reason.citations import digest_of, parse_pin
from app.features.reason.errors import CitationGone, CitationNotFound
from app.features.reason.extract import missing_words
from app.features.reason.question import read_question
from app.features.reason.remote import Model
from app.features.reason.schemas import (
    MAX_LIMIT,
    Answer,
    Mode,
    OpenCitation,
    OpenedCitation,
    Reason,
    ReasonMeta,
    Standing,
)
from app.gate.operation import Context, query
from app.gate.policy import Meter, Rate, Scope
from app.kit.schema import One

if TYPE_CHECKING:
    from app.features.navigation.service import Gathered
    from app.features.reason.service import Draft

_MISSING = 8


@query(
    "reason.answer",
    scope=Scope.DOCUMENTS_READ,
    rate=Rate.API,
    spends=(Meter.REASON_MONTH,),
    raises=(DocumentNotFound, CollectionNotFound),
)
async def reason(ctx: Context, args: Reason) -> One[Answer]:
    """Answer a question from stored documents, each statement with a citation; nothing is stored.

    Passages are gathered in scope, then a configured language model answers and its citations are checked against
    them; without one the sentences that answer are quoted. `limitations` tells what was not covered.
    """
    started = time.perf_counter()
    limit = min(args.limit, MAX_LIMIT)
    gathered = await gather(ctx, args.query, args, limit)
    question = await read_question(ctx, args.query)
    draft = await service.answer(ctx, question, gathered.passages) if gathered.passages else service.Draft()
    missing = missing_words(question, gathered.passages)
    limitations = [*_limitations(args, limit, gathered, draft, missing), *draft.limitations]
    if not draft.answer:  # nothing found is one gap, which says all there is to say (contract 2.4)
        limitations = [" ".join(limitations)]
    terms = ctx.get(Model).terms
    meta = ReasonMeta(
        chunks_gathered=len(gathered.passages),
        citations_dropped=draft.dropped,
        latency_ms=round((time.perf_counter() - started) * 1000),
        mode=draft.mode,
        model=terms.name if terms and draft.mode is Mode.MODEL else None,
    )
    answer = Answer(
        answer=draft.answer,
        citations=draft.citations,
        limitations=limitations,
        gaps=limitations,
        conflicts=[],
        meta=meta,
    )
    return One(data=answer)


@query(
    "citations.open",
    scope=Scope.DOCUMENTS_READ,
    rate=Rate.READONLY,
    raises=(CitationNotFound, CitationGone),
)
async def open_citation(ctx: Context, args: OpenCitation) -> One[OpenedCitation]:
    """Show the text as it was cited, whether its document still says it, and where; 410 after a purge."""
    pin = parse_pin(args.citation_id)
    if pin is None:
        raise CitationNotFound
    async with ctx.snapshot() as tx:
        row = await queries.open_pin(tx, pin, ctx.principal.user_id)
    if row is None or (row["deleted"] and not row["purged"]):
        raise CitationNotFound
    if row["purged"] or row["quote"] is None:
        raise CitationGone
    if not pin.holds(row["quote"]):
        raise CitationNotFound
    place = row["place"]
    length = pin.end - pin.start
    now = (
        Standing(revision=row["current_revision"], start_index=place, end_index=place + length)
        if place is not None
        else None
    )
    opened = OpenedCitation(
        id=args.citation_id,
        document_id=pin.document_id,
        document_title=row["title"],
        chunk_id=pin.chunk_id,
        revision=pin.revision,
        start_index=pin.start,
        end_index=pin.end,
        quote=row["quote"],
        quote_hash=digest_of(row["quote"]).hex(),
        changed=now is None,
        current_revision=row["current_revision"],
        current=now,
        trust=row["trust"],
    )
    return One(data=opened)


def _limitations(args: Reason, limit: int, gathered: Gathered, draft: Draft, missing: list[str]) -> list[str]:
    """Say what the search itself left out."""
    found = []
    count = len(gathered.passages)
    where = "this document" if args.document_id else "this collection" if args.collection_id else "the documents"
    if not count:
        found.append(f"No indexed passage of {where} was found.")
    elif not draft.answer:
        found.append(f"None of the {count} nearest passages of {where} answers this.")
    if gathered.left:
        found.append(f"Only the {count} nearest passages were read; others may say more.")
    if args.limit > limit:
        found.append(f"limit {args.limit} is over the cap; at most {MAX_LIMIT} passages are read.")
    if count and missing:
        found.append(f"No passage read mentions: {', '.join(missing[:_MISSING])}.")
    if gathered.notice is not None:
        found.append(gathered.notice)
    if gathered.pending:
        found.append(f"Still being indexed, and perhaps not read: {gathered.pending} of {gathered.total} documents.")
    return found
