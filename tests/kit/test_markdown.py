"""What `app.kit.markdown` promises about sections and chunks, on ordinary, random and hostile text."""

from __future__ import annotations

import gc
import hashlib
import time
from collections.abc import Callable
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kit.markdown import Chunk, Level, chunk, sections
from app.kit.markdown.blocks import MAX_HEADING, MAX_LINES
from app.kit.markdown.packing import HARD_MAX, TARGET
from tests.support.corpus import markdown_files

DOCUMENT = UUID("0192f0c1-2222-7333-8444-555566667777")
OTHER = UUID("0192f0c1-2222-7333-8444-555566667778")

LINES = st.sampled_from(
    [
        "",
        "",
        " ",
        "# One",
        "## Two *bold*",
        "###### Six #",
        "Under",
        "===",
        "---",
        "- item",
        "  - nested",
        "1. first",
        "> quote",
        "> # quoted",
        "```",
        "~~~",
        "    code",
        "| a | b |",
        "|---|---|",
        "<div>",
        "<!--",
        "-->",
        "Prose with a sentence. And another one! A third?",
        "word " * 90,
        "漢字の文章。" * 30,
        "x" * 900,
        "\t- tab",
        "[ref]: /x",
        "\u2028",
        "a\u2028# b",
        "\x0b",
        "\0",
        "...",
        "\ufeff",
        "e\u0301" * 5,
        "**Ann** (May 1): hello",
    ]
)
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(st.tuples(LINES, st.sampled_from(["\n", "\n", "\r\n", "\r", ""]))).map(
        lambda lines: "".join(line + end for line, end in lines)
    ),
)


def of(level: Level, chunks: list[Chunk]) -> list[Chunk]:
    return [one for one in chunks if one.level is level]


@given(TEXTS)
def test_sections_tile_the_text(text: str) -> None:
    found = sections(text)
    assert "".join(text[one.start : one.end] for one in found) == text
    assert all(one.start <= one.body_start <= one.end for one in found)
    assert len({one.anchor for one in found}) == len(found)
    for number, one in enumerate(found):
        assert (one.heading is None) == (one.level == 0)
        if one.parent is not None:
            assert one.parent < number
            assert found[one.parent].level < one.level
            assert one.path == (*found[one.parent].path, one.heading)


@given(TEXTS)
def test_paragraphs_hold_all_text_of_their_section_once(text: str) -> None:
    chunks = chunk(DOCUMENT, "Title", text)
    made = of(Level.SECTION, chunks)
    found = sections(text)
    above = {section.parent for section in found}
    for place, (section, part) in enumerate(zip(found, made, strict=True)):
        spans = [(one.start, one.end) for one in of(Level.PARAGRAPH, chunks) if one.parent_id == part.id]
        bare = (
            section.heading
            and place not in above
            and not text[section.body_start : section.end].strip().strip("\ufeff")
        )
        position = section.start if bare else section.body_start
        for start, end in spans:
            assert position <= start < end <= section.end
            assert all(one.isspace() or one == "\ufeff" for one in text[position:start])
            position = end
        assert not text[position : section.end].strip().strip("\ufeff")
        assert (part.start, part.end) == ((spans[0][0], position) if spans else (section.body_start,) * 2)


@given(TEXTS, st.text(max_size=20))
def test_chunks_are_slices_with_unique_ids_and_true_digests(text: str, title: str) -> None:
    chunks = chunk(DOCUMENT, title, text)
    assert chunks == chunk(DOCUMENT, title, text)
    assert len({one.id for one in chunks}) == len(chunks)
    assert not {one.id for one in chunks} & {one.id for one in chunk(OTHER, title, text)}
    for one in chunks:
        assert text[one.start : one.end] == one.content
        assert one.indexed_text.endswith(one.content)
        assert one.text_digest == hashlib.sha256(one.indexed_text.encode("utf-8", "surrogatepass")).digest()
        assert one.level is not Level.PARAGRAPH or 0 < len(one.content) <= HARD_MAX


