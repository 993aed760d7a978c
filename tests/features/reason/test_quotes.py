"""Answers without a model: quotes, their citations, what they leave out, and citations opened later."""

from __future__ import annotations

import hashlib
import re

import pytest

from app.features.reason import sentences
from app.features.reason.citations import Pin, parse_pin
from app.features.reason.question import meant
from tests.contract.requirements import proves
from tests.support.rows import checksum

HARBOUR = """# Harbour

The harbour opens at six in the morning. The harbour master is Ada Lund.

Ships wait for the pilot outside the mole."""
GUIDE = "The harbour opens at eight in the morning. Gulls steal bread on the quay."

MARKS = re.compile(r"\[\[(.+?)\]\]")


@pytest.fixture
def shelf(alice, make, index):
    async def put(content, title="A title"):
        document = await make.document(alice.client, title=title, content=content)
        await index.run(alice.workspace_id)
        return document

    return put


async def reason(user, query, **options):
    answer = await user.client.post("/v1/reason", json={"query": query, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def opened(user, citation):
    answer = await user.client.get(f"/v1/citations/{citation['id']}")
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


@proves("RSN-34", "RSN-QUOTES", "RSN-CITE")
async def test_an_answer_quotes_what_answers_and_cites_it(alice, shelf):
    document = await shelf(HARBOUR, "Harbour rules")
    await shelf("Bread is baked in an oven. Salt makes it better.", "Bread")
    data = await reason(alice, "Who is the harbour master?")
    assert data.keys() == {"answer", "citations", "limitations", "gaps", "conflicts", "meta"}
    first, *_ = data["answer"].split("\n")
    assert first == "Harbour rules:"
    assert "“The harbour master is Ada Lund.”" in data["answer"]
    assert "oven" not in data["answer"]
    cited = {item["quote"]: item for item in data["citations"]}["The harbour master is Ada Lund."]
    assert (cited["documentId"], cited["documentTitle"], cited["revision"]) == (document["id"], "Harbour rules", 1)
    assert HARBOUR[cited["startIndex"] : cited["endIndex"]] == cited["quote"]
    assert cited["quoteHash"] == hashlib.sha256(cited["quote"].encode()).hexdigest()
    assert f"“{cited['quote']}” [[{cited['chunkId']}]]" in data["answer"]
    marks = set(re.findall(r"\[\[(.+?)\]\]", data["answer"]))
    assert marks == {item["chunkId"] for item in data["citations"]}
    assert data["limitations"] == data["gaps"]
    assert data["conflicts"] == []
    assert data["meta"].keys() == {"chunksGathered", "citationsDropped", "latencyMs", "mode"}
    assert (data["meta"]["mode"], data["meta"]["citationsDropped"]) == ("extractive", 0)


@proves("RSN-34-NOTHING")
async def test_nothing_found_is_an_empty_answer_with_one_gap(alice):
    data = await reason(alice, "Anything?")
    assert (data["answer"], data["citations"]) == ("", [])
    assert data["gaps"] == ["No indexed passage of the documents was found."]


@proves("RSN-34-NOTHING", "RSN-LIMITS")
async def test_passages_about_something_else_are_no_answer(alice, shelf):
    await shelf("Gulls steal bread on the quay.")
    data = await reason(alice, "Which compiler flags enable link-time optimisation?")
    assert (data["answer"], data["citations"]) == ("", [])
    (gap,) = data["gaps"]
    assert gap.startswith("None of the 1 nearest passages of the documents answers this. No passage read mentions: ")
    assert "mentions: compiler, flags" in gap
    assert "language model" not in gap


@proves("RSN-34-NOTHING", "RSN-LIMITS")
async def test_one_gap_says_all_that_was_not_read_and_where_was_looked(alice, shelf, make):
    gulls = await shelf("Gulls steal bread on the quay.")
    await shelf("Terns nest on the shingle.")
    await make.document(alice.client, content="Not indexed yet.")
    question = "Which compiler flags enable link-time optimisation?"
    (gap,) = (await reason(alice, question, limit=1))["gaps"]
    for part in (
        "None of the 1 nearest",
        "Only the 1 nearest",
        "mentions: compiler",
        "perhaps not read: 1 of 3 documents.",
    ):
        assert part in gap
    (inside,) = (await reason(alice, question, documentId=gulls["id"]))["gaps"]
    assert inside.startswith("None of the 1 nearest passages of this document answers this.")
    place = await make.collection(alice.client, items=[gulls["id"]])
    (among,) = (await reason(alice, question, collectionId=place["id"]))["gaps"]
    assert "passages of this collection answers this." in among


@proves("RSN-QUOTES", "RSN-LIMITS")
async def test_a_question_in_other_words_than_the_text_is_answered(alice, shelf):
    await shelf("We must be honest: the threat to democracy must be defeated. Zero place for violence.", "Speech")
    data = await reason(
        alice, "What did President Biden emphasize about the defence of (democracy), according to his address?"
    )
    assert "“We must be honest: the threat to democracy must be defeated.”" in data["answer"]
    assert "No passage read mentions: President, Biden, emphasize, defence, address." in data["limitations"]


@proves("RSN-LIMITS")
async def test_marks_around_a_word_are_none_of_it(alice, shelf):
    await shelf("raise DunningError('ERR_DUNNING_4711') after the _third_ `reminder`.", "Dunning")
    for name in (
        "ERR_DUNNING_4711",
        "'ERR_DUNNING_4711'",
        "`ERR_DUNNING_4711`",
        "„third“",
        "(reminder)",
        "“reminder’s”",
    ):
        data = await reason(alice, f"What is {name}?")
        assert "DunningError" in data["answer"], name
        assert not any("No passage read" in text for text in data["limitations"]), name


@proves("RSN-LIMITS", "RSN-ASKING")
@pytest.mark.parametrize(
    ("text", "question", "missing"),
    [
        ("Die Probezeit beträgt sechs Monate.", "Wie lang ist die Probezeit?", None),
        ("Die Probezeit beträgt sechs Monate.", "Wie lang ist die Probezeit der Kapitäne?", "Kapitäne"),
        (
            "Tio medlemmar väljer styrelsen.",
            "Hur många medlemmar väljer man i styrelsen och vem är revisor?",
            "revisor",
        ),
        ("Die Mole ist ein Wall.", "Was heißt Mole?", None),
        ("Η προθεσμία λήγει τον Μάιο.", "Ποιος ορίζει και πότε λήγει η προθεσμία;", "ορίζει"),
        ("El contrato dura dos meses.", "¿Cuándo y dónde termina el contrato?", "termina"),
        ("Le contrat dure deux mois.", "Qu’est-ce que dit le contrat, et où est l'annexe ?", "dit, l'annexe"),
        ("مدة العقد شهران", "كم هي مدة العقد؟", None),
        ("Срок договора два месяца.", "Сколько длится срок договора?", "длится"),
        ("The retry is set by the gate.", "What does the retry mean, and how is it done?", None),
    ],
)
async def test_words_that_only_ask_or_join_are_no_gap_in_any_language(alice, shelf, text, question, missing):
    await shelf(text)
    gaps = " ".join((await reason(alice, question))["limitations"])
    found = re.search(r"No passage read mentions: ([^.]+)\.", gaps)
    assert (found[1] if found else None) == missing


def test_a_question_of_such_words_alone_keeps_them():
    assert meant(["Der", "die"], {"german": ["Der", "die"]}) == ("Der", "die")
    assert meant(["Der", "Hafen"], {"german": ["Der"]}) == ("Hafen",)


@proves("RSN-DIFFER")
async def test_statements_that_disagree_stand_beside_each_other(alice, shelf):
    await shelf(HARBOUR, "Rules")
    await shelf(GUIDE, "Guide")
    data = await reason(alice, "When does the harbour open in the morning?")
    _, _, after = data["answer"].partition("These statements differ:\n")
    assert "“The harbour opens at six in the morning.” [[" in after
    assert "“The harbour opens at eight in the morning.” [[" in after
    assert len({item["documentId"] for item in data["citations"]}) == 2


@proves("RSN-DIFFER")
async def test_the_same_said_of_another_subject_is_no_disagreement(alice, shelf):
    await shelf("Backups of Kestrel are written every Monday.", "Kestrel")
    await shelf("Backups of Otter are written every Friday.", "Otter")
    data = await reason(alice, "When are backups of Kestrel written?")
    assert "Monday" in data["answer"]
    assert "differ" not in data["answer"]


@proves("RSN-34-SCOPE")
async def test_scope_and_limit_bound_what_is_read(alice, bob, shelf, make):
    rules, guide = await shelf(HARBOUR, "Rules"), await shelf(GUIDE, "Guide")
    one = await reason(alice, "When does the harbour open?", documentId=guide["id"])
    assert {item["documentId"] for item in one["citations"]} == {guide["id"]}
    made = await make.collection(alice.client, name="Few", items=[rules["id"]])
    few = await reason(alice, "When does the harbour open?", collectionId=made["id"])
    assert {item["documentId"] for item in few["citations"]} == {rules["id"]}
    narrow = await make.restricted(alice, made["id"])
    assert {item["documentId"] for item in (await reason(narrow, "harbour open"))["citations"]} == {rules["id"]}
    outside = await narrow.client.get(f"/v1/citations/{one['citations'][0]['id']}")
    assert outside.status_code == 404
    assert (await reason(bob, "When does the harbour open?"))["citations"] == []
    limited = await reason(alice, "harbour", limit=1)
    assert limited["meta"]["chunksGathered"] == 1
    assert "Only the 1 nearest passages were read; others may say more." in limited["limitations"]
    capped = await reason(alice, "harbour", limit=99)
    assert any("over the cap" in text for text in capped["limitations"])


@proves("RSN-34-SCOPE")
async def test_eight_passages_are_read_unless_asked_and_fifty_at_most(alice, shelf):
    await shelf("\n\n".join(f"Berth {n} of the harbour is free. " + "Sea " * 90 for n in range(55)))
    gathered = [
        (await reason(alice, "Which berth of the harbour is free?", **given))["meta"]["chunksGathered"]
        for given in ({}, {"limit": 50}, {"limit": 99})
    ]
    assert gathered == [8, 50, 50]


@proves("RSN-LIMITS")
async def test_limitations_name_what_is_not_indexed_and_that_there_is_no_model(alice, shelf, make):
    await shelf(HARBOUR)
    await make.document(alice.client, content="not indexed yet")
    data = await reason(alice, "Who is the harbour master of Atlantis?")
    said = "\n".join(data["limitations"])
    assert "Still being indexed, and perhaps not read: 1 of 2 documents." in said
    assert "No language model is configured" in said
    assert "No passage read mentions: Atlantis." in said


@proves("RSN-QUOTES")
async def test_reading_changes_nothing(alice, shelf, sql):
    await shelf(HARBOUR)
    before = await checksum(sql, alice.workspace_id)
    await reason(alice, "Who is the harbour master?")
    assert await checksum(sql, alice.workspace_id) == before


@proves("RSN-OPEN")
async def test_an_opened_citation_tells_unchanged_moved_and_changed(alice, bob, shelf):
    document = await shelf(HARBOUR, "Rules")
    cited = next(c for c in (await reason(alice, "harbour master"))["citations"] if "Ada" in c["quote"])
    same = await opened(alice, cited)
    assert same | {"score": cited["score"]} == {
        **cited,
        "changed": False,
        "currentRevision": 1,
        "current": {"revision": 1, "startIndex": cited["startIndex"], "endIndex": cited["endIndex"]},
    }
    url = f"/v1/documents/{document['id']}"
    await alice.client.patch(url, json={"content": "New first line.\n\n" + HARBOUR, "title": "Other"})
    moved = await opened(alice, cited)
    assert (moved["changed"], moved["quote"], moved["documentTitle"]) == (False, cited["quote"], "Rules")
    assert moved["current"] == {
        "revision": 2,
        "startIndex": cited["startIndex"] + 17,
        "endIndex": cited["endIndex"] + 17,
    }
    await alice.client.patch(url, json={"content": HARBOUR.replace("Ada Lund", "Bo Ek")})
    changed = await opened(alice, cited)
    assert (changed["changed"], changed["quote"], changed["currentRevision"]) == (True, cited["quote"], 3)
    assert "current" not in changed
    assert (await bob.client.get(f"/v1/citations/{cited['id']}")).status_code == 404
    await alice.client.delete(url)
    assert (await alice.client.get(f"/v1/citations/{cited['id']}")).status_code == 404
    await alice.client.delete(f"/v1/trash/{document['id']}")
    gone = await alice.client.get(f"/v1/citations/{cited['id']}")
    assert (gone.status_code, gone.json()["error"]["reason"]) == (410, "GONE")


@proves("RSN-OPEN")
async def test_an_id_that_was_tampered_with_opens_nothing(alice, shelf):
    await shelf(HARBOUR)
    cited = (await reason(alice, "harbour master"))["citations"][0]
    pin = parse_pin(cited["id"])
    wider = Pin(pin.document_id, pin.chunk_id, pin.revision, pin.start, pin.end + 5, pin.digest)
    huge = Pin(pin.document_id, pin.chunk_id, 2**32 - 1, pin.start, pin.end, pin.digest)
    for text in (
        wider.text,
        huge.text,
        cited["id"][:-2],
        cited["id"].removeprefix("cit_"),
        "cit_",
        "cit_%%%",
        "x" * 200,
    ):
        answer = await alice.client.get(f"/v1/citations/{text}")
        assert answer.status_code == 404, text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is here. Two is there! No?", ["One is here.", "Two is there!"]),
        ("- First point of it\n- Second point of it", ["First point of it", "Second point of it"]),
        ("It costs 3.50 euros e.g. at noon. Then it closes.", ["It costs 3.50 euros e.g. at noon.", "Then it closes."]),
        (
            "They overturned Roe v. Wade. Mr. J. Smith of the U.S. Senate came. We met at ten.",
            ["They overturned Roe v. Wade.", "Mr. J. Smith of the U.S. Senate came.", "We met at ten."],
        ),
        ("灯塔很高。海很深。", ["灯塔很高。", "海很深。"]),
        ("", []),
    ],
)
def test_sentences_are_cut_where_people_end_them(text, expected):
    found = [text[start:end] for start, end in sentences.spans(text)]
    assert found == expected


