"""Small files of every kind, written byte by byte: nothing of others is needed to make them."""

from __future__ import annotations

import io
import json
import zipfile

_XML = '<?xml version="1.0" encoding="UTF-8"?>'
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_APPLICATION = "application/vnd.openxmlformats-officedocument"


def archive(files: dict[str, str | bytes]) -> bytes:
    """Pack files into an archive, in their order."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return target.getvalue()


def _relations(*targets: tuple[str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="rId{number}" Type="{_DOCUMENT}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'{_XML}<Relationships xmlns="{_RELATIONS}">{rows}</Relationships>'


def _office(main: str, media_type: str, parts: dict[str, str]) -> bytes:
    types = (
        f'{_XML}<Types xmlns="{_TYPES}"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="{media_type}"/></Types>'
    )
    head = {"[Content_Types].xml": types, "_rels/.rels": _relations(("officeDocument", main))}
    return archive(head | parts)


def docx(text: str) -> bytes:
    return docx_of(("Normal", text))


def xlsx(text: str, rows: int = 1) -> bytes:
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    sheets = '<sheets><sheet name="Log" sheetId="1" r:id="rId1"/></sheets>'
    book = f'{_XML}<workbook {space} xmlns:r="{_DOCUMENT}">{sheets}</workbook>'
    cell = f'<c t="inlineStr"><is><t>{text}</t></is></c>'
    data = "".join(f'<row r="{number}">{cell}</row>' for number in range(1, rows + 1))
    sheet = f"{_XML}<worksheet {space}><sheetData>{data}</sheetData></worksheet>"
    parts = {
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": _relations(("worksheet", "worksheets/sheet1.xml")),
        "xl/worksheets/sheet1.xml": sheet,
    }
    return _office("xl/workbook.xml", f"{_APPLICATION}.spreadsheetml.sheet.main+xml", parts)


def pptx(text: str) -> bytes:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    space = f'xmlns:p="{main}" xmlns:a="{drawing}" xmlns:r="{_DOCUMENT}"'
    deck = f'{_XML}<p:presentation {space}><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>'
    body = f"<p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody>"
    shape = f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="T"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>{body}</p:sp>'
    group = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
    tree = f"<p:spTree>{group}{shape}</p:spTree>"
    slide = f"{_XML}<p:sld {space}><p:cSld>{tree}</p:cSld></p:sld>"
    parts = {
        "ppt/presentation.xml": deck,
        "ppt/_rels/presentation.xml.rels": _relations(("slide", "slides/slide1.xml")),
        "ppt/slides/slide1.xml": slide,
    }
    return _office("ppt/presentation.xml", f"{_APPLICATION}.presentationml.presentation.main+xml", parts)


def odt(text: str) -> bytes:
    return _open("text", f'<text:h text:outline-level="1">Log</text:h><text:p>{text}</text:p>')


def ods(text: str) -> bytes:
    cell = f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
    return _open(
        "spreadsheet", f'<table:table table:name="Log"><table:table-row>{cell}</table:table-row></table:table>'
    )


def _open(kind: str, body: str) -> bytes:
    """Write an OpenDocument file."""
    space = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(f'xmlns:{name}="{space}:{name}:1.0"' for name in ("office", "text", "table"))
    media_type = f"application/vnd.oasis.opendocument.{kind}"
    named = (("/", media_type), ("content.xml", "text/xml"))
    entries = "".join(f'<m:file-entry m:full-path="{path}" m:media-type="{of}"/>' for path, of in named)
    inner = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    return archive(
        {
            "mimetype": media_type,
            "META-INF/manifest.xml": f'{_XML}<m:manifest xmlns:m="{space}:manifest:1.0">{entries}</m:manifest>',
            "content.xml": f'{_XML}<office:document-content {spaces} office:version="1.3">{inner}'
            "</office:document-content>",
        }
    )


def epub(text: str) -> bytes:
    container = (
        f'{_XML}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    package = (
        f'{_XML}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="i">x</dc:identifier>'
        "<dc:title>The Book</dc:title><dc:language>en</dc:language></metadata>"
        '<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    chapter = f'{_XML}<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>One</h1><p>{text}</p></body></html>'
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "b.opf": package,
        "a.xhtml": chapter,
    }
    return archive(files)


PDF_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def pdf(text: str) -> bytes:
    return pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            pdf_page(4, 5),
            pdf_stream(f"BT /F1 18 Tf 72 720 Td ({text}) Tj ET".encode("latin-1")),
            PDF_FONT,
        ]
    )


def pdf_of_lines(pages: list[list[str]], title: str = "") -> bytes:
    """Write pages whose lines fill them from edge to edge, the first one large, as a browser prints."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        PDF_FONT,
    ]
    for number, lines in enumerate(pages):
        marks = [
            f"BT /F1 {24 if number == at == 0 else 12} Tf 36 {770 - 27 * at} Td ({line}) Tj ET"
            for at, line in enumerate(lines)
        ]
        objects += [pdf_page(5 + 2 * number, 3), pdf_stream("\n".join(marks).encode("latin-1"))]
    objects.append(b"<< /Title (%s) >>" % title.encode("latin-1"))
    return pdf_of(objects, b" /Info %d 0 R" % len(objects))


def docx_of(*paragraphs: tuple[str, str]) -> bytes:
    """Write paragraphs, each of a style and a text."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    main = f"{_XML}<w:document {space}><w:body>{body}</w:body></w:document>"
    return _office(
        "word/document.xml", f"{_APPLICATION}.wordprocessingml.document.main+xml", {"word/document.xml": main}
    )


def pdf_page(contents: int, font: int) -> bytes:
    """Write a page whose marks and font are the objects of these numbers."""
    resources = b"/Resources << /Font << /F1 %d 0 R >> >>" % font
    return b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R %s >>" % (contents, resources)


def pdf_stream(data: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data)


def pdf_of(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """Number objects from 1, the first of which is the catalogue, and write them with their table."""
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start, size = len(out), len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R%s >>\n" % (size, table, size, trailer)
    return bytes(out) + b"startxref\n%d\n%%%%EOF\n" % start


def notebook(text: str) -> bytes:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": [text]},
        {"cell_type": "code", "metadata": {}, "source": ["1 + 1"], "outputs": [], "execution_count": 1},
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def mail(text: str) -> bytes:
    head = ["From: a@example.test", "To: b@example.test", "Subject: News", "Content-Type: text/plain"]
    return "\r\n".join([*head, "", text, ""]).encode()