@given(TEXTS)
def test_links_form_the_tree(text: str) -> None:
    chunks = chunk(DOCUMENT, "Title", text)
    by_id = {one.id: one for one in chunks}
    for one in chunks:
        assert (one.parent_id is None) == (one.level is Level.DOCUMENT)
        if one.next_id:
            after = by_id[one.next_id]
            assert after.prev_id == one.id
            assert (after.level, after.parent_id) == (one.level, one.parent_id)
            assert after.ordinal > one.ordinal
    for level in Level:
        assert [one.ordinal for one in of(level, chunks)] == list(range(len(of(level, chunks))))
    order = list(Level)
    assert [order.index(one.level) for one in chunks] == sorted(order.index(one.level) for one in chunks)


# Front matter is read at the beginning alone, and whether a text is a conversation depends on the whole of it.
@given(
    TEXTS.filter(lambda text: not text.startswith("---") and "** (" not in text),
    st.text("abc xyz.", min_size=1, max_size=60),
)
def test_an_edit_in_one_section_keeps_the_ids_of_the_others(text: str, words: str) -> None:
    head = "# Edited\n\nbody\n\n"
    before = chunk(DOCUMENT, "Title", f"{head}# Kept\n\n{text}")
    after = chunk(DOCUMENT, "Title", f"{head}More {words}\n\n# Kept\n\n{text}")
    kept = {one.id for one in before if one.section_path[:1] != ("Edited",) and one.level is not Level.DOCUMENT}
    assert kept <= {one.id for one in after}


def test_a_heading_without_anything_below_is_a_text_itself() -> None:
    text = "# Plan\n\n## Freeze the wombat\n## Next\n\nMore.\n\n## Tell platypus\n"
    found = of(Level.PARAGRAPH, chunk(DOCUMENT, "Title", text))
    assert [(one.header, one.content) for one in found] == [
        ("Title > Plan", "## Freeze the wombat"),
        ("Title > Plan > Next", "More."),
        ("Title > Plan", "## Tell platypus"),
    ]


def test_equal_texts_have_ids_by_occurrence() -> None:
    one = chunk(DOCUMENT, "Title", "# A\n\nsame\n\n# B\n\nx\n\n# A\n\nsame\n")
    two = chunk(DOCUMENT, "Title", "# A\n\nsame\n\n# A\n\nsame\n")
    ids = [{part.id for part in of(Level.PARAGRAPH, chunks) if part.content == "same"} for chunks in (one, two)]
    assert len(ids[0]) == 2
    assert ids[0] == ids[1]


def test_ids_do_not_change_between_releases() -> None:
    found = chunk(DOCUMENT, "Title", "# Head\n\nBody.\n")
    assert [str(one.id) for one in found] == [
        "fe17db4d-a531-8c30-8386-ae5d136e563b",
        "d0e210fd-12f9-8036-b4ed-185ff810204c",
        "9adb2222-67b8-8613-90a3-3418346c889e",
    ]


def test_headings_of_every_style() -> None:
    text = "lead\n\n# A [link](/x) `code` **b** ##\n\nSet\next\n---\n\n### snake_case\n\n"
    text += "## A_\n\n# A_\n\n#\n\n```\n# no\n```\n"
    found = sections(text)
    assert [(one.level, one.heading, one.anchor) for one in found] == [
        (0, None, ""),
        (1, "A link code b", "a-link-code-b"),
        (2, "Set ext", "set-ext"),
        (3, "snake_case", "snake_case"),
        (2, "A_", "a_"),
        (1, "A_", "a_-1"),
        (1, "", "section"),
    ]
    assert found[3].path == ("A link code b", "Set ext", "snake_case")
    assert text[found[2].body_start : found[2].end] == "\n"
    assert text[found[6].body_start :] == "\n```\n# no\n```\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_front_matter_is_preamble(end: str, mark: str) -> None:
    text = mark + end.join(["---", "title: x", "# comment", "---", "# Head", "body"])
    found = sections(text)
    assert [(one.level, one.heading) for one in found] == [(0, None), (1, "Head")]
    assert text[found[1].body_start :] == "body"


def test_a_rule_at_the_top_is_not_front_matter() -> None:
    assert [one.heading for one in sections("---\n\n# A\n\n---\n")] == [None, "A"]
    assert [one.heading for one in sections("---\nopen: yes\n\n# A\n")] == [None, "A"]


