"""What a question asks for: its words but those that every text of its language has, and those that only ask."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from app.features.reason import queries, sentences

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from app.gate.operation import Context

_AROUND: Final = ".,;:!?¿¡\"'`´()[]{}<>“”„‘’‚«»‹›…*_|।؟،؛。！？、，：；（）「」『』"
_ENGLISH: Final = "english"

_QUESTION_WORDS: Final = {
    "arabic": "كم ما ماذا من متى أين كيف لماذا هل أي أية هي هو",
    "danish": "hvad hvem hvis hvilken hvilket hvilke hvor hvornår hvordan hvorfor mange meget længe ofte betyder",
    "dutch": "wat wie wiens welk welke waar wanneer hoe hoeveel waarom veel lang vaak betekent",
    "finnish": "mikä mitä mitkä kuka kenen missä mistä mihin milloin koska miten kuinka miksi paljonko monta "
    "kauan usein tarkoittaa",
    "french": "que quoi qui quel quelle quels quelles où quand comment combien pourquoi qu'est-ce est-ce est-il "
    "est-elle sont-ils sont-elles a-t-il a-t-elle y-a-t-il signifie longtemps souvent",
    "german": "was wer wen wem wessen wie wo woher wohin wann warum wieso weshalb welche welcher welches welchen "
    "welchem wieviel wieviele viel viele lang lange oft heißt bedeutet gibt",
    "greek": "τι ποιος ποια ποιο ποιοι πού που πότε πώς πως πόσο πόσα πόσοι γιατί είναι ο η το οι τα του της των "
    "τον την στο στη στην στον και να με για από σε",
    "hindi": "क्या कौन किस किसका किसकी किसके कब कहाँ कहां कैसे कैसा क्यों कितना कितने कितनी",
    "hungarian": "mi mit mik ki kit kié milyen melyik hol honnan hová mikor hogyan miért mennyi hány meddig jelent",
    "italian": "cosa cos'è chi quale quali qual qual'è dov'è dove quando come quanto quanta quanti quante perché "
    "significa",
    "norwegian": "hva hvem hvis hvilken hvilket hvilke hvor når hvordan hvorfor mange mye lenge ofte betyr",
    "portuguese": "que quê quem qual quais onde quando como quanto quanta quantos quantas porquê significa",
    "romanian": "ce cine care unde când cum cât câtă câți câte cui înseamnă",
    "russian": "что кто чей какой какая какое какие каков какова где куда откуда когда как сколько почему "
    "зачем долго часто означает значит",
    "spanish": "qué quién quiénes cuál cuáles dónde cuándo cómo cuánto cuánta cuántos cuántas por significa",
    "swedish": "vad vem vems vilken vilket vilka var när hur varför många mycket länge ofta betyder",
    "turkish": "ne kim kimin hangi nerede nereye nereden nasıl niçin neden niye kaç mi mı mu mü demek",
}
_ASKING: Final = {
    _ENGLISH: sentences.COMMON,
    **{language: frozenset(sentences.folded(words).split()) for language, words in _QUESTION_WORDS.items()},
}
"""Words that ask how much, who, when or what; of the others Postgres knows those that say nothing."""


@dataclass(frozen=True)
class Question:
    """A question, and the words of it that an answer should have, as they stand."""

    text: str
    words: tuple[str, ...]

    @cached_property
    def terms(self) -> frozenset[str]:
        """The stems of its words."""
        return sentences.terms(" ".join(self.words))


async def read_question(ctx: Context, text: str) -> Question:
    """Find the words of a question that carry meaning in its own language."""
    words = list(dict.fromkeys(word for part in text.split() if (word := part.strip(_AROUND))))
    async with ctx.snapshot() as tx:
        stops = await queries.list_stops(tx, list(_ASKING), words)
    return Question(text, meant(words, stops))


def meant(words: Collection[str], stops: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Leave out the words that say nothing in the language in which most do; all stay where none would.

    `stops` has those words that Postgres leaves out, by language. English comes first, and wins ties.
    """
    silent = {
        language: {word for word in words if word in stops.get(language, ()) or sentences.folded(word) in asking}
        for language, asking in _ASKING.items()
    }
    own = max(silent.values(), key=len)
    return tuple(word for word in words if word not in own) or tuple(words)
