"""Markdown as a tree of sections and as retrieval chunks, with exact offsets into the original text."""

from __future__ import annotations

from app.kit.markdown.chunks import Chunk, Level, chunk
from app.kit.markdown.outline import Section, sections

__all__ = ["Chunk", "Level", "Section", "chunk", "sections"]
