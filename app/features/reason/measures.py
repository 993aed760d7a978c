"""Small numbers that say how much, which or when ("8 days", "port 7", "8 May"), and the words that may stand for them.

Of English, German, French and Spanish; a number that merely counts things is nobody's claim: whoever answers may count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from app.kit.language import detect

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

_MONTHS: Final = """
january february (?-i:March) april (?-i:May) june july august september october november december
januar jänner februar märz mai juni juli oktober dezember
janvier février mars avril juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
jan feb apr jun jul aug sept? oct nov dec okt dez
"""
_UNITS: Final = """
seconds? minutes? hours? days? weeks? months? years?
sekunden? minuten? stunden? tagen? tage wochen? monate?n? jahre?n?
secondes? heures? jours? semaines? mois ans? années?
segundos? minutos? horas? días? semanas? mes meses años?
percent prozent euros? dollars? pounds? cents? degrees? grad miles? metres? meters? meter
kilometres? kilometers? kilometer kilograms? litres? liters? tons? tonnes?
ms min h km m cm mm kg mg g ml kb mb gb tb kib mib gib kw kwh mw hz khz mhz ghz
"""
_LABELS: Final = """
ports? versions? page pages section chapter article paragraph room floor gate
version seite abschnitt kapitel artikel absatz raum zimmer tor chapitre porte página capítulo artículo puerta puerto
"""
_SPELLED: Final = {
    2: "two second twice couple pair both double fortnight zwei beide deux seconde dos segund ambos ii",
    3: "three third triple thrice quarter drei dritt trois tres tercer iii",
    4: "four vier quatre quatrième cuatro cuart iv",
    5: "five fifth fünf cinq cinco quinto quinta v",
    6: "six sixth sixième sechs half-year halbjahr semest seis sexto vi",
    7: "seven sieben siebt sept septième siete séptim week woche wöchentlich semaine semana vii",
    8: "eight acht huit ocho octavo viii",
    9: "nine ninth neun neuf neuvième nueve noveno ix",
    10: "ten tenth zehn dix dixième diez décim decade jahrzehnt décennie década x",
    11: "eleven elf elft onze once undécim xi",
    12: "twelve twelfth zwölf douz doce docena dozen dutzend noon midday year annual jahr jähr année ans año anual xii",
}
"""What may stand for each in a passage: its words, what holds as many of something, and its Roman numeral."""
_SMALLEST: Final = 2
"""Of one and of none the words are too many: a day, no days."""
LARGEST: Final = max(_SPELLED)
_WHOLE_WORD: Final = 3
"""Up to so many letters a word stands for itself; a longer one may begin another: `achttägig`, `eighth`."""
_KNOWN: Final = frozenset({"english", "german", "french", "spanish"})


def _any_of(words: str) -> str:
    return "|".join(words.split())


_BEFORE = re.compile(rf"(?:(?<!\w)(?:{_any_of(_MONTHS)}|{_any_of(_LABELS)})\.?\s|[§$€£]\s?)$", re.IGNORECASE)
_AFTER = re.compile(
    rf"\s?[%‰°€£$]|(?:st|nd|rd|th|er|\.)?[ \u00a0\u202f-]?(?:of |de )?(?:{_any_of(_MONTHS)}|{_any_of(_UNITS)})(?!\w)",
    re.IGNORECASE,
)
_LONGEST: Final = 16
"""Characters of what stands before a number."""


def measure(statement: str, start: int, end: int) -> str:
    """Give the number at a place with its unit, label or month, as it stands; nothing for one without."""
    before = _BEFORE.search(statement, max(start - _LONGEST, 0), start)
    after = _AFTER.match(statement, end)
    if before is None and after is None:
        return ""
    return statement[before.start() if before else start : after.end() if after else end]


def may_be_spelled(value: int, words: AbstractSet[str], passages: Iterable[str]) -> bool:
    """Tell whether a number may stand as a word among those of the passages, or these are in another language."""
    if value < _SMALLEST or not all(detect(text) in _KNOWN for text in passages):
        return True
    forms = _SPELLED[value].split()
    begins = tuple(form for form in forms if len(form) > _WHOLE_WORD)
    return not words.isdisjoint(forms) or any(word.startswith(begins) for word in words)
