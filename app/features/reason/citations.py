"""Citations: what they pin, their ids, which need no storage, and the marks in an answer."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from uuid import UUID

from app.features.reason.schemas import Citation
from app.kit.sanitize import sanitize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from app.features.navigation.service import Passage

_PREFIX: Final = "cit_"
_FORM: Final = struct.Struct(">B16s16sIII16s")
_VERSION: Final = 1
_HASH_BYTES: Final = 16
MAX_QUOTE: Final = 2_000
"""Characters; no passage is longer."""

_SAYS = re.compile(r"\w")
_ENDS = re.compile(
    r"(?:(?<=\w{3}[.!?…])|(?<=\][.!?…]))[\"'’”)*_]*(?:[ \t]*\[\[[^\[\]]{1,400}\]\])*\s+"
    r"|[。！？][」』）”]*(?:\s*\[\[[^\[\]]{1,400}\]\])*\s*"
)
"""Where a sentence ends, with the marks behind it; initials and the shortest abbreviations end none."""
_MARK = re.compile(r"[ \t]*\[\[([^\[\]]{1,400})\]\]")


@dataclass(frozen=True, slots=True)
class Pin:
    """A span of one revision of a document, by code points, with the digest of its text."""

    document_id: UUID
    chunk_id: UUID
    revision: int
    start: int
    end: int
    digest: bytes

    @property
    def text(self) -> str:
        """The id on the wire. It holds no secret: whoever opens it must be able to read the document."""
        packed = _FORM.pack(
            _VERSION,
            self.document_id.bytes,
            self.chunk_id.bytes,
            self.revision,
            self.start,
            self.end,
            self.digest[:_HASH_BYTES],
        )
        return _PREFIX + base64.urlsafe_b64encode(packed).decode().rstrip("=")

    def holds(self, quote: str) -> bool:
        """Tell whether a text is the one that was pinned."""
        return digest_of(quote)[:_HASH_BYTES] == self.digest[:_HASH_BYTES]


def parse_pin(text: str) -> Pin | None:
    """Read an id of a citation; None when it is none of ours."""
    raw = text.removeprefix(_PREFIX)
    try:
        packed = base64.b64decode(raw + "=" * (-len(raw) % 4), altchars=b"-_", validate=True)
        version, document_id, chunk_id, revision, start, end, digest = _FORM.unpack(packed)
    except (binascii.Error, ValueError, struct.error):
        return None
    if raw == text or version != _VERSION or not start < end <= min(start + MAX_QUOTE, 2**31 - 1) or revision >= 2**31:
        return None
    return Pin(UUID(bytes=document_id), UUID(bytes=chunk_id), revision, start, end, digest)


def digest_of(quote: str) -> bytes:
    """Digest a quote."""
    return hashlib.sha256(quote.encode()).digest()


def cite(passage: Passage, start: int, end: int, score: float) -> Citation:
    """Cite a span of a passage; offsets are into the passage's text."""
    row = passage.row
    quote = row["content"][start:end]
    first = row["start_index"] + start
    digest = digest_of(quote)
    pin = Pin(row["document_id"], row["id"], row["revision"], first, first + len(quote), digest)
    return Citation(
        id=pin.text,
        chunk_id=row["id"],
        document_id=row["document_id"],
        document_title=row["document_title"],
        score=score,
        revision=row["revision"],
        start_index=pin.start,
        end_index=pin.end,
        quote=quote,
        quote_hash=digest.hex(),
        trust=row["trust"],
    )


def mark(chunk_id: UUID) -> str:
    """Write the mark of a citation as it stands in an answer."""
    return f"[[{chunk_id}]]"


def unmarked(text: str, ours: Iterable[str] = ()) -> str:
    """Fit a text that others wrote into an answer: without hidden characters, and no mark in it but `ours`."""
    kept = "".join(f"{re.escape(one)}|" for one in ours)
    doubled = rf"{kept}\[(?=\[)|\](?=\])"
    return re.sub(doubled, lambda found: found[0] if len(found[0]) > 1 else f"{found[0]} ", sanitize(text))


def said_as(quote: str) -> str:
    """Fit a quote into a line of an answer."""
    return " ".join(unmarked(quote).splitlines())


@dataclass(frozen=True, slots=True)
class Validated:
    """What a model said, as far as it rests on passages: the chunks that it cites, and how much was taken out."""

    text: str
    cited: list[UUID]
    dropped: int
    """Citations that named no gathered passage."""
    removed: int
    """Statements without a citation that holds."""
    claims: list[tuple[str, list[UUID]]]
    """What was kept, sentence by sentence without marks, with the chunks that each rests on."""

    @property
    def says(self) -> bool:
        """Whether there is a word beside the marks."""
        return any(_SAYS.search(statement) for statement, _ in self.claims)


def validated(text: str, known: Mapping[str, UUID]) -> Validated:
    """Rewrite a model's marks into ours, and take out what names no gathered passage and what rests on none.

    A mark is good for its sentence and for those before it in the line that have none of their own. A line that ends in
    a colon may introduce those that follow. `known` maps what a model may write between the brackets to the chunk that
    it means.
    """
    marks = _Marks(known)
    lines: list[str] = []
    removed = 0
    waiting: list[str] = []
    for line in sanitize(text).splitlines():
        kept, gone = _supported(line, marks)
        if not kept and line.rstrip().endswith(":"):
            waiting.append(line)
            continue
        removed += gone
        if not kept and gone:
            continue
        if kept:
            lines += waiting
            waiting.clear()
        lines.append(kept)
    said = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    said = unmarked(said, map(mark, marks.cited))  # taking marks out may have made others
    return Validated(said, list(marks.cited), marks.dropped, removed + len(waiting), marks.claims)


class _Marks:
    """The marks of an answer, counted while they are rewritten."""

    def __init__(self, known: Mapping[str, UUID]) -> None:
        self._known = known
        self.cited: dict[UUID, None] = {}
        self.dropped = 0
        self.claims: list[tuple[str, list[UUID]]] = []

    def rewritten(self, sentence: str) -> tuple[str, list[UUID] | None]:
        """Rewrite the marks of a sentence; tells the chunks of those that hold, None where it has no mark."""
        held: list[UUID] | None = None

        def rewrite(found: re.Match[str]) -> str:
            nonlocal held
            names = [name.strip().strip("[]").lower() for name in re.split(r"[,;]", found.group(1))]
            chunks = [self._known[name] for name in names if name in self._known]
            self.dropped += len(names) - len(chunks)
            self.cited.update(dict.fromkeys(chunks))
            held = [*(held or []), *chunks]
            return "".join(f" {mark(chunk)}" for chunk in chunks)

        return _MARK.sub(rewrite, sentence), held


def _supported(line: str, marks: _Marks) -> tuple[str, int]:
    """Keep the sentences of a line that rest on a passage; tells how many did not."""
    sentences = [marks.rewritten(sentence) for sentence in _sentences(line)]
    kept: list[str] = []
    removed, rests_on = 0, list[UUID]()
    for sentence, own in reversed(sentences):
        rests_on = own if own is not None else rests_on
        if rests_on:
            kept.append(sentence)
            marks.claims.append((_MARK.sub("", sentence).strip(), rests_on))
        elif _SAYS.search(sentence):
            removed += 1
    return "".join(reversed(kept)).strip(), removed


def _sentences(line: str) -> list[str]:
    """Cut a line behind the ends of its sentences and the marks that follow them."""
    ends = [0, *(found.end() for found in _ENDS.finditer(line)), len(line)]
    return [line[start:end] for start, end in pairwise(ends) if start < end]
