"""Edits in sections and around texts: what is outside stays, and what has no one place is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kit.markdown import Deed, EditError, TextEdit, Where, edited

TEXT = """\
Preface.

# Guide

Intro.

## Install

Run it.

### Linux

apt.

## Notes

First.

# Other

## Notes

Second.
"""


def replace(section=None, find=None, text=""):
    return TextEdit(Deed.REPLACE, section, find, text, None)


def insert(text, section=None, find=None, where=None):
    return TextEdit(Deed.INSERT, section, find, text, where)


def delete(section=None, find=None):
    return TextEdit(Deed.DELETE, section, find, "", None)


def swapped(old, new):
    assert TEXT.count(old) == 1
    return TEXT.replace(old, new)


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (replace("Install", text="Click."), swapped("Run it.\n", "Click.\n")),
        (replace("Guide > Install", text="Click.\n"), swapped("Run it.\n", "Click.\n")),
        (replace("## Install", text="Click."), swapped("Run it.\n", "Click.\n")),
        (replace("Guide > Notes", text="1\n2"), swapped("First.\n", "1\n2\n")),
        (replace("#notes-1", text="2nd."), swapped("Second.\n", "2nd.\n")),
        (replace(find="apt.", text="dnf."), swapped("apt.", "dnf.")),
        (replace("Other", "Second", "2nd"), swapped("Second", "2nd")),
        (delete("Install"), swapped("## Install\n\nRun it.\n\n### Linux\n\napt.\n\n", "")),
        (delete(find="Run it.\n\n"), swapped("Run it.\n\n", "")),
        (insert("More.", "Install"), swapped("Run it.\n", "Run it.\nMore.\n")),
        (insert("More.", "Install", where=Where.START), swapped("## Install\n", "## Install\nMore.\n")),
        (insert("## New\n\n", "Install", where=Where.BEFORE), swapped("## Install\n", "## New\n\n## Install\n")),
        (insert("## New\n\n", "Install", where=Where.AFTER), swapped("apt.\n\n", "apt.\n\n## New\n\n")),
        (insert(" Now", find="Run", where=Where.BEFORE), swapped("Run it.", " NowRun it.")),
        (insert(" fast", find="Run it"), swapped("Run it.", "Run it fast.")),
        (insert("End."), TEXT + "End."),
        (insert("Top.", where=Where.START), "Top.\n" + TEXT),
    ],
)
def test_an_edit_changes_its_place_alone(edit, expected):
    assert edited(TEXT, [edit]) == expected


def test_all_edits_are_looked_up_in_the_text_as_it_was():
    found = edited(TEXT, [replace(find="First.", text="Second."), replace(find="Second.", text="First.")])
    assert found == TEXT.replace("First.", "0").replace("Second.", "First.").replace("0", "Second.")


def test_insertions_at_one_place_keep_their_order():
    assert edited("a\n", [insert("b\n"), insert("c\n")]) == "a\nb\nc\n"


def test_lines_are_ended_as_the_text_ends_its_own():
    assert edited("# A\r\n\r\nx", [insert("y", "A")]) == "# A\r\n\r\nx\r\ny"
    assert edited("a", [insert("b")]) == "a\nb"
    assert edited("", [insert("b")]) == "b"


def test_an_empty_section_gets_its_text_below_the_heading():
    assert edited("# A\n\n# B\n", [replace("A", text="x")]) == "# A\nx\n\n# B\n"


def test_a_heading_in_code_is_no_section():
    with pytest.raises(EditError) as raised:
        edited("# A\n\n```\n# B\n```\n", [replace("B", text="x")])
    assert raised.value.found["sections"] == [{"path": "A", "anchor": "#a"}]


@pytest.mark.parametrize(
    ("edit", "field", "problem", "count"),
    [
        (replace("Notes", text="x"), "section", "ambiguous", 2),
        (replace("Nowhere", text="x"), "section", "absent", 0),
        (replace("#nowhere", text="x"), "section", "absent", 0),
        (replace(find="Notes", text="x"), "find", "ambiguous", 2),
        (replace(find="notes", text="x"), "find", "absent", 0),
        (replace("Other", "First", "x"), "find", "absent", 0),
    ],
)
def test_a_place_that_is_not_one_is_refused_with_what_was_found(edit, field, problem, count):
    with pytest.raises(EditError) as raised:
        edited(TEXT, [insert("x"), edit])
    error = raised.value
    assert (error.number, error.field, error.problem, error.found["count"]) == (1, field, problem, count)


def test_an_ambiguous_text_is_shown_with_its_lines():
    with pytest.raises(EditError, match="2 times, on lines 15, 21") as raised:
        edited(TEXT, [delete(find="## Notes")])
    assert [place["line"] for place in raised.value.found["places"]] == [15, 21]


def test_overlapping_occurrences_are_counted():
    with pytest.raises(EditError, match="2 times"):
        edited("aaa", [replace(find="aa", text="b")])


def test_edits_of_the_same_text_are_refused():
    with pytest.raises(EditError, match="edits 0 and 1 change the same text"):
        edited(TEXT, [replace(find="Run it", text="x"), delete("Install")])


@given(st.text(alphabet="ab# \n\r", max_size=60), st.text(alphabet="ab\n", max_size=5))
def test_appending_keeps_every_byte_before(text, more):
    found = edited(text, [insert(more)])
    assert found.startswith(text)
    assert found.endswith(more)
    assert len(found) - len(text) - len(more) <= 2
