"""Files that a reader must refuse, or not suffer from: locked, bent, and larger than they look."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile

from tests.support import files

_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
OLE = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(2_000)
"""How Office files that are locked by a password begin, and those of the formats before 2007."""


def _rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    out = bytearray()
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def _md5(data: bytes, size: int) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()[:size]


def locked_pdf(text: str, password: bytes) -> bytes:
    """Write a PDF that opens with a password alone (the standard handler's first revision)."""
    identity, permissions, padded = b"0123456789abcdef", -44, (password + _PADDING)[:32]
    owner = _rc4(_md5(padded, 5), padded)
    key = _md5(padded + owner + struct.pack("<i", permissions) + identity, 5)
    page = f"BT /F1 18 Tf 72 720 Td ({text}) Tj ET".encode("latin-1")
    stream = _rc4(_md5(key + (4).to_bytes(3, "little") + bytes(2), 10), page)
    lock = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P %d >>"
    return files.pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            files.pdf_page(4, 5),
            files.pdf_stream(stream),
            files.PDF_FONT,
            lock % (owner.hex().encode(), _rc4(key, _PADDING).hex().encode(), permissions),
        ],
        b" /Encrypt 6 0 R /ID [<%s><%s>]" % ((identity.hex().encode(),) * 2),
    )


def pdf_of_pages(text: str, count: int) -> bytes:
    """Write a PDF of many pages that all show one text."""
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(count))
    page = f"BT /F1 18 Tf 72 720 Td ({text}) Tj ET".encode("latin-1")
    head = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
        files.PDF_FONT,
        files.pdf_stream(page),
    ]
    return files.pdf_of(head + [files.pdf_page(4, 3)] * count)


def docx_with(prologue: str, text: str) -> bytes:
    """Write a DOCX whose text is led in by declarations of XML."""
    packed = zipfile.ZipFile(io.BytesIO(files.docx(text)))
    parts = {name: packed.read(name) for name in packed.namelist()}
    head, _, rest = parts["word/document.xml"].partition(b"?>")
    return files.archive(parts | {"word/document.xml": head + b"?>" + prologue.encode() + rest})


def billion_laughs() -> str:
    """Declare an entity that unfolds to gigabytes."""
    rows = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE l [<!ENTITY l0 "lol">{rows}]>'


def locked_archive(content: bytes) -> bytes:
    """Mark the parts of an archive as encrypted, as archivers do that ask for a password."""
    flagged = _patched(content, b"PK\x03\x04", 6, b"\x01\x00")
    return _patched(flagged, b"PK\x01\x02", 8, b"\x01\x00")


def swollen_archive(content: bytes) -> bytes:
    """Let the directory of an archive declare that each part unpacks to gigabytes."""
    return _patched(content, b"PK\x01\x02", 24, struct.pack("<I", 3 << 30))


def _patched(content: bytes, start: bytes, offset: int, value: bytes) -> bytes:
    out = bytearray(content)
    at = out.find(start)
    while at >= 0:
        out[at + offset : at + offset + len(value)] = value
        at = out.find(start, at + 1)
    return bytes(out)
