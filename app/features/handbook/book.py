"""The handbook of one service: its texts filled with the facts, and the search in them."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from app.edge.discovery.wording import environment
from app.features.connect.service import clients
from app.features.handbook.guides import ROOT
from app.gate.policy import Feature, Meter, Rate
from app.kit.markdown.html import slug

if TYPE_CHECKING:
    from app.edge.discovery.facts import Facts, Guide

MAX_RESULTS = 50
_EXCERPT = 240
_HEADING = re.compile(r"^(#{1,3}) +(.+)$", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"[a-z0-9]+")
_TITLE_WEIGHT = 3
_REFERENCE_WEIGHT = 0.4
"""The references have every word many times; the pages that explain come first."""
_COMMON = frozenset(
    re.split(" ", "a an and are at can do does for from how i in is it my of on or the to what when with")
)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page: where it stands, what it is about, and its Markdown."""

    guide: Guide
    markdown: str

    @property
    def name(self) -> str:
        """The last part of its address."""
        return self.guide.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class _Section:
    leaf: Leaf
    title: str
    anchor: str
    text: str
    words: Counter[str]

    def weight(self, word: str, usual: float) -> float:
        """Weigh how often a word is here, against the section's length (BM25)."""
        found = self.words[word] * (_REFERENCE_WEIGHT if self.leaf.guide.section == "Reference" else 1.0)
        return found / (found + 1.2 * (0.25 + 0.75 * self.words.total() / usual))


class Book:
    """All pages, written once for the process."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    @cached_property
    def leaves(self) -> dict[str, Leaf]:
        """The pages by name, in their order."""
        facts, texts = self.facts, environment(Path(__file__).with_name("pages"))
        guides = clients(facts.url, facts.product)
        context: dict[str, Any] = {"facts": facts, "clients": guides, "schema": _schema, "rest": _rest(facts)}
        context |= {"rates": list(Rate), "meters": list(Meter), "features": list(Feature)}
        found = ((guide.path.rpartition("/")[2], guide) for guide in facts.guides if guide.path.startswith(f"{ROOT}/"))
        return {name: Leaf(guide, texts.get_template(f"{name}.md").render(**context)) for name, guide in found}

    @cached_property
    def index(self) -> str:
        """The start page of the handbook."""
        lines = [f"# {self.facts.product}: handbook", "", self.facts.summary, ""]
        section = ""
        for leaf in self.leaves.values():
            if leaf.guide.section != section:
                section = leaf.guide.section
                lines += [f"## {section}", ""]
            lines.append(f"- [{leaf.guide.title}]({self.facts.url}{leaf.guide.path}): {leaf.guide.description}")
            if leaf is list(self.leaves.values())[-1] or self._next(leaf).guide.section != section:
                lines.append("")
        return "\n".join([*lines, f"Programs read [the index]({self.facts.url}{ROOT}/llms.txt) of all pages.", ""])

    def _next(self, leaf: Leaf) -> Leaf:
        found = list(self.leaves.values())
        return found[found.index(leaf) + 1]

    @cached_property
    def shelf(self) -> list[tuple[str, str, str]]:
        """The pages for a navigation: each with its section, path and title."""
        return [(leaf.guide.section, leaf.guide.path, leaf.guide.title) for leaf in self.leaves.values()]

    @cached_property
    def llms(self) -> str:
        """The index in the form of llmstxt.org."""
        head = f"# {self.facts.product}: handbook\n\n> {self.facts.summary}\n\nEvery page is its address plus `.md`.\n"
        sections: dict[str, list[str]] = {}
        for leaf in self.leaves.values():
            line = f"- [{leaf.guide.title}]({self.facts.url}{leaf.guide.path}.md): {leaf.guide.description}"
            sections.setdefault(leaf.guide.section, []).append(line)
        return head + "".join(f"\n## {name}\n\n" + "\n".join(lines) + "\n" for name, lines in sections.items())

    @cached_property
    def llms_full(self) -> str:
        """Every page, one after the other."""
        pages = [leaf.markdown.strip() for leaf in self.leaves.values()]
        return f"# {self.facts.product}: handbook\n\n> {self.facts.summary}\n\n" + "\n\n---\n\n".join(pages) + "\n"

    def find(self, path: str) -> Leaf | None:
        """Find a page by its address, path or name, with or without `.md`, fragment and slash."""
        parts = urlsplit(path.strip())
        if parts.netloc and parts.netloc != urlsplit(self.facts.url).netloc:
            return None
        name = parts.path.strip("/").removesuffix(".md").removeprefix(ROOT.strip("/")).strip("/")
        return self.leaves.get(name)

    def search(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Find the sections that have the rarest of the query's words most often."""
        asked = set(_words(query))
        words = asked - _COMMON or asked
        rarity = {word: self._rarity(word) for word in words}
        scored = [
            (sum(rarity[word] * section.weight(word, self._length) for word in words), section)
            for section in self._sections
        ]
        best = sorted((item for item in scored if item[0] > 0), key=lambda item: -item[0])[: min(limit, MAX_RESULTS)]
        top = best[0][0] if best else 1.0
        return [self._result(section, score / top) for score, section in best]

    @cached_property
    def _length(self) -> float:
        return sum(section.words.total() for section in self._sections) / max(1, len(self._sections))

    def _rarity(self, word: str) -> float:
        having = sum(1 for section in self._sections if word in section.words)
        return math.log(1 + len(self._sections) / having) if having else 0.0

    def _result(self, section: _Section, score: float) -> dict[str, Any]:
        guide = section.leaf.guide
        title = guide.title if section.title == guide.title else f"{guide.title}: {section.title}"
        where = f"{guide.path}#{section.anchor}"
        flat = " ".join(section.text.split())
        excerpt = flat if len(flat) <= _EXCERPT else flat[: _EXCERPT - 1] + "…"
        url = f"{self.facts.url}{where}"
        return {"title": title, "path": guide.path, "url": url, "excerpt": excerpt, "score": round(score, 3)}

    @cached_property
    def _sections(self) -> list[_Section]:
        return [section for leaf in self.leaves.values() for section in _cut(leaf)]


def _cut(leaf: Leaf) -> list[_Section]:
    text = leaf.markdown
    hidden = [match.span() for match in _FENCE.finditer(text)]
    heads = [
        match for match in _HEADING.finditer(text) if not any(start <= match.start() < end for start, end in hidden)
    ]
    found: list[_Section] = []
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        body, title = text[head.end() : end].strip(), head[2].strip("` ")
        words = Counter(_words(body))
        for word in _words(f"{title} {leaf.guide.title}"):
            words[word] += _TITLE_WEIGHT
        found.append(_Section(leaf, title, slug(head[2]), body, words))
    return found


def _words(text: str) -> list[str]:
    """Take words as they are, and without a plural's last letter."""
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in _WORD.findall(text.lower())]  # noqa: PLR2004


def _schema(tool: Any) -> str:
    return json.dumps(tool.input_schema, indent=2, ensure_ascii=False)


def _rest(facts: Facts) -> dict[str, list[Any]]:
    """Group the operations by the first word of their path."""
    found: dict[str, list[Any]] = {}
    for face in facts.faces:
        found.setdefault(re.split(r"[/:{]", face.path.removeprefix("/v1/"))[0], []).append(face)
    return found
