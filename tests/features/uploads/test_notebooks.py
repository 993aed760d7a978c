"""Notebooks are read as they were written: Markdown, code in its language, and what the code put out."""

from __future__ import annotations

import json
import uuid

import pytest

from app.features.uploads import converting
from app.kit.markdown.outline import sections
from app.store.confined import Confined
from app.store.readers import Unreadable
from tests.contract.requirements import proves
from tests.support.files import notebook

PYTHON = {"language_info": {"name": "python"}}


def markdown(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source, *outputs):
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source, "outputs": list(outputs)}


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def display(**data):
    return {"output_type": "display_data", "metadata": {}, "data": {k.replace("_", "/"): v for k, v in data.items()}}


def read(*cells, **metadata):
    book = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return converting.convert({"kind": "ipynb"}, json.dumps(book, ensure_ascii=False).encode())


def content(*cells):
    return read(*cells, **PYTHON)["content"]


TEXT = """# Größe – 大きさ

| Größe | Wert |
|---|---|
| 長さ | `ü` |

```sh
echo "é"  # no heading
```

1. Ein *Punkt*, $a_b$ und <b>fett</b>
"""


@proves("UPLOAD-KINDS")
@pytest.mark.parametrize("source", [TEXT, TEXT.splitlines(keepends=True)], ids=["text", "lines"])
def test_markdown_stays_as_it_stands(source):
    found = read(markdown(source), code("x = 'ü'"), **PYTHON)
    assert found["content"] == f"{TEXT}\n```python\nx = 'ü'\n```\n"
    assert found["title"] == "Größe – 大きさ"


def test_code_is_fenced_in_the_language_of_the_kernel_longer_than_any_fence_in_it():
    source = 'print("```")\nprint("````")'
    assert content(code(source)) == f"`````python\n{source}\n`````\n"
    assert read(code("1"), kernelspec={"name": "ir", "language": "R"})["content"] == "```R\n1\n```\n"
    for metadata in ({}, {"language_info": {"name": "a`\n# b"}}):
        assert read(code("1"), **metadata)["content"] == "```\n1\n```\n"


def test_texts_that_were_put_out_are_fenced_as_they_were_seen():
    shown = [
        stream("10%\r 50%\r100%\n"),
        stream(["\x1b[31mrot\x1b[0m\r\n", "````\n"], "stderr"),
        {
            "output_type": "execute_result",
            "execution_count": 1,
            "metadata": {},
            "data": {"text/plain": ["a  b\n", "1  ü"]},
        },
        {"output_type": "error", "ename": "ValueError", "evalue": "nö", "traceback": ["\x1b[0;31m…"]},
    ]
    said = ["`````\n100%\nrot\n````\n`````", "```\na  b\n1  ü\n```", "```\nValueError: nö\n```"]
    assert content(code("f()", *shown)) == "\n\n".join(["```python\nf()\n```", *said]) + "\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"image_png": "iVBORw0", "text_plain": "<Figure size 640x480 with 1 Axes>"}, "*image*"),
        ({"image_svg+xml": "<svg/>"}, "*image*"),
        ({"text_html": "<table>…</table>"}, "*HTML*"),
        ({"text_html": "<table>…</table>", "text_plain": "   a\n0  1"}, "```\n   a\n0  1\n```"),
        (
            {"text_markdown": "**ja**", "text_plain": "<IPython.core.display.Markdown object>"},
            "```markdown\n**ja**\n```",
        ),
        ({"text_plain": "<object at 0x7f>"}, "```\n<object at 0x7f>\n```"),
        ({"application_vnd.x+json": {"a": 1}}, "*data*"),
        ({}, None),
    ],
)
def test_of_what_has_no_text_the_kind_is_named(data, expected):
    assert content(code("f()", display(**data))) == "\n\n".join(filter(None, ["```python\nf()\n```", expected])) + "\n"


def test_what_is_put_out_at_length_is_cut_and_the_kinds_of_many_pictures_are_named_once():
    pictures = [display(image_png="x")] * 50 + [display(text_html="x")]
    found = content(code("f()", stream("a" * 9_990), *pictures, display(text_plain="b" * 30), display(text_plain="c")))
    said = [
        "`" * 3 + "\n" + "a" * 9_990 + "\n```",
        "```\n" + "b" * 10 + "\n```",
        "*21 more characters*",
        "*image, HTML*",
    ]
    assert found == "\n\n".join(["```python\nf()\n```", *said]) + "\n"
    assert "more characters" not in content(code("f()", stream("a" * 10_000)))


@pytest.mark.parametrize(
    "opening", ["```py\nx = 1", "~~~~\n```", "- a\n\n  ```\n  x"], ids=["ticks", "tildes", "in a list"]
)
def test_a_block_that_a_cell_leaves_open_ends_with_the_cell(opening):
    found = content(markdown(opening), markdown("## Next"), code("x"))
    assert [section.heading for section in sections(found)] == [None, "Next"]
    assert found.startswith(opening)


def test_raw_cells_are_text_and_empty_ones_nothing():
    raw = {"cell_type": "raw", "metadata": {}, "source": r"\newpage ü"}
    assert content(markdown(" \n"), raw, code(""), code("", stream("x"))) == "\\newpage ü\n\n```\nx\n```\n"


def test_the_title_is_the_notebooks_own_or_the_first_heading_outside_of_code():
    cells = code("# Imports\nimport x"), markdown("```\n# In a block\n```\n\n## Die Reise")
    assert read(*cells)["title"] == "Die Reise"
    assert read(*cells, title="Mein Heft")["title"] == "Mein Heft"
    assert read(cells[0])["title"] is None


OLD = {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [{"cell_type": "markdown", "source": "a"}]}]}


@proves("UPLOAD-REFUSED")
@pytest.mark.parametrize(
    ("body", "why", "step"),
    [
        (json.dumps(OLD).encode(), "another format than nbformat 4", "save it"),
        (notebook("x").replace(b'"nbformat": 4', b'"nbformat": 5'), "another format than nbformat 4", "save it"),
        (notebook("x")[:-20], "its JSON is broken", "the whole notebook"),
        (b"[" * 1_000_000, "its JSON is broken", "the whole notebook"),
        (b'{"a": 1}', "no notebook", "save it"),
        (b"[1]", "no notebook", "save it"),
        (notebook("x").replace(b'["1 + 1"]', b"1"), "no notebook", "save it"),
        (notebook(" ").replace(b"1 + 1", b""), "it holds no text", ""),
    ],
    ids=["nbformat 3", "nbformat 5", "cut", "deep", "other object", "list", "bent", "empty"],
)
async def test_what_is_no_notebook_of_today_says_why_and_what_helps(body, why, step):
    with pytest.raises(Unreadable) as refused:
        await Confined().call(uuid.uuid4(), "app.features.uploads.converting:convert", {"kind": "ipynb"}, body)
    assert why in str(refused.value)
    assert step in refused.value.step
