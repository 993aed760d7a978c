"""Which language a text is taken for."""

from __future__ import annotations

import pytest

from app.kit.language import _WORDS, NOT_LATIN, detect


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "english"),
        ("42 :: 17", "english"),
        ("Figs are sweet.", "english"),
        ("The retry of the gate is done in app/store.", "english"),
        ("def main(): return os.environ['PATH']", "english"),
        ("Der Vertrag ist nicht unterschrieben, und die Frist läuft ab.", "german"),
        ("Kinder spielten draußen und fingen Fische.", "german"),
        ("Der Hund schläft.", "german"),
        ("El niño come.", "spanish"),
        ("Our café and the naïve visitor", "english"),
        ("Le contrat n'est pas signé et la date est dans un mois.", "french"),
        ("El contrato no está firmado y la fecha es en un mes.", "spanish"),
        ("Il contratto non è firmato e la data è tra un mese per tutti.", "italian"),
        ("O contrato não foi assinado e a data é para o mês que vem.", "portuguese"),
        ("Het contract is niet getekend en de datum is over een maand.", "dutch"),
        ("Avtalet är inte undertecknat och det går ut om en månad.", "swedish"),
        ("Sopimus ei ole vielä valmis, mutta se on pian ja sitten kaikki hyvin.", "finnish"),
        ("Sözleşme henüz hazır değil ve bu ay için bir tarih daha yok.", "turkish"),
        ("Договор ещё не подписан.", "russian"),
        ("Η σύμβαση δεν υπογράφηκε.", "greek"),
        ("لم يتم توقيع العقد", "arabic"),
        ("अनुबंध पर हस्ताक्षर नहीं हुए।", "hindi"),
        ("契約はまだ署名されていません。", "simple"),
        ("合同还没有签署 (see README)。", "simple"),
        ("สัญญายังไม่ได้ลงนาม", "simple"),
    ],
)
def test_the_language_of_a_text(text, language):
    assert detect(text) == language


def test_a_few_foreign_words_do_not_turn_an_english_text():
    assert detect("The word Zeitgeist is one that we have from German, as is 東京 from Japanese.") == "english"


def test_only_the_beginning_is_read():
    assert (
        detect("Figs are sweet. " * 2_000 + "и не он на я что тот быть с весь это как она по но они к у" * 500)
        == "english"
    )


async def test_every_configuration_is_known_to_the_database(sql):
    known = {row["cfgname"] for row in await sql.fetch("SELECT cfgname FROM pg_ts_config")}
    assert known >= NOT_LATIN | _WORDS.keys()
