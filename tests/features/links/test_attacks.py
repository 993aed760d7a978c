"""What strangers write on a shared page: it stays text, and costs what it may cost."""

from __future__ import annotations

import asyncio
import html
import json
import re
import time
from pathlib import Path

import pytest

from app.gate.prose import LIMITS, Prose
from app.kit.ids import new_id
from app.kit.markdown.html import strange_html
from app.store.confined import Confined
from tests.contract.requirements import proves
from tests.features.links import corpus
from tests.features.links.test_links import path, share

DATA = Path(__file__).parents[2] / "data/xss"
AS_STORED = "shown as it is stored"


def payloads():
    found = list(corpus.MARKDOWN)
    for file in sorted(DATA.glob("*.txt")):
        text = file.read_text(encoding="utf-8", errors="replace")
        found += [line for line in text.splitlines() if line.strip()]
        found.append(text)
    found += [text for text in json.loads((DATA / "blns.json").read_text()) if text]
    found += [example["markdown"] for example in json.loads((DATA / "commonmark-0.31.json").read_text())]
    return [text.replace("\0", "") for text in found]


@proves("LINK-XSS")
def test_no_payload_becomes_more_than_text_when_it_is_rendered():
    texts = payloads()
    assert len(texts) > 1_700
    wrong = {text[:80]: bad for text in texts if (bad := corpus.judged(strange_html(text, ["https://own.test"])))}
    assert wrong == {}


def test_the_judge_sees_what_a_careless_renderer_lets_through():
    from markdown_it import MarkdownIt

    careless = MarkdownIt("commonmark")
    assert sum(bool(corpus.judged(careless.render(text))) for text in payloads()) > 500


@proves("LINK-BOUNDED")
async def test_a_text_that_would_take_too_long_is_shown_as_it_is_stored_while_others_are_served(alice, make, http):
    browser, reader = await make.browser(alice), make.client()
    text = "[" * (1024 * 1024 - 9) + "\n\n<b>end"
    link = await share(browser, await make.document(alice.client, content=text))
    asked = [asyncio.create_task(reader.get(path(link))) for _ in range(3)]
    served = 0
    while not asked[0].done():
        assert (await http.get("/livez")).status_code == 200
        served += 1
        await asyncio.sleep(0.01)
    answers = await asyncio.gather(*asked)
    assert served > 10
    for answer in answers:
        assert answer.status_code == 200
        assert AS_STORED in answer.text
        assert answer.text.endswith("</html>")
        assert "&lt;b&gt;end" in answer.text


async def test_a_text_is_rendered_once_for_all_who_ask():
    calls = 0

    class Counting(Confined):
        async def call(self, *args):
            nonlocal calls
            calls += 1
            return await super().call(*args)

    prose = Prose(["https://own.test"], Counting(limits=LIMITS))
    text = "A line.\n\n" * 1000
    found = await asyncio.gather(*(prose.html(new_id(), text) for _ in range(5)))
    assert set(found) == {await prose.html(new_id(), text)} == {strange_html(text)}
    assert calls == 1


@pytest.mark.prove
@proves("LINK-XSS")
async def test_no_payload_comes_out_of_the_page(alice, make, service, monkeypatch):
    browser = await make.browser(alice)
    made = await make.document(alice.client)
    link = await share(browser, made)
    wrong = {}
    for number, text in enumerate(payloads()):
        title = (text.strip() or "x")[:500]
        sent = {"title": title if title.strip() else "x", "content": text or " "}
        changed = await alice.client.patch(f"/v1/documents/{made['id']}", json=sent)
        assert changed.status_code == 200, changed.text
        reader = make.client(**{"x-forwarded-for": f"10.20.{number // 100}.7"})
        page = await reader.get(path(link))
        assert page.status_code == 200
        if bad := whole_page(page.text):
            wrong[text[:80]] = bad
    assert wrong == {}


def whole_page(text):
    """Judge the shared text by the allow-list, and the page around it by what its template has."""
    if AS_STORED in text:
        inner, rest = "", text
    else:
        start, end = text.index('<article class="prose" dir="auto">'), text.rindex("</article>")
        inner, rest = text[start + 34 : end], text[:start] + text[end + 10 :]
    tags = {name.lower() for name in re.findall(r"<\s*([a-zA-Z!/][\w!-]*)", rest)}
    frame = {"html", "head", "meta", "title", "link", "body", "main", "header", "h1", "p", "time", "a", "footer", "pre"}
    return corpus.judged(inner) + sorted(tags - frame - {f"/{name}" for name in frame} - {"!doctype", "/"})


@pytest.mark.prove
@proves("LINK-BOUNDED")
async def test_every_pathological_megabyte_is_answered(alice, make, http, capsys):
    browser = await make.browser(alice)
    figures = []
    for number, (name, text) in enumerate(corpus.pathological(1024 * 1024 - 4096).items()):
        made = await make.document(alice.client, content=text[: 1024 * 1024])
        link = await share(browser, made)
        reader = make.client(**{"x-forwarded-for": f"10.30.{number}.7"})
        started = time.perf_counter()
        page = await reader.get(path(link))
        figures.append((name, round(time.perf_counter() - started, 2), AS_STORED in page.text))
        assert page.status_code == 200, name
        assert whole_page(page.text) == [], name
        assert html.unescape(page.text).count("\n") >= 0
    with capsys.disabled():
        print(*figures, sep="\n")
    assert max(seconds for _, seconds, _ in figures) < LIMITS.seconds + 5
