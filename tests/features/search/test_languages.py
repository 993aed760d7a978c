"""Words of each language, scripts without spaces, and identifiers."""

from __future__ import annotations

import math

import pytest
import pytest_asyncio

from app.features.indexing.service import Embedders
from tests.contract.requirements import proves


async def found(user, q, **options):
    answer = await user.client.get("/v1/search", params={"q": q, "type": "documents", **options})
    assert answer.status_code == 200, answer.text
    return [hit["title"] for hit in answer.json()["data"]["documents"]]


LANGUAGES = {
    "german": ("Die Katzen schlafen auf dem Dach, und der Hund bellt nicht.", "schlafender Katze"),
    "french": ("Les chevaux mangent dans les prairies et ne sont pas pressés.", "mangeant"),
    "spanish": ("Los gatos duermen en el tejado y no se mueven para nada.", "gato"),
    "russian": ("Корабли стоят в северной гавани всю зиму.", "кораблями"),
    "arabic": ("السفن تقف في الميناء الشمالي طوال الشتاء", "سفن"),
    "simple": ("東京都の天気は晴れです。明日は雨が降るでしょう。", "天気"),
}


@proves("SEARCH-LANGUAGES")
async def test_other_forms_of_words_are_found_in_each_language_at_once(alice, make, index, sql):
    for language, (text, _) in LANGUAGES.items():
        await make.document(alice.client, title=f"No. {language}", content=text)
    await index.run(alice.workspace_id)
    rows = await sql.fetch("SELECT title, language FROM documents WHERE workspace_id = $1", alice.workspace_id)
    assert {row["title"]: row["language"] for row in rows} == {f"No. {language}": language for language in LANGUAGES}
    for language, (_, query) in LANGUAGES.items():
        assert (await found(alice, query))[0] == f"No. {language}", query
    assert await index.statistics(alice.workspace_id) == await index.recount(alice.workspace_id)


@proves("SEARCH-LANGUAGES")
@pytest.mark.parametrize(
    ("text", "query", "other"),
    [
        ("会议决定下个月发布新版本。", "发布版本", "北京的秋天很美。"),
        ("東京タワーの高さは三百三十三メートルです。", "東京タワー", "京都の寺は静かです。"),
        ("고양이가 지붕 위에서 잠을 잔다.", "고양이", "개는 마당에서 짖는다."),
        ("แมวนอนหลับอยู่บนหลังคาบ้าน", "หลังคา", "สุนัขเห่าอยู่ในสวน"),
    ],
)
async def test_scripts_without_spaces_are_found_by_parts(text, query, other, alice, make, index):
    await make.document(alice.client, title="1", content=text)
    await make.document(alice.client, title="2", content=other)
    await index.run(alice.workspace_id)
    assert (await found(alice, query))[0] == "1"


@proves("SEARCH-MODE")
async def test_meaning_does_not_speak_where_the_model_has_learned_nothing(alice, make, index):
    await make.document(alice.client, title="Boats", content="The boats of the fishermen are blue.")
    await index.run(alice.workspace_id)
    for query in ("漁船の色", "лодки рыбаков", "ميناء"):
        assert await found(alice, query) == []
        await words_alone(alice, query, "has not learned the language")


async def words_alone(user, query, why):
    """Every answer that is searched for says that meaning was not looked at, and why."""
    meta = (await user.client.get("/v1/search", params={"q": query})).json()["meta"]
    assert meta["mode"] == "lexical"
    assert why in meta["notice"]
    passages = (await user.client.post("/v1/pd/search", json={"query": query})).json()["data"]
    assert why in passages["meta"]["notice"]
    answer = (await user.client.post("/v1/reason", json={"query": query})).json()["data"]
    assert any(why in limitation for limitation in answer["limitations"])
    pack = (await user.client.get("/v1/pack", params={"query": query})).json()["data"]
    assert why in pack["notice"]


@proves("SEARCH-MODE")
async def test_answers_say_when_the_model_could_not_be_asked(alice, make, index, monkeypatch):
    await make.document(alice.client, title="Boats", content="The boats of the fishermen are blue.")
    await index.run(alice.workspace_id)

    async def away(_embedders, _serving, _text):
        return None

    monkeypatch.setattr(Embedders, "embed_query", away)
    assert await found(alice, "fishermen") == ["Boats"]
    await words_alone(alice, "fishermen", "cannot be asked")


IDENTIFIERS = [
    ("The timeout is read from max_retry_count at the start.", "max_retry_count"),
    ("It imports app.store.tx before anything else.", "app.store.tx"),
    ("The gate answers ERR_CONN_RESET then.", "ERR_CONN_RESET"),
    ("Printers stop with E-1042 when the tray is open.", "E-1042"),
    ("Call getUserProfile once for each session.", "getUserProfile"),
    ("Fixed in v2.14.3 of the driver.", "v2.14.3"),
    ("See docs/guides/setup.md for more.", "docs/guides/setup.md"),
    ("Write to ops@example.test about it.", "ops@example.test"),
]


