"""Markdown as a tree of sections and as retrieval chunks, with exact offsets into the original text, and its edits."""

from __future__ import annotations

from app.kit.markdown.chunks import SEPARATOR, Chunk, Level, chunk, path_of
from app.kit.markdown.edits import Deed, EditError, TextEdit, Where, edited
from app.kit.markdown.outline import Section, sections

__all__ = [
    "SEPARATOR",
    "Chunk",
    "Deed",
    "EditError",
    "Level",
    "Section",
    "TextEdit",
    "Where",
    "chunk",
    "edited",
    "path_of",
    "sections",
]
