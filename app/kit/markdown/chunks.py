"""The retrieval units of a Markdown document: the document, its sections and their passages."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from uuid import UUID

from app.kit.markdown.blocks import Block, Kind, parse
from app.kit.markdown.outline import Section, outline
from app.kit.markdown.packing import HARD_MAX, Span, passages
from app.kit.markdown.turns import Turn, by_turn, find_turns

SEPARATOR: Final = " > "
_MAX_TITLE: Final = 200  # of the header, in characters: it must leave room in the model's window for the content
_MAX_STEP: Final = 80
_NO_ID: Final = UUID(int=0)


class Level(StrEnum):
    """How large a chunk is."""

    DOCUMENT = "document"
    SECTION = "section"
    PARAGRAPH = "paragraph"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrieval unit; `source[start:end]` is its content, in code points, and is not stored twice.

    `ordinal` counts within the level in document order. Siblings share level and parent. `id` and `text_digest`
    depend on the indexed text, not on where it stands. A word that had to be cut counts once for each part.
    """

    id: UUID
    level: Level
    ordinal: int
    parent_id: UUID | None
    prev_id: UUID | None
    next_id: UUID | None
    section_path: tuple[str, ...]
    heading: str | None
    header: str
    start: int
    end: int
    word_count: int
    text_digest: bytes
    speaker: str | None
    """Who says it, where it is a turn of a conversation."""
    source: str = field(repr=False, compare=False)

    @property
    def content(self) -> str:
        """The exact slice of the document's text: the heading line is in it only where it is all there is."""
        return self.source[self.start : self.end]

    @property
    def indexed_text(self) -> str:
        """What is embedded and searched: the title and section path on one line, then the content.

        A turn of a conversation stands for itself: so short a text would drown in titles.
        """
        return _indexed_text(self.header, self.content)


@dataclass(slots=True)
class _Draft:
    """A chunk whose id and siblings are not known yet."""

    level: Level
    parent: _Draft | None
    section: Section | None
    header: str
    span: Span
    speaker: str | None = None
    words: int = 0
    digest: bytes = b""
    id: UUID = _NO_ID


def chunk(document_id: UUID, title: str, text: str) -> list[Chunk]:
    """Give the document, its sections and its paragraphs, in this order and each level in text order."""
    drafts = _drafts(title, text)
    seen: Counter[tuple[Level, bytes]] = Counter()
    for draft in drafts:
        start, end = draft.span
        draft.digest = _sha256(_indexed_text(draft.header, text[start:end]))
        draft.id = _chunk_id(document_id, draft.level, draft.digest, seen[draft.level, draft.digest])
        seen[draft.level, draft.digest] += 1
    following = dict(_sibling_pairs(drafts))
    preceding = {after: before for before, after in following.items()}
    ordinals: Counter[Level] = Counter()
    chunks = []
    for draft in drafts:
        links = (preceding.get(draft.id), following.get(draft.id))
        chunks.append(_finish(draft, ordinals[draft.level], links, text))
        ordinals[draft.level] += 1
    return chunks


def path_of(steps: Iterable[str]) -> str:
    """Write the headings above a text on one line: `Chapter 1 > Section 1.2`."""
    return SEPARATOR.join(steps)


def _drafts(title: str, text: str) -> list[_Draft]:
    structure = parse(text)
    found = outline(text, structure.headings)
    short_title = _clip(title, _MAX_TITLE)
    turns = find_turns(text, structure.blocks)
    document = _Draft(Level.DOCUMENT, None, None, short_title, (0, len(text)))
    by_section: list[_Draft] = []
    paragraphs: list[_Draft] = []
    above = {section.parent for section in found}
    for place, (section, blocks) in enumerate(_with_blocks(found, structure.blocks)):
        parent = document if section.parent is None else by_section[section.parent]
        header = _header(short_title, section.path)
        if not section.heading or blocks or place in above:
            cut = list(_passages(text, blocks, turns, header))
        else:  # a heading with nothing below is a text itself: else nothing would hold its words
            line = [Block(Kind.LINES, section.start, section.body_start)]
            cut = [(span, _header(short_title, section.path[:-1]), None) for span in passages(text, line)]
        own = (cut[0][0][0], cut[-1][0][1]) if cut else (section.body_start, section.body_start)
        draft = _Draft(Level.SECTION, parent, section, header, own)
        for (start, end), over, speaker in cut:
            words = len(text[start:end].split())
            paragraphs.append(_Draft(Level.PARAGRAPH, draft, section, over, (start, end), speaker, words))
            draft.words += words
        document.words += draft.words + len((section.heading or "").split())
        by_section.append(draft)
    return [document, *by_section, *paragraphs]


def _passages(text: str, blocks: list[Block], turns: list[Turn], header: str) -> Iterator[tuple[Span, str, str | None]]:
    """Cut a section, each passage with its header and speaker; a turn is a passage, or several if it is very long."""
    for turn, run in by_turn(blocks, turns):
        if turn is None:
            yield from ((span, header, None) for span in passages(text, run))
            continue
        spans = passages(text, run)
        if spans and spans[-1][1] - spans[0][0] <= HARD_MAX:
            spans = [(spans[0][0], spans[-1][1])]
        for number, span in enumerate(spans):
            yield span, f"{turn.speaker} ({turn.date})" if number else "", turn.speaker


def _with_blocks(found: list[Section], blocks: list[Block]) -> Iterator[tuple[Section, list[Block]]]:
    """Pair each section with the blocks that begin in it; both lists are in text order."""
    position = 0
    for section in found:
        first = position
        while position < len(blocks) and blocks[position].start < section.end:
            position += 1
        yield section, blocks[first:position]


def _header(title: str, path: tuple[str, ...]) -> str:
    """Join title and headings; the last heading is kept whole, since no chunk's content holds it."""
    steps = [*(_clip(step, _MAX_STEP) for step in path[:-1]), *path[-1:]]
    return SEPARATOR.join(step for step in (title, *steps) if step)


def _clip(text: str, limit: int) -> str:
    # Cutting first bounds the work on a hostile title of megabytes.
    words = " ".join(text[: 4 * limit].split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


def _indexed_text(header: str, content: str) -> str:
    return f"{header}\n{content}" if header and content else header or content


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _chunk_id(document_id: UUID, level: Level, digest: bytes, occurrence: int) -> UUID:
    """Derive a version 8 UUID from what makes a chunk the same chunk."""
    name = document_id.bytes + level.value.encode() + b"\0" + digest + occurrence.to_bytes(8, "big")
    raw = bytearray(hashlib.sha256(name).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    return UUID(bytes=bytes(raw))


def _sibling_pairs(drafts: list[_Draft]) -> Iterator[tuple[UUID, UUID]]:
    """Give each chunk's id with that of the next one of the same level and parent."""
    last: dict[tuple[Level, UUID | None], UUID] = {}
    for draft in drafts:
        family = (draft.level, draft.parent.id if draft.parent else None)
        if family in last:
            yield last[family], draft.id
        last[family] = draft.id


def _finish(draft: _Draft, ordinal: int, links: tuple[UUID | None, UUID | None], text: str) -> Chunk:
    return Chunk(
        id=draft.id,
        level=draft.level,
        ordinal=ordinal,
        parent_id=draft.parent.id if draft.parent else None,
        prev_id=links[0],
        next_id=links[1],
        section_path=draft.section.path if draft.section else (),
        heading=draft.section.heading if draft.section else None,
        header=draft.header,
        start=draft.span[0],
        end=draft.span[1],
        word_count=draft.words,
        text_digest=draft.digest,
        speaker=draft.speaker,
        source=text,
    )
