"""Archives that are read back: whole, or refused."""

from __future__ import annotations

import gzip
import io

import pytest

from app.kit import archive
from tests.contract.requirements import proves

ID = "0198c0de-0000-7000-8000-000000000000"
FILES = [
    (archive.MANIFEST, archive.manifest()),
    (f"documents/{ID}.md", b"---\nid: 1\n---\n\n" + bytes(4000)),
    (f"documents/{ID}.jsonl", b'{"type": "document"}\n'),
]
MEMBERS = [archive.pack(archive.tar_entry(path, content)) for path, content in FILES]
WHOLE = b"".join([*MEMBERS, archive.pack(archive.END)])
TAR = gzip.decompress(WHOLE)


def read(content):
    return list(archive.files(io.BytesIO(content)))


@proves("IMPORT-WHOLE")
@pytest.mark.parametrize("more", [b"", archive.pack(bytes(9 * 1024))])
def test_a_whole_archive_gives_its_files(more):
    assert read(WHOLE + more) == FILES


@proves("IMPORT-WHOLE")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_archive_that_ends_with_a_member_is_cut_short(count):
    found = archive.files(io.BytesIO(b"".join(MEMBERS[:count])))
    assert [next(found) for _ in range(count)] == FILES[:count]
    with pytest.raises(archive.ArchiveError, match=f"cut short.* after {FILES[count - 1][0]}"):
        next(found)


@proves("IMPORT-WHOLE")
@pytest.mark.parametrize("size", range(512 + len(FILES[0][1]), len(TAR), 499))
def test_an_archive_that_is_cut_anywhere_and_compressed_again_is_cut_short(size):
    with pytest.raises(archive.ArchiveError, match="cut short"):
        read(gzip.compress(TAR[:size]))


@proves("IMPORT-WHOLE")
@pytest.mark.parametrize("size", range(len(MEMBERS[0]), len(WHOLE), 7))
def test_an_archive_whose_bytes_are_cut_is_cut_short(size):
    with pytest.raises(archive.ArchiveError, match="cut short"):
        read(WHOLE[:size])


@proves("IMPORT-WHOLE")
@pytest.mark.parametrize("more", [WHOLE, archive.pack(b"more"), b"no gzip", archive.pack(bytes(2**21))])
def test_what_follows_the_end_is_never_passed_over(more):
    with pytest.raises(archive.ArchiveError, match="damaged"):
        read(WHOLE + more)


@proves("IMPORT-WHOLE")
def test_a_damaged_entry_ends_nothing_quietly():
    at = TAR.index(b"documents/" + ID.encode() + b".jsonl")
    with pytest.raises(archive.ArchiveError, match="damaged"):
        read(gzip.compress(TAR[:at] + b"\xff" * 512 + TAR[at + 512 :]))


@proves("IMPORT-WHOLE")
@pytest.mark.parametrize(
    "content",
    [b"", b"text", gzip.compress(b"", mtime=0), gzip.compress(archive.END, mtime=0), WHOLE[len(MEMBERS[0]) :]],
)
def test_what_begins_with_no_manifest_is_no_archive(content):
    with pytest.raises(archive.ArchiveError, match="no archive"):
        read(content)


def test_files_are_bounded_together():
    with pytest.raises(archive.TooLargeError):
        list(archive.files(io.BytesIO(WHOLE), 4000))
