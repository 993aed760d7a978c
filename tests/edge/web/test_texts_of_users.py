"""Whatever users write, pages show it as text; and pages are light."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from tests.contract.requirements import proves
from tests.support.visitor import signed_in

PAYLOADS = [
    line
    for file in sorted((Path(__file__).parents[2] / "data" / "xss").glob("*.txt"))
    for line in file.read_text(errors="replace").splitlines()
    if line.strip() and "\0" not in line
][::29]
FIRST_LOAD = 150_000


class Tokens(HTMLParser):
    """Collects what a browser could execute, or would fetch from elsewhere."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.bad = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag in ("iframe", "object", "embed", "base", "math", "style", "img", "video", "audio"):
            self.bad.append((tag, attrs))
        if tag == "script" and not re.fullmatch(r"/static/[\w.-]+", values.get("src") or ""):
            self.bad.append((tag, attrs))
        for name, value in attrs:
            link = re.sub(r"[\x00-\x20]", "", value or "").lower()
            if name.startswith("on") or name in ("style", "srcdoc", "formaction"):
                self.bad.append((tag, name, value))
            if name in ("href", "src", "action") and link.startswith(("javascript:", "data:", "vbscript:")):
                self.bad.append((tag, name, value))


@proves("DASH-XSS")
async def test_no_text_of_users_becomes_markup_of_a_page(service, make, alice):
    person = await signed_in(service, make, alice)
    assert len(PAYLOADS) > 30
    text = "\n\n".join(PAYLOADS)
    paths = ["/dashboard", "/dashboard/documents", "/dashboard/prompts", "/dashboard/collections", "/dashboard/audit"]
    for payload in PAYLOADS[:12]:
        short = payload.replace("\t", " ")[:90]
        document = await make.document(alice.client, title=short, content=text, tags=[short])
        paths += [f"/dashboard/documents/{document['id']}{end}" for end in ("", "/edit", "/versions", "?as=stored")]
        prompt = await make.prompt(alice.client, title=short, content=text, description=short, tags=[short])
        paths += [f"/dashboard/prompts/{prompt['id']}{end}" for end in ("", "/edit", "/versions")]
        place = await make.collection(alice.client, name=short, description=short, icon="<b>x", tags=[short])
        paths += [f"/dashboard/collections/{place['id']}{end}" for end in ("", "/edit", "/add")]
    for path in paths:
        answer = await person.get(path)
        assert answer.status_code == 200, path
        assert Tokens(answer.text).bad == [], path
    for payload in PAYLOADS:
        found = await person.get(
            "/dashboard/search", params={"q": payload[:500], "mode": "literal", "tag": payload[:50]}
        )
        assert Tokens(found.text).bad == [], payload


def test_the_tokenizer_finds_what_it_looks_for():
    for text in ("<img src=x>", "<p onclick=x>", '<a href="java\nscript:x">', "<script>x</script>", "<p style=x>"):
        assert Tokens(text).bad


@proves("DASH-WEIGHT")
async def test_the_first_load_is_light_and_asks_no_other_site(service, make, alice):
    person = await signed_in(service, make, alice)
    document = await make.document(alice.client, content="# A\n\nText.\n" * 300)
    for path in ("/dashboard", "/dashboard/documents", f"/dashboard/documents/{document['id']}/edit"):
        shown = await person.get(path)
        size = len(shown.content)
        for file in set(re.findall(r'<(?:link|script)[^>]*(?:href|src)="([^"]+)"', shown.text)):
            assert file.startswith("/static/")
            size += len((await person.get(file)).content)
        assert size <= FIRST_LOAD, (path, size)
