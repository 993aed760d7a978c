"""Text for models: hidden characters go, meaningful ones stay."""

from __future__ import annotations

import secrets

import pytest

from app.kit.sanitize import fenced, hidden, one_line, sanitize
from tests.contract.requirements import proves

BIDI = [chr(code) for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
ZERO_WIDTH = (0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x180B, 0x180E, 0x180F, 0x200B, 0x2060, 0x2065, 0x206F, 0x3164)
TAGS = (0xE0001, 0xE0041, 0xE007F, 0xE0080, 0xE0100, 0xE01EF, 0xE0FFF)
HIDDEN = [chr(code) for code in (*ZERO_WIDTH, 0xFEFF, 0xFFA0, 0xFFF0, 0xFFF9, 0x1BCA0, 0x1D173, *TAGS)]
CONTROLS = [chr(code) for code in (*range(9), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, *range(0x80, 0xA0))]
IN_WORDS = "\u115f\u1160\u180b\u180e\u180f"
"""Hidden, but for their place in words of old Korean and Mongolian."""
GONE = [*BIDI, *HIDDEN, *(control for control in CONTROLS if control not in "\x1b\x9b")]

KEPT = [
    "plain text\twith a tab\nand a line",
    "ä é 漢字 한국어 עברית",
    "نمی\u200cخواهم",  # Persian: a non-joiner between letters
    "क्\u200dष",  # Hindi: a joiner after a virama
    "ശ\u0d4d\u200d",  # Malayalam: a chillu at the end of a word
    "ක්\u200dය",  # Sinhala
    "\u115f\u1161 \u1100\u1160 \u115f\u1160\u11a8",  # old Korean: a vowel, a consonant, a final by themselves
    "ᠡᠬ\u180eᠡ ᠮ\u180bᠨ",  # Mongolian: a vowel separator, a form of a letter
    "⠓\u2800⠊",  # Braille: a blank cell
    "👨\u200d👩\u200d👧",  # a family
    "👩🏽\u200d💻",  # with a skin tone
    "🏳\ufe0f\u200d🌈",
    "❤\ufe0f and ❤\ufe0f\u200d🔥",
    "1\ufe0f\u20e3",  # a keycap
    "☎\ufe0e",
]


@pytest.mark.parametrize("character", GONE, ids=lambda character: f"U+{ord(character):04X}")
def test_hidden_characters_go(character):
    assert sanitize(f"a{character}b{character * 3}") == "ab"


@pytest.mark.parametrize("text", KEPT)
def test_meaningful_characters_stay(text):
    assert sanitize(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("a\x9b31mred", "ared"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bcx", "x"),
        ("a\x1b", "a"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\u2028b\u2029c", "a\nb\nc"),
        ("\u115f\u1160", ""),
        ("\u1100\u1160\u1160\u115f한", "\u1100\u1160한"),
        ("ᠬ\u180e\u180e\u180bᠡ", "ᠬ\u180eᠡ"),
        ("a\u200db", "ab"),
        ("a\u200cb", "ab"),
        ("👍\u200d", "👍"),
        ("👍" + "\ufe0f" * 5, "👍\ufe0f"),
        ("👍\ufe00\ufe01", "👍"),
        ("a\ufe0f", "a"),
        ("1\ufe0f", "1"),
        ("نم\u200c\u200c\u200cی", "نمی"),
        ("🏴\U000e0067\U000e0062\U000e007f", "🏴"),
    ],
)
def test_what_only_looks_meaningful_goes(text, expected):
    assert sanitize(text) == expected


def test_sanitizing_twice_changes_nothing():
    alphabet = [*GONE, *"ab1\n\t\r\x1b[;m\u200c\u200d\ufe0f\ufe00👍👩یم\u2028\u1100\u1161\u11a8ᠬ"]
    for _ in range(2_000):
        once = sanitize("".join(secrets.choice(alphabet) for _ in range(12)))
        assert sanitize(once) == once
        assert not set(once) & set(GONE) - set(IN_WORDS)
        assert not set(once) & set("\x1b\r\ufe00\u2028")


def test_one_line_is_one_line():
    assert one_line(" a\n\n# b\u2028c\x85d ") == "a # b c d"
    assert one_line("x" * 400) == "x" * 299 + "…"


def test_content_cannot_close_its_fence():
    body = "end\n</stored-0123456789abcdef>\n"
    first, second = fenced(body, "From a test."), fenced(body, "From a test.")
    assert first != second
    name = first.split("\n")[1].strip("<>")
    assert first.count(f"</{name}>") == 1
    assert first.endswith(f"</{name}>")


@proves("TRUST-HIDDEN")
@pytest.mark.parametrize("character", GONE, ids=lambda character: f"U+{ord(character):04X}")
def test_each_hidden_character_counts(character):
    assert hidden(f"a{character}b{character * 3}\r\n") == 4


@proves("TRUST-HIDDEN")
@pytest.mark.parametrize(
    ("text", "count"),
    [
        *((text, 0) for text in KEPT),
        ("a\r\nb\rc\n", 0),
        ("a\u2028b\u2029c", 0),
        ("a\x1b[31mred\x1b[0m", 9),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", 25),
        ("\U000e0001" + "".join(chr(0xE0000 + ord(letter)) for letter in "obey"), 5),
        ("a\u202eb\u2069\r\n\u200b", 3),
        ("👍\ufe0f\ufe0f\ufe0f", 2),
    ],
)
def test_what_is_hidden_is_counted_exactly(text, count):
    assert hidden(text) == count
