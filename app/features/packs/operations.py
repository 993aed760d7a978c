"""What can be done with packs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.features.collections import service as collections
from app.features.collections.errors import CollectionNotFound
from app.features.documents.errors import DocumentNotFound
from app.features.navigation.service import gather
from app.features.packs import queries, service
from app.features.packs.errors import PackNotFound
from app.features.packs.schemas import MAX_TOKENS, GetPack, MakePack, Manifest, Pack
from app.features.packs.service import Begun, Piece
from app.features.search.service import THRESHOLD
from app.gate.operation import Context, effect, query
from app.gate.policy import Rate, Scope
from app.kit.schema import One

if TYPE_CHECKING:
    from app.store.tx import Tx

_CANDIDATES = 200
_MOST_BYTES = 16
"""Bytes a token beyond which a text cannot fit its budget: none but runs of blanks comes to more."""


async def _compose(ctx: Context, args: MakePack) -> tuple[Manifest, str]:
    """Choose the texts; a query is embedded before anything is read."""
    budget = min(args.tokens, MAX_TOKENS)
    if args.query is None:
        async with ctx.snapshot() as tx:
            pieces, pending, notice = await _whole(tx, args, budget), 0, None
            begun = await _begun(tx, pieces[0], budget) if pieces else None
    else:
        begun = None
        # not reranked: of a model that may fail, the same request would have other bytes
        found = await gather(ctx, args.query, args, _CANDIDATES, reranked=False)
        fit = [passage for passage in found.passages if passage.by_words or passage.score >= THRESHOLD]
        rows, pending, notice = [passage.row for passage in fit], found.pending, found.notice
        pieces = [
            Piece(
                row["document_id"],
                row["document_title"],
                row["revision"],
                row["start_index"],
                row["end_index"],
                tuple(row["section_path"]),
                row["content"],
            )
            for row in rows
        ]
    return await service.compose(args, budget, pieces, begun, pending, notice)


async def _whole(tx: Tx, args: MakePack, budget: int) -> list[Piece]:
    """Read whole documents, as they are now, until no more can fit."""
    if args.collection_id is not None:
        await collections.require(tx, args.collection_id)
        members = await queries.list_members(tx, args.collection_id, args.document_id)
        ids = [row["id"] for row in members]
    else:
        assert args.document_id is not None
        ids = [args.document_id]
    pieces, room = [], budget * _MOST_BYTES
    for document_id in ids:
        row = await queries.read_document(tx, document_id, room)
        if row is None:
            continue
        content = row["content"]
        pieces.append(Piece(row["id"], row["title"], row["revision"], 0, len(content or ""), (), content))
        room -= row["size"] if content is not None else 0
    if not pieces and args.document_id is not None:
        raise DocumentNotFound
    return pieces


async def _begun(tx: Tx, first: Piece, budget: int) -> Begun:
    """Read where the passages of the first text end, and of one that is too long as many as might fit."""
    ends = await queries.list_ends(tx, first.document_id)
    if first.text is not None:
        return Begun(first, ends)
    end = max([*ends[:1], *(end for end in ends if end <= budget * _MOST_BYTES)], default=0)
    texts = await queries.read_texts(tx, [(first.document_id, first.revision, 0, end)])
    return Begun(replace(first, text="".join(texts)), ends)


@effect(
    "packs.make",
    prepare=_compose,
    scope=Scope.DOCUMENTS_READ,
    rate=Rate.READONLY,
    raises=(DocumentNotFound, CollectionNotFound),
)
async def make_pack(ctx: Context, args: MakePack, composed: tuple[Manifest, str]) -> One[Pack]:  # noqa: ARG001
    """Put what is stored about a query, or in a collection or document, into one text of at most so many tokens.

    The same request over the same texts gives the same bytes and the same `hash`, under which the pack can be got
    again. It lists the revisions that it quotes, counts its tokens exactly, and says what it left out and why. Where no
    whole document fits, the first goes in from its beginning. `notice` tells that, and where nothing stored fits the
    query or its best passage has no room.
    """
    manifest, text = composed
    kept = manifest.model_dump(mode="json", by_alias=True)
    await queries.put_pack(ctx.tx, manifest.digest, kept, sorted(manifest.named))
    trust = await queries.read_trust(ctx.tx, manifest.documents, ctx.principal.user_id)
    return One(data=Pack.of(manifest, text, trust))


@query("packs.get", scope=Scope.DOCUMENTS_READ, rate=Rate.READONLY, raises=(PackNotFound,))
async def get_pack(ctx: Context, args: GetPack) -> One[Pack]:
    """Get a pack again by its hash, byte for byte, whatever became of its documents' later revisions.

    It is kept for 30 days after it was made last, and not beyond the deletion of a document that it names.
    """
    if args.digest is None:
        raise PackNotFound
    async with ctx.snapshot() as tx:
        row = await queries.get_pack(tx, args.digest)
        if row is None:
            raise PackNotFound
        manifest = Manifest.model_validate(row["manifest"])
        if not manifest.named <= set(row["seen"]):
            raise PackNotFound
        spans = [
            (item.document_id, item.revision, span.start_index, span.end_index)
            for item in manifest.documents
            for span in item.spans
        ]
        texts = await queries.read_texts(tx, spans)
        trust = await queries.read_trust(tx, manifest.documents, ctx.principal.user_id)
    if len(texts) != len(spans):
        raise PackNotFound
    text = service.render(manifest.documents, texts)
    if service.digest_of(text) != manifest.text_hash:
        raise PackNotFound
    return One(data=Pack.of(manifest, text, trust))