@pytest.mark.parametrize("text", ["", "\ufeff", " ", "\n\n", "plain", "# only\n## headings", "a\u2028# b", "\0"])
def test_small_texts(text: str) -> None:
    found = sections(text)
    assert bool(found) == bool(text)
    chunks = chunk(DOCUMENT, "Title", text)
    assert (chunks[0].start, chunks[0].end, chunks[0].parent_id) == (0, len(text), None)
    assert len(of(Level.SECTION, chunks)) == len(found)


def test_a_heading_that_is_too_long_is_text() -> None:
    text = f"# {'long ' * MAX_HEADING}\n\n# Short\n"
    assert [one.heading for one in sections(text)] == [None, "Short"]
    assert "long" in of(Level.PARAGRAPH, chunk(DOCUMENT, "T", text))[0].content


def test_title_and_path_lead_the_indexed_text() -> None:
    chunks = chunk(DOCUMENT, "Guide", "intro\n\n# A\n\n## B\n\nbody\n")
    assert [one.indexed_text for one in chunks[1:]] == [
        "Guide\nintro",
        "Guide > A",
        "Guide > A > B\nbody",
        "Guide\nintro",
        "Guide > A > B\nbody",
    ]
    assert [one.word_count for one in chunks] == [4, 1, 0, 1, 1, 1]
    assert chunks[3].parent_id == chunks[2].id
    assert chunks[-1].section_path == ("A", "B")
    assert chunks[-1].heading == "B"


def contents(text: str) -> list[str]:
    return [one.content for one in of(Level.PARAGRAPH, chunk(DOCUMENT, "T", text))]


def test_passages_end_at_sentences_near_the_target() -> None:
    sentence = "Here is a sentence of some fifty characters, more or less. "
    parts = contents(sentence * 40)
    assert all(part.endswith("less.") and len(part) <= TARGET for part in parts)
    assert all(len(part) > TARGET - len(sentence) for part in parts[:-1])


def test_small_blocks_share_a_passage_but_sections_do_not() -> None:
    assert contents("a\n\n- b\n- c\n\n> d\n\n# H\n\ne\n") == ["a\n\n- b\n- c\n\n> d", "e"]


def test_code_stays_whole_until_the_hard_limit() -> None:
    code = "```\n" + "a = 1\n" * 150 + "```"
    assert contents(f"Run this:\n\n{code}\n\n{'After it. ' * 30}")[0] == f"Run this:\n\n{code}"
    long_code = "```\n" + "    indented = 1\n" * 200 + "```"
    parts = contents(long_code)
    assert len(parts) > 5
    assert all(part.startswith(("```", "    indented")) and len(part) <= TARGET for part in parts)


def test_table_rows_are_not_cut() -> None:
    row = f"| {'cell ' * 100}| b |"
    assert all(part.endswith("|") for part in contents("\n".join(["| a | b |", "|---|---|", *[row] * 5])))


def test_long_lines_are_cut_between_words_and_else_by_length() -> None:
    words = [f"word{number}" for number in range(5_000)]
    assert " ".join(contents(" ".join(words))).split() == words
    blob = "x" * 10_000
    assert "".join(contents(blob)) == blob
    wide = "漢字、" * 3_000
    assert all(part.endswith("、") and len(part) <= TARGET for part in contents(wide))


def test_sample_documents_keep_their_fact_in_one_passage() -> None:
    for sample in markdown_files(40, seed=5):
        assert sum(sample.fact in part for part in contents(sample.text)) == 1
        assert all(one.content == "" or one.content in sample.text for one in chunk(DOCUMENT, "T", sample.text))