@pytest.mark.parametrize(
    ("one", "other", "differs"),
    [
        ("The gate is open on Monday.", "The gate is open on Friday.", True),
        ("The limit is 40 requests.", "The limit is 60 requests.", True),
        ("The server keeps logs.", "The server does not keep logs.", True),
        ("The server keeps logs.", "The server doesn't keep logs.", True),
        ("The server keeps logs.", "The server doesn’t keep logs.", True),
        ("The gate is open on Monday.", "The gate is open on Monday.", False),
        ("The gate is open on Monday.", "Gulls steal bread.", False),
    ],
)
def test_disagreement_is_the_same_subject_with_another_word(one, other, differs):
    assert bool(sentences.differing(one, other)) is differs


FORGED = "00000000-0000-4000-8000-000000000000"


@proves("RSN-34", "RSN-CITE")
@pytest.mark.parametrize("form", ["[[{}]]", "[[[{}]]]", "[\u200b[{}]\u200b]", "[\x1b[0m[{}]\u2060]", "[[[[x]]{}]]"])
async def test_a_document_cannot_mark_statements_as_cited(alice, shelf, form):
    forged = form.format(FORGED)
    said = f"The harbour master is Eve Holm {forged}."
    await shelf(said, f"Vault:\n- “The harbour master is Eve.” {forged}")
    data = await reason(alice, "Who is the harbour master?")
    assert "Eve Holm" in data["answer"]
    assert set(MARKS.findall(data["answer"])) == {item["chunkId"] for item in data["citations"]}
    assert [line for line in data["answer"].splitlines() if line.startswith("Vault: - “")] != []
    assert said in [item["quote"] for item in data["citations"]]
    for citation in data["citations"]:
        assert (await opened(alice, citation))["quote"] == citation["quote"]


@proves("RSN-34")
async def test_a_quote_stays_on_its_line(alice, shelf):
    await shelf("The harbour master\u2028- is Ada\u2029Lund.")
    data = await reason(alice, "Who is the harbour master?")
    assert "“The harbour master - is Ada Lund.” [[" in data["answer"]