@proves("SEARCH-LANGUAGES")
async def test_identifiers_are_found_by_whole_before_their_parts(alice, make, index):
    for number, (text, _) in enumerate(IDENTIFIERS):
        await make.document(alice.client, title=f"{number}", content=text)
    parts = (
        "max retry count app store tx err conn reset 1042 get user profile docs guides setup ops example v2 14 3 e md"
    )
    await make.document(alice.client, title="parts", content=parts)
    await index.run(alice.workspace_id)
    for number, (_, identifier) in enumerate(IDENTIFIERS):
        assert (await found(alice, identifier))[0] == f"{number}", identifier
        assert f"{number}" in await found(alice, identifier.lower()), identifier


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Read max_retry_count.", "retry"),
        ("Import app.store.tx now.", "store"),
        ("Call getUserProfile now.", "profile"),
        ("Error E-1042 again.", "1042"),
        ("A well-known trick.", "known"),
        ("JavaScript is fine.", "javascript"),
        ("On GitHub it is.", "github"),
    ],
)
async def test_identifiers_are_found_by_their_parts(text, part, alice, make, index):
    await make.document(alice.client, title="Wanted", content=text)
    await make.document(alice.client, title="Other", content="The harvest was plentiful this year.")
    await index.run(alice.workspace_id)
    assert (await found(alice, part))[:1] == ["Wanted"]


async def test_forms_of_the_same_characters_are_one(alice, make, index):
    await make.document(alice.client, title="Composed", content="Ein caf\u00e9 f\u00fcr alle.")
    await make.document(alice.client, title="Wide", content="\uff21\uff30\uff29 \uff52\uff45\uff46erence")
    await index.run(alice.workspace_id)
    assert (await found(alice, "cafe\u0301"))[0] == "Composed"
    assert (await found(alice, "API reference"))[0] == "Wide"


async def test_a_title_and_headings_count(alice, make, index):
    filler = "The harvest was plentiful this year, and the barns were full. " * 8
    await make.document(alice.client, title="Body", content=f"{filler} Of ferries nothing was heard. {filler}")
    await make.document(alice.client, title="Ferries", content=filler)
    await make.document(alice.client, title="Heading", content=f"# Aqueducts\n\n{filler}")
    await index.run(alice.workspace_id)
    assert (await found(alice, "ferries"))[0] == "Ferries"
    assert (await found(alice, "aqueducts"))[0] == "Heading"


@pytest_asyncio.fixture
async def alone(alice, make, index):
    """A shelf of many English notes, and one text of each of two other languages."""
    items = [{"op": "create", "title": f"Note {n}", "content": f"The keeper wrote line {n}."} for n in range(100)]
    for _ in range(2):
        answer = await alice.client.post("/v1/documents:batch", json={"items": items})
        assert answer.status_code == 200, answer.text
    await make.document(alice.client, title="No. german", content=LANGUAGES["german"][0] + " The keeper lacht.")
    await make.document(alice.client, title="No. arabic", content=LANGUAGES["arabic"][0])
    await index.run(alice.workspace_id)
    return alice


@proves("SEARCH-LANGUAGES")
async def test_a_text_that_is_alone_in_its_language_is_found_among_many_others(alone):
    for language in ("german", "arabic"):
        query = LANGUAGES[language][1]
        assert (await found(alone, query))[0] == f"No. {language}"
        passages = (await alone.client.post("/v1/pd/search", json={"query": query})).json()["data"]["results"]
        assert passages[0]["documentTitle"] == f"No. {language}"


async def test_words_that_others_use_are_no_rare_ones_in_a_language_that_is_alone(alone, sql):
    async with sql.acquire() as connection, connection.transaction():
        await connection.execute("SELECT set_config('app.collections', '*', true)")
        rows = await connection.fetch(
            "SELECT language, term, rarity FROM search_query($1, 'paragraph', 'keeper Katzen')", alone.workspace_id
        )
    rarity = {(row["language"], row["term"]): row["rarity"] for row in rows}
    assert rarity.keys() == {("english", "keeper"), ("english", "katzen"), ("german", "keep"), ("german", "katz")}
    assert rarity["german", "keep"] < rarity["english", "keeper"] < rarity["german", "katz"] / 100


async def test_stop_words_are_no_rare_words_in_a_language_that_is_alone(alone, sql):
    """However few the texts of another language are, each question would find them first."""
    async with sql.acquire() as connection, connection.transaction():
        await connection.execute("SELECT set_config('app.collections', '*', true)")
        rows = await connection.fetch(
            "SELECT language, term FROM search_query($1, 'document', 'What was the keeper of it')", alone.workspace_id
        )
    assert {(row["language"], row["term"]) for row in rows} == {("english", "keeper"), ("german", "keep")}


@proves("SEARCH-MODE")
async def test_meaning_does_not_speak_of_texts_that_the_model_cannot_read(alone):
    for query in ("translation", "art", "poem"):
        assert "No. arabic" not in await found(alone, query)
        answer = await alone.client.post("/v1/pd/search", json={"query": query, "limit": 50})
        assert "No. arabic" not in {hit["documentTitle"] for hit in answer.json()["data"]["results"]}


