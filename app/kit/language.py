"""Which language a text is in, as the name of Postgres's text-search configuration for it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

ENGLISH: Final = "english"
SIMPLE: Final = "simple"
"""Words as they stand: for scripts that Postgres has no stemmer for."""

_SAMPLE: Final = 20_000
_SHARE: Final = 0.3
"""Of the letters, from which a script that is not Latin decides: names and code in between are Latin anyway."""
_ENOUGH: Final = 2
"""Function words that another language than English must show, and more of them than English."""

_SCRIPTS: Final[dict[str, re.Pattern[str]]] = {
    # Thai to Khmer, kana, ideographs, Hangul: written without spaces, or with endings that no stemmer knows
    SIMPLE: re.compile(
        "[\u0590-\u05ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
        "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]"
    ),
    "arabic": re.compile("[\u0600-\u06ff\u0750-\u077f]"),
    "armenian": re.compile("[\u0530-\u058f]"),
    "greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "hindi": re.compile("[\u0900-\u097f]"),
    "russian": re.compile("[\u0400-\u04ff]"),
    "tamil": re.compile("[\u0b80-\u0bff]"),
}

NOT_LATIN: Final = frozenset(_SCRIPTS)
"""What `detect` answers for texts that are not in the Latin script."""

_WORDS: Final = {
    language: frozenset(words.split())
    for language, words in {
        ENGLISH: "the of and to in is that it for was on are as with be this have not by at from they you or which we",
        "danish": "og at det er til på med af ikke den der som har jeg var vil kan skal fra men eller efter også",
        "dutch": "de het een van en is dat op te in zijn voor niet met aan er om ook als maar bij naar deze wordt",
        "finnish": "ja on ei että se oli hän mutta joka kun niin ovat tai myös kuin sen tämä olla jos vain",
        "french": "le la les de des et est une un du que qui dans pour pas sur au avec ce il elle sont par plus nous",
        "german": "der die das und ist nicht ein eine zu den mit von sich auf für dem des im wird auch als wir sind",
        "hungarian": "a az és hogy nem egy is van meg ez ha csak de már volt vagy mint el azt lesz minden",
        "italian": "il lo la gli di che e è un una per non con del della sono da nel si come anche più questo alla",
        "norwegian": "og i det er til på som en med av ikke den har jeg for var vil kan skal fra men eller etter også",
        "portuguese": "o os as de que e é um uma não para com do da em se por mais no na são como dos ao foi seu",
        "romanian": "și în de la cu nu este că pe un o care din mai sunt pentru se fi ca dar prin sau după",
        "spanish": "el la los las de que y es un una no en por con para se del al lo como más su está son pero",
        "swedish": "och att det är som en på för med av inte den till har jag var ett om men de kan från eller ska",
        "turkish": "ve bir bu için ile de da çok ne gibi daha olarak var olan ama ya değil kadar sonra en her",
    }.items()
}
_LETTERS: Final = {
    language: frozenset(letters)
    for language, letters in {
        "danish": "æøå",
        "finnish": "äö",
        "french": "àâçèéêëîïôùûœ",
        "german": "äöüß",
        "hungarian": "áéíóöőúüű",
        "italian": "àèéìòù",
        "norwegian": "æøå",
        "portuguese": "àáâãçéêíóôõú",
        "romanian": "ăâîșşțţ",
        "spanish": "áéíñóú",
        "swedish": "åäö",
        "turkish": "çğıöşü",
    }.items()
}
_ASCII: Final = frozenset(map(chr, range(128)))
_WORD: Final = re.compile(r"[^\W\d_]+")


def detect(text: str) -> str:
    """Name the configuration for a text, judged by its beginning; without evidence it is English.

    A script decides where one does; among languages of the Latin script their commonest words are counted.
    """
    sample = text[:_SAMPLE].casefold()
    words = _WORD.findall(sample)
    letters = sum(map(len, words))
    if not letters:
        return ENGLISH
    if not sample.isascii():
        counts = {name: len(script.findall(sample)) for name, script in _SCRIPTS.items()}
        name = max(counts, key=lambda script: counts[script])
        if counts[name] >= _SHARE * letters:
            return name
    return _by_words(Counter(words), set(text[:_SAMPLE].lower()) - _ASCII)


def _by_words(words: Counter[str], letters: set[str]) -> str:
    """Count function words; where there is one, as in a title, a letter that its language has counts as another."""
    hits = {
        language: sum(count for word, count in words.items() if word in known) for language, known in _WORDS.items()
    }
    for language, known in _LETTERS.items():
        if hits[language] and letters & known:
            hits[language] += 1
    best = max(hits, key=lambda language: hits[language])  # English comes first, and wins ties
    return best if hits[best] >= _ENOUGH else ENGLISH
