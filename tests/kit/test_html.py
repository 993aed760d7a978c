"""What the renderer adds to strangers' Markdown: anchors of headings, boxes of task lists, marks of what is quoted."""

from __future__ import annotations

import re

from app.kit.markdown import sections
from app.kit.markdown.html import QUOTED_ID, contents, strange_html
from tests.contract.requirements import proves


@proves("DASH-OUTLINE")
def test_headings_have_the_anchors_by_which_sections_are_edited():
    text = "# Fog & `horn`\n\nA\n\n> # Quoted\n\n## دليل\n\n# Fog & `horn`\n\nSet *in\nlines*\n===\n"
    found = contents(strange_html(text))
    assert [entry.text for entry in found] == ["Fog & horn", "دليل", "Fog & horn", "Set in\nlines"]
    assert [entry.level for entry in found] == [2, 3, 2, 2]
    assert [entry.id for entry in found] == [f"t-{one.anchor}" for one in sections(text)]


def test_many_headings_of_one_name_take_no_longer_each():
    assert len(set(contents(strange_html("# a\n\n" * 20_000)))) == 20_000


@proves("DASH-TASKS")
def test_boxes_of_task_lists_are_shown_and_cannot_be_ticked():
    text = "- [ ] open\n- [x] done\n- [X]\tdone too\n\n1. [ ] first\n\n   more\n- [ ]none\n- no [ ] box\n\n[ ] no list"
    boxes = re.findall(r"<input[^>]*>", strange_html(text))
    assert len(boxes) == 4
    assert all('type="checkbox"' in box and 'disabled=""' in box for box in boxes)
    assert [re.search(r'aria-label="([^"]*)"', box)[1] for box in boxes] == ["To do", "Done", "Done", "To do"]
    assert ["checked" in box for box in boxes] == [False, True, True, False]


@proves("DASH-ASK")
def test_the_blocks_that_hold_a_quote_are_marked():
    text = "# Top\r\n\r\nFirst line\r\nof two.\n\n- one\n- two\n\n> said\n\n| a | b |\n|---|---|\n| c | d |\n\n"
    text += "```py\ncode\n```\n"

    def marked(first, last):
        html = strange_html(text, quoted=(text.index(first), text.index(last) + len(last)))
        assert html.count(f'id="{QUOTED_ID}"') == 1
        assert html.index(f'id="{QUOTED_ID}"') < html.index('class="quoted"') + 60
        blocks = re.findall(r'<[^>]*"quoted"[^>]*>(.*?)</(?:p|li|tr|code)>', html, re.DOTALL)
        return [" ".join(re.sub("<[^>]*>", " ", block).split()) for block in blocks]

    assert marked("of two", "two.") == ["First line of two."]
    assert marked("- two", "- two") == ["two"]
    assert marked("one", "said") == ["one", "two", "said"]
    assert marked("| c", "d |") == ["c d"]
    assert marked("code", "code") == ["code"]
    assert "quoted" not in strange_html(text)
    assert QUOTED_ID not in [entry.id for entry in contents(strange_html("# .quote\n\n# quote"))]
