"""Sample Markdown documents, the same for a seed on every machine and Python version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeVar

T = TypeVar("T")
Topic = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class SampleDocument:
    """A document that alone holds `fact`, word for word; `question` asks for it in other words."""

    name: str
    title: str
    text: str
    fact: str
    question: str


_FIRST: Final = [
    "Amber",
    "Basalt",
    "Cobalt",
    "Dusty",
    "Ember",
    "Fennel",
    "Granite",
    "Hazel",
    "Indigo",
    "Juniper",
    "Kestrel",
    "Linden",
    "Maple",
    "Nimbus",
    "Ochre",
    "Pewter",
    "Quartz",
    "Russet",
    "Saffron",
    "Tundra",
    "Umber",
    "Velvet",
    "Willow",
    "Xenon",
    "Yarrow",
    "Zephyr",
    "Copper",
    "Marble",
    "Silver",
    "Walnut",
]
_SECOND: Final = [
    "Anchor",
    "Badger",
    "Beacon",
    "Canyon",
    "Falcon",
    "Garden",
    "Harbour",
    "Heron",
    "Island",
    "Jackal",
    "Kettle",
    "Lantern",
    "Meadow",
    "Needle",
    "Otter",
    "Pebble",
    "Quarry",
    "Ridge",
    "Signal",
    "Temple",
    "Tower",
    "Valley",
    "Warbler",
    "Bridge",
    "Orchard",
    "Sparrow",
    "Thistle",
    "Lagoon",
    "Mill",
    "Comet",
]
_PEOPLE: Final = (
    "Zoë Müller",
    "Łukasz Wójcik",
    "Siobhán Ó Briain",
    "Nguyễn Thị Hoa",
    "José Ibáñez",
    "Åsa Lindström",
    "陈伟",
    "佐藤さくら",
    "Олена Шевченко",
    "Amara Okafor",
    "Grace Hughes",
    "Tom Baker",
    "Fatima Zahra",
    "Priya Raman",
    "Χρήστος Παππάς",
)
_PLACES: Final = (
    "Kraków",
    "Valparaíso",
    "Tromsø",
    "Reykjavík",
    "Lyon",
    "Kyoto",
    "Bergen",
    "Nairobi",
    "Québec",
    "Perth",
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_COLOURS: Final = ("green", "orange", "purple", "turquoise", "yellow", "crimson", "grey")

_FACTS: Final = (
    ("Backups of {it} are written every {day} at {hour}:{minute:02d}.", "When is a copy of {it}'s data saved?"),
    ("The person on call for {it} is {person}.", "Who has to be phoned if {it} breaks?"),
    ("{it} was founded in {place} in {year}.", "Where and when did {it} begin?"),
    ("The monthly budget of {it} is {amount} euros.", "How much money may {it} spend each month?"),
    ("{it} refuses requests after {count} failed attempts.", "How often can one get it wrong before {it} blocks?"),
    ("The doors of {it} are painted {colour}.", "What colour is the entrance at {it}?"),
    ("Logs of {it} are deleted after {count} days.", "For how long does {it} keep its log files?"),
    ("{person} chose the name {it} during a trip to {place}.", "Who came up with what {it} is called, and where?"),
)

# Each topic: title words, section headings, subjects, verbs with objects, circumstances.
_TOPICS: Final = (
    (
        ("Runbook", "Deployment guide", "Incident review", "Architecture notes"),
        ("Overview", "Rollout", "Monitoring", "Known issues", "Recovery", "Configuration", "Open questions"),
        ("the scheduler", "each worker", "the load balancer", "a stale cache", "the message queue", "our build server"),
        (
            "retries the request",
            "drops idle connections",
            "reads the new settings",
            "raises an alert",
            "fills the disk",
        ),
        ("after a restart", "when the network is slow", "under heavy load", "before midnight", "without any warning"),
    ),
    (
        ("Garden diary", "Planting plan", "Field notes", "Orchard handbook"),
        ("Spring", "Summer work", "Soil", "Pests", "Tools", "Harvest", "Next year"),
        ("the tomato bed", "an old pear tree", "the compost", "a row of beans", "the greenhouse", "the young hedge"),
        (
            "needs more water",
            "attracts bees",
            "suffers from frost",
            "grows quickly",
            "was pruned twice",
            "shades the path",
        ),
        ("in late April", "near the southern wall", "during the dry weeks", "despite the wind", "as every year"),
    ),
    (
        ("Travel report", "City guide", "Expedition log", "Museum notes"),
        ("Arrival", "Getting around", "Food", "Sights", "History", "Costs", "Tips"),
        ("the night train", "a small bakery", "the old town", "our guide", "the ferry", "the river museum"),
        ("closes at noon", "attracts many visitors", "serves local cheese", "offers a wide view", "costs very little"),
        ("on rainy days", "outside the season", "behind the cathedral", "for most of the week", "with a valid ticket"),
    ),
    (
        ("Research summary", "Lab protocol", "Reading notes", "Experiment record"),
        ("Question", "Method", "Materials", "Results", "Limits", "Discussion", "Further work"),
        ("the control group", "a second sample", "the model", "the sensor", "each participant", "the earlier study"),
        ("shows no effect", "confirms the estimate", "contains some noise", "was measured again", "explains the gap"),
        ("at room temperature", "with high confidence", "across all sites", "under the same light", "within two days"),
    ),
)


def markdown_files(count: int, seed: int) -> Iterator[SampleDocument]:
    """Give `count` different documents of 0.5 to 12 kB; a longer run begins with the documents of a shorter one."""
    names = _subjects(Random(seed))
    for number in range(count):
        # One generator per document, so that a change of one does not ripple through the rest.
        yield _document(Random(f"{seed}/{number}"), number, _subject(names, number))


def _pick(random: Random, items: Sequence[T]) -> T:
    # Only Random.random() is promised to stay the same across Python versions.
    return items[int(random.random() * len(items))]


def _between(random: Random, low: int, high: int) -> int:
    return low + int(random.random() * (high - low + 1))


def _subjects(random: Random) -> list[str]:
    pairs = [f"{first} {second}" for first in _FIRST for second in _SECOND]
    return sorted(pairs, key=lambda _: random.random())


def _subject(names: list[str], number: int) -> str:
    repeat, place = divmod(number, len(names))
    return f"{names[place]} {repeat + 1}" if repeat else names[place]


def _document(random: Random, number: int, subject: str) -> SampleDocument:
    topic = _pick(random, _TOPICS)
    title = f"{_pick(random, topic[0])}: {subject}"
    fact, question = _fact(random, subject)
    size = 100 + int(9_900 * random.random() ** 2)
    parts = [_opening(random, title), f"# {title}", _prose(random, topic)]
    parts += _sections(random, topic, size)
    # Never before the title, and never inside a block: every part is a block of its own.
    parts.insert(_between(random, 3, len(parts)), f"{_sentence(random, topic)} {fact} {_sentence(random, topic)}")
    text = "\n\n".join(part for part in parts if part) + "\n"
    return SampleDocument(f"{number:05d}-{subject.lower().replace(' ', '-')}.md", title, text, fact, question)


def _fact(random: Random, subject: str) -> tuple[str, str]:
    statement, question = _pick(random, _FACTS)
    values = {
        "it": subject,
        "day": _pick(random, _DAYS),
        "hour": _between(random, 1, 23),
        "minute": _between(random, 0, 59),
        "person": _pick(random, _PEOPLE),
        "place": _pick(random, _PLACES),
        "year": _between(random, 1890, 2024),
        "amount": 50 * _between(random, 3, 900),
        "count": _between(random, 3, 90),
        "colour": _pick(random, _COLOURS),
    }
    return statement.format(**values), question.format(**values)


def _opening(random: Random, title: str) -> str:
    if random.random() < 0.8:
        return ""
    return f"---\ntitle: {title!r}\nauthor: {_pick(random, _PEOPLE)}\ntags: [notes, draft]\n---"


def _sections(random: Random, topic: Topic, size: int) -> list[str]:
    parts: list[str] = []
    length = 0
    level = 2
    while length < size:
        level = min(max(2, level + _between(random, -1, 1)), 4)
        made = [f"{'#' * level} {_pick(random, topic[1])}", _prose(random, topic)]
        made.append(_pick(random, (_list, _code, _table, _quote, _prose))(random, topic))
        parts += made
        length += sum(map(len, made))
    return parts


def _sentence(random: Random, topic: Topic) -> str:
    subject, action, circumstance = (_pick(random, words) for words in topic[2:])
    shape = _pick(random, ("{s} {a} {c}.", "{c}, {s} {a}.", "We saw that {s} {a} {c}.", "{s} {a}, says {p}."))
    line = shape.format(s=subject, a=action, c=circumstance, p=_pick(random, _PEOPLE))
    return line[0].upper() + line[1:]


def _prose(random: Random, topic: Topic) -> str:
    return " ".join(_sentence(random, topic) for _ in range(_between(random, 2, 7)))


def _list(random: Random, topic: Topic) -> str:
    ordered = random.random() < 0.3
    items = []
    for number in range(1, _between(random, 3, 7)):
        items.append(f"{f'{number}.' if ordered else '-'} {_sentence(random, topic)}")
        if random.random() < 0.2:
            items.append(f"   - {_sentence(random, topic)}")
    return "\n".join(items)


def _code(random: Random, topic: Topic) -> str:
    name = _pick(random, topic[2]).split()[-1]
    lines = [f"def {name}(limit: int = {_between(random, 2, 99)}) -> int:"]
    lines += [f"    step_{number} = limit * {_between(random, 2, 99)}" for number in range(_between(random, 1, 5))]
    return "\n".join(("```python", *lines, "    # not a heading", "    return step_0", "```"))


def _table(random: Random, topic: Topic) -> str:
    rows = [f"| {_pick(random, topic[2])} | {_between(random, 1, 999)} | {_pick(random, _PLACES)} |" for _ in range(4)]
    return "\n".join(("| What | How many | Where |", "| --- | ---: | --- |", *rows))


def _quote(random: Random, topic: Topic) -> str:
    return f"> {_sentence(random, topic)}\n> — {_pick(random, _PEOPLE)}"
