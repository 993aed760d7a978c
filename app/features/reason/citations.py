"""Citations: what they pin, their ids, which need no storage, and the marks in an answer."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from app.features.reason.schemas import Citation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.features.navigation.service import Passage

_PREFIX: Final = "cit_"
_FORM: Final = struct.Struct(">B16s16sIII16s")
_VERSION: Final = 1
_HASH_BYTES: Final = 16
MAX_QUOTE: Final = 2_000
"""Characters; no passage is longer."""

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
    )


def mark(chunk_id: UUID) -> str:
    """Write the mark of a citation as it stands in an answer."""
    return f"[[{chunk_id}]]"


def validated(text: str, known: Mapping[str, UUID]) -> tuple[str, list[UUID], int]:
    """Rewrite a model's marks into ours; what names no gathered passage is taken out, and counted.

    `known` maps what a model may write between the brackets to the chunk that it means.
    """
    cited: dict[UUID, None] = {}
    dropped = 0

    def rewritten(found: re.Match[str]) -> str:
        nonlocal dropped
        names = [name.strip().strip("[]").lower() for name in re.split(r"[,;]", found.group(1))]
        chunks = [known[name] for name in names if name in known]
        dropped += len(names) - len(chunks)
        cited.update(dict.fromkeys(chunks))
        return "".join(f" {mark(chunk)}" for chunk in chunks)

    return _MARK.sub(rewritten, text).strip(), list(cited), dropped