COMPOUNDS = {
    "german": ("Jedes Paket trägt seine Adresse und ist so gekennzeichnet.", "Was steht in der Paketkennzeichnung?"),
    "swedish": ("Varje paket har en adress och är märkt på så sätt.", "Vad står i paketmärkningen?"),
    "dutch": ("Elk pakket draagt een adres en is zo gemerkt.", "Wat staat er op de pakketmarkering?"),
}


@proves("SEARCH-LANGUAGES")
async def test_a_compound_that_no_text_has_is_read_by_its_parts(alice, make, index, sql):
    for language, (text, _) in COMPOUNDS.items():
        await make.document(alice.client, title=f"A {language} one", content=text)
    await make.document(alice.client, title="Ein anderer Text", content="Der Hafen ist bei Regen nicht zu sehen.")
    await index.run(alice.workspace_id)
    for language, (_, query) in COMPOUNDS.items():
        words = (await alice.client.get("/v1/search", params={"q": query.split()[-1]})).json()["data"]["documents"]
        assert f"A {language} one" in {hit["title"] for hit in words}
        assert (await found(alice, query))[0] == f"A {language} one"
    async with sql.acquire() as connection, connection.transaction():
        await connection.execute("SELECT set_config('app.collections', '*', true)")
        rows = await connection.fetch(
            "SELECT term, weight FROM search_query($1, 'document', 'Paketadresse Paketkennzeichnung Paket')"
            " WHERE language = 'german'",
            alice.workspace_id,
        )
    # Each compound weighs as one word: half is `paket`, the other half `adress`, or what no text has.
    assert {row["term"]: row["weight"] for row in rows} == {"paket": 2.0, "adress": 0.5}


async def test_what_a_key_may_not_see_lends_it_neither_parts_nor_languages(alice, make, index, sql):
    seen = await make.document(alice.client, title="Eins", content="Der Hafen ist bei Regen nicht zu sehen.")
    await make.document(alice.client, title="Zwei", content="Jedes Paket ist auch bei Regen gekennzeichnet.")
    await make.document(alice.client, title="Three", content="Each of the parcels is marked, and it was so before.")
    shelf = await make.collection(alice.client, name="Shelf", items=[seen["id"]])
    await index.run(alice.workspace_id)
    async with sql.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL ROLE app_read")
        await connection.execute("SELECT set_config('app.workspace_id', $1, true)", str(alice.workspace_id))
        for reach, terms in (
            (shelf["id"], {("german", "paketwag")}),
            ("*", {("german", "paket"), ("english", "paketwagen")}),
        ):
            await connection.execute("SELECT set_config('app.collections', $1, true)", reach)
            rows = await connection.fetch(
                "SELECT language, term FROM search_query($1, 'document', 'der Paketwagen')", alice.workspace_id
            )
            assert {(row["language"], row["term"]) for row in rows} == terms


COMPOUNDS_AT_MOST = 8


async def test_the_words_of_a_query_that_are_taken_apart_are_few_and_not_endless(alice, make, index, sql):
    await make.document(alice.client, title="Eins", content="Jedes Paket ist auch bei Regen gekennzeichnet.")
    await index.run(alice.workspace_id)
    words = [f"Paket{'abcdefghijklmnopqrst'[number:]}" for number in range(12)] + ["Paket" + "x" * 40]
    async with sql.acquire() as connection, connection.transaction():
        await connection.execute("SELECT set_config('app.collections', '*', true)")
        rows = await connection.fetch(
            "SELECT term, weight FROM search_query($1, 'document', $2)", alice.workspace_id, " ".join(words)
        )
    weights = {row["term"]: row["weight"] for row in rows}
    assert weights["paket"] == COMPOUNDS_AT_MOST / 2
    assert len(weights) == 1 + len(words) - COMPOUNDS_AT_MOST


async def test_a_very_common_word_is_counted_by_a_sample(alice, sql):
    """Chunks of 20,000 in which one word is in 1,500 and another in 8,000."""
    await sql.execute(
        "INSERT INTO index_statistics VALUES ($1, 'english', 'paragraph', 20000, 160000)", alice.workspace_id
    )
    for term, count in (("rare", 1_500), ("common", 8_000)):
        await sql.execute(
            "INSERT INTO postings (workspace_id, level, language, term, chunk_id, tf, length)"
            " SELECT $1, 'paragraph', 'english', $2, gen_random_uuid(), 1, 8 FROM generate_series(1, $3::int)",
            alice.workspace_id,
            term,
            count,
        )
    async with sql.acquire() as connection, connection.transaction():
        await connection.execute("SELECT set_config('app.collections', '*', true)")
        rows = await connection.fetch(
            "SELECT term, rarity FROM search_query($1, 'paragraph', 'rare common')", alice.workspace_id
        )
    rarity = {row["term"]: row["rarity"] for row in rows}
    exactly = {
        term: math.log(1 + (20_000 - df + 0.5) / (df + 0.5)) for term, df in (("rare", 1_500), ("common", 8_000))
    }
    assert rarity["rare"] == pytest.approx(exactly["rare"])
    assert rarity["common"] == pytest.approx(exactly["common"], abs=0.2)
