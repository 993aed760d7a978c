"""Notebooks (nbformat 4) as Markdown; runs in a confined process."""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ValidationError

from app.kit.code import code_block
from app.kit.decoding import decoded
from app.kit.markdown.fences import closed
from app.store.readers import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERSION: Final = 4
_BROKEN: Final = ("its JSON is broken", "Upload the whole notebook again.")
_NO_NOTEBOOK: Final = ("it is no notebook, or damaged", "Open it in Jupyter, save it, and upload it again.")
_OTHER_VERSION: Final = (
    f"it is a notebook of another format than nbformat {_VERSION}",
    "Open it in Jupyter, save it, and upload it again.",
)
_MAX_OUTPUT: Final = 10_000
"""Characters that are kept of what one cell put out."""
_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_TEXTS: Final = {"text/plain": "", "text/markdown": "markdown", "text/latex": "latex"}
"""Forms of an output that are text, the best first, and the languages of their fences."""
_NAMES: Final = {"image/": "image", "audio/": "audio", "video/": "video", "text/html": "HTML"}
"""What other forms are called, by how their media type begins."""


def _joined(value: object) -> object:
    return "".join(map(str, value)) if isinstance(value, list) else value


_Lines = Annotated[str, BeforeValidator(_joined)]
"""A text, which notebooks write as a list of its lines too."""


class _Output(BaseModel):
    output_type: str
    text: _Lines = ""
    data: dict[str, Any] = {}
    ename: str = ""
    evalue: str = ""


class _Cell(BaseModel):
    cell_type: str
    source: _Lines
    outputs: list[_Output] = []


class _Kernel(BaseModel):
    name: str = ""
    language: str = ""


class _Metadata(BaseModel):
    title: str = ""
    language_info: _Kernel = _Kernel()
    kernelspec: _Kernel = _Kernel()


class _Notebook(BaseModel):
    metadata: _Metadata = _Metadata()
    cells: list[_Cell]


def read_notebook(body: bytes) -> tuple[str, dict[str, Any]]:
    """Write the cells one after another, and give the title that the notebook says it has.

    Markdown and raw cells stay as they are, code and the text that it put out stand in fences; of an output that is no
    text its kind is named.

    Raises:
        Unreadable: it is no notebook, or one of another version.
    """
    book = _loaded(body)
    said = book.metadata.language_info.name or book.metadata.kernelspec.language
    language = said if _LANGUAGE.fullmatch(said) else ""
    parts = [part for cell in book.cells for part in _cell(cell, language)]
    return "".join(f"{part}\n\n" for part in parts)[:-1], {"title": book.metadata.title}


def _loaded(body: bytes) -> _Notebook:
    try:
        found = json.loads(decoded(body) or "")
    except (ValueError, RecursionError):
        raise Unreadable(*_BROKEN) from None
    if isinstance(found, dict) and found.get("nbformat", _VERSION) != _VERSION:
        raise Unreadable(*_OTHER_VERSION)
    try:
        return _Notebook.model_validate(found)
    except ValidationError:
        raise Unreadable(*_NO_NOTEBOOK) from None


def _cell(cell: _Cell, language: str) -> Iterator[str]:
    is_code = cell.cell_type == "code"
    if cell.source.strip():
        yield code_block(cell.source, language) if is_code else closed(cell.source.rstrip("\n"))
    if is_code:
        yield from _outputs(cell.outputs)


def _outputs(outputs: list[_Output]) -> Iterator[str]:
    """Write what a cell put out: texts as long as there is room for them, then what else there was."""
    room, left, others = _MAX_OUTPUT, 0, dict[str, None]()
    for text, form in _forms(outputs):
        if form not in _TEXTS:
            others[next((name for start, name in _NAMES.items() if form.startswith(start)), "data")] = None
            continue
        if shown := text[:room].strip("\n"):
            yield code_block(shown, _TEXTS[form])
        left += max(0, len(text) - room)
        room -= min(room, len(text))
    if left:
        yield f"*{left} more characters*"
    if others:
        yield f"*{', '.join(others)}*"


def _forms(outputs: list[_Output]) -> Iterator[tuple[str, str]]:
    """Give each output in one form: its text, and its media type. What was printed in several pieces is one text."""
    for kind, run in groupby(outputs, key=lambda output: output.output_type):
        if kind == "stream":
            yield _as_seen("".join(output.text for output in run)), "text/plain"
        elif kind == "error":
            yield from ((_as_seen(f"{output.ename}: {output.evalue}"), "text/plain") for output in run)
        else:
            yield from (_form(output.data) for output in run if output.data)


def _form(data: dict[str, Any]) -> tuple[str, str]:
    """Choose a text, unless it only names the object that another form shows, as `<Figure size 640x480>`."""
    for form in _TEXTS:
        text = _joined(data.get(form))
        if isinstance(text, str) and (len(data) == 1 or not _names_an_object(text)):
            return _as_seen(text), form
    return "", next((form for form in data if form not in _TEXTS), "")


def _names_an_object(text: str) -> bool:
    text = text.strip()
    return text.startswith("<") and text.endswith(">") and "\n" not in text


def _as_seen(text: str) -> str:
    """Leave out colours, and what a line's later beginnings wrote over, as progress bars do."""
    lines = _COLOURS.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2].rstrip() for line in lines)
