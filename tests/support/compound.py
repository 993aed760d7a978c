"""Writes Outlook messages byte by byte: small streams in a compound file (MS-CFB, version 3; MS-OXMSG)."""

from __future__ import annotations

import struct

_SECTOR, _SMALL, _ENTRY = 512, 64, 128
_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SIGNATURE = bytes.fromhex("d0cf11e0a1b11ae1")
_ROOT, _STREAM = 5, 2
_TEXT = 0x001F
_CLASS, _SUBJECT, _BODY = 0x001A, 0x0037, 0x1000


def msg(subject: str, text: str) -> bytes:
    """Write a message of a subject and a plain text."""
    said = {_CLASS: "IPM.Note", _SUBJECT: subject, _BODY: text}
    streams = {f"__substg1.0_{tag:04X}{_TEXT:04X}": value.encode("utf-16-le") for tag, value in said.items()}
    rows = [
        struct.pack("<IIII", tag << 16 | _TEXT, 6, len(value.encode("utf-16-le")) + 2, 0) for tag, value in said.items()
    ]
    return compound({"__properties_version1.0": bytes(32) + b"".join(rows), **streams})


def compound(streams: dict[str, bytes]) -> bytes:
    """Write streams below the root; each must be smaller than 4,096 bytes, and all of them fit one table."""
    names = sorted(streams, key=lambda name: (len(name), name.upper()))
    small, following, places = b"", list[int](), dict[str, int]()
    for name in names:
        places[name] = len(following)
        following += _chain(len(following), -(-len(streams[name]) // _SMALL))
        small += _padded(streams[name], _SMALL)
    listed = struct.pack(f"<{len(following)}I", *following)
    starts, table = [], [_TABLE]
    for size in (_ENTRY * (len(names) + 1), len(listed), len(small)):
        starts.append(len(table))
        table += _chain(len(table), -(-size // _SECTOR))
    table += [_FREE] * (_SECTOR // 4 - len(table))
    directory = _entry("Root Entry", _ROOT, 1, _FREE, starts[2], len(small))
    for number, name in enumerate(names, 1):
        after = number + 1 if number < len(names) else _FREE
        directory += _entry(name, _STREAM, _FREE, after, places[name], len(streams[name]))
    head = _SIGNATURE + bytes(16)
    head += struct.pack("<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, starts[0], 0, 4096, starts[1], 1, _END, 0)
    head += struct.pack("<109I", 0, *[_FREE] * 108)
    sectors = (struct.pack(f"<{len(table)}I", *table), directory, listed, small)
    return head + b"".join(_padded(part, _SECTOR) for part in sectors)


def _entry(name: str, kind: int, child: int, after: int, start: int, size: int) -> bytes:
    raw = name.encode("utf-16-le") + b"\0\0"
    return raw.ljust(64, b"\0") + struct.pack(
        "<HBBIII16xI8x8xIQ", len(raw), kind, 1, _FREE, after, child, 0, start, size
    )


def _chain(first: int, count: int) -> list[int]:
    return [*range(first + 1, first + count), _END] if count else []


def _padded(content: bytes, size: int) -> bytes:
    return content.ljust(-(-len(content) // size) * size, b"\0")