def test_too_many_lines_are_read_as_plain_text() -> None:
    text = "# h\nbody\n" * (MAX_LINES // 2 + 1)
    assert [one.heading for one in sections(text)] == [None]
    assert " ".join(contents(text)).split() == text.split()


HOSTILE: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n,
    "bracket lines": lambda n: "[\n" * (n // 8),
    "definitions": lambda n: "[a]: b\n" * (n // 14),
    "quotes": lambda n: "> " * (n // 2),
    "quote lines": lambda n: ("> " * 40 + "a\n") * (n // 82),
    "lazy quote": lambda n: "> " * 40 + "a\n" * (n // 64),
    "headings": lambda n: "# h\n" * (n // 16),
    "long line": lambda n: "word " * (n // 5),
    "blob": lambda n: "x" * n,
    "items in items": lambda n: "- " * (n // 2),
    "deeper items": lambda n: "".join("  " * depth + "- a\n" for depth in range(int(n**0.5))),
    "items": lambda n: "- a\n\n" * (n // 20),
    "crlf": lambda n: "A line of text.\r\n" * (n // 34),
    "line separators": lambda n: "word.\u2028" * (n // 6),
    "tabs": lambda n: ("\t" * 50 + "a\n") * (n // 52),
    "newlines": lambda n: "\n" * n,
    "spaces": lambda n: " " * n + "a",
    "spaces in a word list": lambda n: ("a" + " " * 999) * (n // 1000),
    "dots": lambda n: "." * n,
    "wide stops": lambda n: "。" * n,
    "table": lambda n: "|a|b|\n|-|-|\n" + "|1|2|\n" * (n // 24),
    "html": lambda n: "<a " + "a " * (n // 2),
    "fences": lambda n: "```\n\n" * (n // 10),
    "emphasis in headings": lambda n: ("# " + "*a _[" * 50 + "\n") * (n // 253),
}


def seconds(text: str) -> float:
    gc.disable()  # a full collection walks the whole test process
    try:
        started = time.thread_time()
        chunk(DOCUMENT, "Title", text)
        return time.thread_time() - started
    finally:
        gc.enable()


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_in_proportion(name: str) -> None:
    small, large = (HOSTILE[name](size) for size in (50_000, 200_000))
    best_small = best_large = float("inf")
    # Four times the text: linear time gives 4, quadratic 16. The best of some rounds, and a floor, for busy machines.
    for _ in range(8):
        best_small, best_large = min(best_small, seconds(small)), min(best_large, seconds(large))
        if best_large < 8 * max(best_small, 0.005):
            return
    pytest.fail(f"{best_small:.3f} s, and {best_large:.3f} s for four times the text")


def test_ten_mebibytes_are_chunked() -> None:
    text = ("word " * 15 + "end.\n\n") * (10 * 1024 * 1024 // 81)
    chunks = chunk(DOCUMENT, "Title", text)
    assert (
        sum(one.word_count for one in of(Level.PARAGRAPH, chunks))
        == chunks[0].word_count
        == text.count(" ") + text.count(".")
    )


def test_each_turn_of_a_conversation_is_a_passage_of_its_own():
    text = (
        "Notes before.\n\n**Ann** (3 May): Hello!\n**Bob** (3 May): Hi.\n\nHow are you?\n\n"
        f"**Ann** (4 May): {'A long story. ' * 100}\n"
    )
    found = [entry for entry in chunk(DOCUMENT, "Chat", text) if entry.level is Level.PARAGRAPH]
    assert [entry.content for entry in found[:3]] == [
        "Notes before.",
        "**Ann** (3 May): Hello!",
        "**Bob** (3 May): Hi.\n\nHow are you?",
    ]
    assert [entry.speaker for entry in found[:3]] == [None, "Ann", "Bob"]
    assert [entry.header for entry in found[:4]] == ["Chat", "", "", ""]
    assert found[1].indexed_text == "**Ann** (3 May): Hello!"
    assert len(found) > 4  # what is too long for one passage goes on under the speaker's name
    assert {(entry.header, entry.speaker) for entry in found[4:]} == {("Ann (4 May)", "Ann")}
    assert "".join(entry.content for entry in found).replace(" ", "").replace("\n", "") == text.replace(
        " ", ""
    ).replace("\n", "")


def test_a_text_with_one_bold_word_before_a_colon_is_no_conversation():
    text = "**Note** (2024): read this.\n\nSome text.\n\nMore text.\n\n**Note** (2025): and this.\n\nEnd.\n"
    found = [entry for entry in chunk(DOCUMENT, "Manual", text) if entry.level is Level.PARAGRAPH]
    assert [entry.speaker for entry in found] == [None]
