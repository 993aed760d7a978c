"""Writes files as Markdown; runs in a confined process (`app.store.confined`).

A library is loaded by the kinds that need it: to load all takes several times as long as to read a small file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.features.uploads.encodings import NO_ENCODING, in_utf8
from app.features.uploads.signatures import SWOLLEN, check
from app.features.uploads.wording import LINE_HYPHEN, lacks_nothing, title_of, unescaped, with_headings
from app.kit.code import code_block
from app.kit.decoding import decoded
from app.kit.kinds import LANGUAGES, MEDIA_TYPES
from app.store.readers import Unreadable

if TYPE_CHECKING:
    from kreuzberg import ExtractionResult
    from lxml.html import HtmlElement

_NO_TEXT = "it holds no text"
_SCAN = ("it holds no text, only pictures of it perhaps", "Let a scan's text be recognised (OCR) and upload it again.")
_LOCKED = ("it is protected by a password", "Save it without the password and upload it again.")
_NESTED = ("its tags are nested too deeply", "Save it in another format, or send its text with POST /v1/documents.")
_OTHER_NAME = "Give it the name that says what it is and upload it again."
_MAX_DEPTH = 60
"""Levels of tags that the converter follows; what lies deeper it would leave out without a word."""
_READ_ONCE = ("csv", "tsv", "html", "htm")
"""Kinds whose plain text tells nothing more: of a page it is made from its Markdown; of a table it repeats the head."""
_ESCAPED = ("docx", "odt", "pptx", "xlsx", "ods", "csv", "tsv", "eml", "msg")
"""Kinds whose text the converter escapes, each mark of punctuation."""
_WRAPPERS = ("div", "section", "article", "main", "center", "span", "font")


def convert(options: dict[str, Any], body: bytes) -> dict[str, Any]:
    """Read a file of a known `kind`: its `content` as Markdown and, where it tells one, its `title`."""
    kind = options["kind"]
    check(kind, body)
    found = _converted(kind, body) if kind in MEDIA_TYPES else {"content": _text(body, kind)}
    if not found["content"].strip():
        raise Unreadable(*(_SCAN if kind == "pdf" else (_NO_TEXT,)))
    return found


def _converted(kind: str, body: bytes) -> dict[str, Any]:
    if kind == "ipynb":
        return _notebook(body)
    own = None
    body = in_utf8(kind, body)
    if kind in ("html", "htm"):
        own, body = _bare_html(body)
    content, metadata = _pdf(body) if kind == "pdf" else _office(kind, body)
    return {"content": content, "title": title_of(own, metadata, _headed(kind, content))}


def _headed(kind: str, content: str) -> str:
    """Give the part whose headings are sure: later ones of a PDF are guesses, and sheets are headed by their names."""
    return {"pdf": content.lstrip().partition("\n")[0], "xlsx": "", "ods": ""}.get(kind, content)


def _notebook(body: bytes) -> dict[str, Any]:
    """Read a notebook; its headings are asked of the parser, since comments in its code look like some."""
    from app.features.uploads.notebooks import read_notebook
    from app.kit.markdown.blocks import parse

    content, metadata = read_notebook(body)
    headed = "\n".join(f"{'#' * heading.level} {heading.text}" for heading in parse(content).headings)
    return {"content": content, "title": title_of(None, metadata, headed)}


def _pdf(body: bytes) -> tuple[str, dict[str, Any]]:
    """Take the library's Markdown where it holds all that the pages say; else the pages, with the headings it found.

    Its tables are guesses from where words stand: prose becomes one, a ruled one is missed. Lines of text lose nothing.
    """
    result = _extract("pdf", body, "markdown", pages=True)
    pages = "\n\n".join(page["content"].replace("\r\n", "\n").strip("\n") for page in result.pages or [])
    pages = pages.replace(LINE_HYPHEN, "")
    whole = "\n|" not in f"\n{result.content}" and lacks_nothing(result.content, pages)
    return result.content if whole else with_headings(pages, result.content), dict(result.metadata)


def _office(kind: str, body: bytes) -> tuple[str, dict[str, Any]]:
    """Take the Markdown, unless the plain text of the same file says more."""
    result = _extract(kind, body, "markdown")
    content = unescaped(result.content) if kind in _ESCAPED else result.content
    if kind not in _READ_ONCE and not lacks_nothing(content, plain := _extract(kind, body, "plain").content):
        content = plain
    return content, dict(result.metadata)


def _extract(kind: str, body: bytes, form: str, *, pages: bool = False) -> ExtractionResult:
    """Read a file with nothing left out: by itself the library drops what it takes for running heads and repetition."""
    from kreuzberg import ContentFilterConfig, ExtractionConfig, PageConfig, extract_bytes_sync
    from kreuzberg.exceptions import KreuzbergError

    everything = ContentFilterConfig(
        include_headers=True, include_footers=True, include_watermarks=True, strip_repeating_text=False
    )
    by_page = PageConfig(extract_pages=True) if pages else None
    config = ExtractionConfig(output_format=form, use_cache=False, content_filter=everything, pages=by_page)
    try:
        return extract_bytes_sync(body, MEDIA_TYPES[kind], config=config)
    except KreuzbergError as error:
        if "password" in str(error):
            raise Unreadable(*_LOCKED) from None
        if "Security limit exceeded" in str(error):  # of a file's parts, their sizes and number
            raise Unreadable(*SWOLLEN) from None
        raise Unreadable(f"it is damaged, or no {kind.upper()} file") from None


def _bare_html(body: bytes) -> tuple[str | None, bytes]:
    """Take the head off a page: the converter would write it into the text; and wrappers, where tags nest deeply."""
    from lxml import etree, html

    parser = html.HTMLParser(huge_tree=True, encoding="utf-8")
    root = html.document_fromstring(body, parser=parser)
    title = root.findtext("head/title")
    for head in root.findall("head"):
        root.remove(head)
    if _is_deep(root):
        for element in list(root.iter(*_WRAPPERS)):
            if len(element) == 1 and not (element.text or "").strip() and not (element[0].tail or "").strip():
                element.tag = "wrapper"
        etree.strip_tags(root, "wrapper")
    if _is_deep(root) or any(fault.type_name == "ERR_RESOURCE_LIMIT" for fault in parser.error_log):
        raise Unreadable(*_NESTED)
    return title, html.tostring(root, encoding="utf-8")


def _is_deep(root: HtmlElement) -> bool:
    return bool(root.xpath(f"boolean({'/*' * _MAX_DEPTH})"))


def _text(body: bytes, kind: str) -> str:
    """Keep text as it is; code and data as a block."""
    text = decoded(body)
    if text is None:
        raise Unreadable(*NO_ENCODING)
    if "\x00" in text:
        raise Unreadable("it is no text", _OTHER_NAME)
    language = LANGUAGES.get(kind)
    if language is None or not text.strip():
        return text
    return code_block(text, language) + "\n"
