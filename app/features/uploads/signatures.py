"""Tells by first bytes, and by what an archive holds, that a file is not what its name says.

It reads strangers' bytes, so it runs in a confined process.
"""

from __future__ import annotations

import io
import zipfile
from typing import Final

from app.store.readers import Unreadable

_SIGNATURES: Final = {
    b"%PDF-": "PDF",
    b"PK\x03\x04": "ZIP",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "OLE",
    b"{\\rtf": "RTF",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF8": "GIF",
}
_PARTS: Final = {
    "docx": "word/",
    "pptx": "ppt/",
    "xlsx": "xl/",
    "epub": "META-INF/container.xml",
    "odt": "content.xml",
    "ods": "content.xml",
}
"""Kinds that are archives, and what lies in each."""
_MANIFEST: Final = "META-INF/manifest.xml"
"""Where the open formats say that their parts are encrypted."""
_SIGNED: Final = {"pdf": "PDF", "msg": "OLE", "rtf": "RTF"} | dict.fromkeys(_PARTS, "ZIP")
SWOLLEN: Final = ("it unpacks to too much", "Split it into smaller files and upload these.")
_MAX_UNPACKED: Final = 300 * 1024 * 1024

_RENAME: Final = "Give it the name that fits and upload it again, or save it anew."
_WHOLE: Final = "Upload the whole file again."
_OPEN_IT: Final = "Save it without the password, or in the present format, and upload it again."


def check(kind: str, body: bytes) -> None:
    """Refuse a file of another kind than its name says, one that is locked or cut short, and a bomb.

    Raises:
        Unreadable: with the reason.
    """
    found = next((name for start, name in _SIGNATURES.items() if body.startswith(start)), None)
    wanted = _SIGNED.get(kind)
    if kind in _PARTS and found == "OLE":
        raise Unreadable("it is protected by a password, or of an old format like DOC, XLS or PPT", _OPEN_IT)
    if found is not None and found != wanted:
        raise Unreadable(
            f"it is no {kind.upper()} file, whatever its name says: it begins like {_named(found)}", _RENAME
        )
    if kind in _PARTS:
        _check_archive(kind, body)


def _named(signature: str) -> str:
    return {"ZIP": "an Office file or an archive", "OLE": "an old Office file or a mail"}.get(
        signature, f"a {signature}"
    )


def _check_archive(kind: str, body: bytes) -> None:
    if not body.startswith(b"PK"):
        raise Unreadable(f"it is no {kind.upper()} file, or damaged")
    try:
        archive = zipfile.ZipFile(io.BytesIO(body))
    except zipfile.BadZipFile:
        raise Unreadable("it is cut short or damaged", _WHOLE) from None
    entries, names = archive.infolist(), archive.namelist()
    if not any(name.startswith(_PARTS[kind]) for name in names):
        other = next((key for key, part in _PARTS.items() if any(name.startswith(part) for name in names)), None)
        like = f": it holds what {other.upper()} files hold" if other else ""
        raise Unreadable(f"it is no {kind.upper()} file, whatever its name says{like}", _RENAME)
    if sum(entry.file_size for entry in entries) > _MAX_UNPACKED:
        raise Unreadable(*SWOLLEN)
    if any(entry.flag_bits & 1 for entry in entries) or (
        _MANIFEST in names and b"encryption-data" in archive.read(_MANIFEST)
    ):
        raise Unreadable("it is protected by a password", _OPEN_IT)
