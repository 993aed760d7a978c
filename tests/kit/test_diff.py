"""Diffs by line and three-way merges, held against a reader of unified diffs and against random texts."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.kit import diff

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d\r\n"]), max_size=30).flatmap(
    lambda lines: st.sampled_from(["".join(lines), "".join(lines) + "open"])
)


def applied(old, patch):
    """Apply a unified diff as any reader would."""
    lines, out, position = diff.lines_of(old), [], 0
    for line in patch.splitlines(keepends=True):
        if head := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(head[1]) - (head[2] != "0")
            out.extend(lines[position:start])
            position = start
        elif line.startswith("\\"):
            out[-1:] = [line.removesuffix("\n") for line in out[-1:]]
        elif line.startswith("+"):
            out.append(line[1:])
        else:
            assert lines[position].rstrip("\n") == line[1:].rstrip("\n")
            if line.startswith(" "):
                out.append(lines[position])
            position += 1
    return "".join([*out, *lines[position:]])


@given(texts, texts)
def test_lines_join_to_the_text_and_changes_rebuild_the_other(old, new):
    before, after = diff.lines_of(old), diff.lines_of(new)
    assert "".join(before) == old
    rebuilt, position = [], 0
    for change in diff.changes(before, after):
        rebuilt += before[position : change.old_start] + after[change.new_start : change.new_end]
        position = change.old_end
    assert rebuilt + before[position:] == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("", "a\n"),
        ("a\n", ""),
        ("a", "a\n"),
        ("a\n", "a"),
        ("".join(f"{n}\n" for n in range(40)), "".join(f"{n}\n" for n in range(40) if n not in (3, 20)) + "end"),
    ],
)
def test_a_unified_diff_can_be_applied(old, new):
    patch = "".join(diff.unified(diff.lines_of(old), diff.lines_of(new), diff.changes(*map(diff.lines_of, (old, new)))))
    # A mark of a missing line end belongs to the line above it, on whichever side that stands.
    assert applied(old, patch).rstrip("\n") == new.rstrip("\n")


def test_a_unified_diff_has_the_usual_form():
    old, new = "one\ntwo\nthree\n", "one\n2\nthree\nfour"
    assert diff.unified_text(diff.lines_of(old), diff.lines_of(new), 1000) == (
        "@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n\\ No newline at end of file\n"
    )


def test_a_long_diff_is_cut_and_says_so():
    found = diff.unified_text([], [f"{n}\n" for n in range(1000)], 100)
    assert len(found) < 150
    assert found.endswith("@@ cut at 100 characters @@\n")


def merged(base, mine, theirs):
    return diff.merge(*map(diff.lines_of, (base, mine, theirs)))


BASE = "".join(f"{n}\n" for n in range(10))


def test_changes_apart_are_both_made():
    mine, theirs = BASE.replace("2\n", "two\n"), BASE.replace("7\n", "") + "end\n"
    assert merged(BASE, mine, theirs).text == BASE.replace("2\n", "two\n").replace("7\n", "") + "end\n"


@pytest.mark.parametrize(
    ("mine", "theirs", "lines"),
    [
        (BASE.replace("2\n", "x\n"), BASE.replace("2\n", "y\n"), (2, 3)),
        (BASE + "x\n", BASE + "y\n", (10, 10)),
        (BASE.replace("2\n", "x\n"), BASE.replace("3\n", "y\n"), (2, 4)),
        (BASE.replace("2\n3\n4\n", ""), BASE.replace("3\n", "y\n"), (2, 5)),
    ],
    ids=["same line", "both append", "neighbours", "within"],
)
def test_changes_that_overlap_or_touch_conflict(mine, theirs, lines):
    assert merged(BASE, mine, theirs) == diff.Merge(None, (lines,))


def test_the_same_change_on_both_sides_is_made_once():
    both = BASE.replace("2\n", "x\n")
    assert merged(BASE, both, both + "end\n").text == both + "end\n"


@given(texts, texts)
def test_a_merge_with_an_unchanged_side_is_the_other_side(base, changed):
    assert merged(base, changed, base).text == changed
    assert merged(base, base, changed).text == changed
    assert merged(base, changed, changed).text == changed


@given(texts, texts, texts)
@settings(max_examples=200)
def test_who_comes_first_does_not_matter(base, mine, theirs):
    one, other = merged(base, mine, theirs), merged(base, theirs, mine)
    assert one.text == other.text


@pytest.mark.parametrize("line", ["x\n", ""])
def test_hostile_texts_take_no_time(line):
    old = [line or f"{n}\n" for n in range(30_000)]
    new = [line or f"{-n}\n" for n in range(29_000)] + ["y\n"]
    started = time.perf_counter()
    diff.changes(old, new)
    diff.merge(old, new, new[5:])
    assert time.perf_counter() - started < 2
