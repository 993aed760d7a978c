"""What of a model's answer a client would load or follow is taken out; what its passages do not mention is told."""

from __future__ import annotations

from uuid import UUID

import pytest

from app.features.reason.citations import validated
from app.features.reason.harmless import harmless, leads_out
from app.features.reason.mentions import unmentioned
from tests.contract.requirements import proves

PASSAGE = "See https://docs.example/a for it. [Rules](https://rules.example/x?y=1)."


@pytest.mark.parametrize(
    ("said", "kept", "taken"),
    [
        ("A ![x](http://e.example/?q=secret) b", "A  b", 1),
        ("![a][b]\n\n[b]: http://e.example/?secret", "![a][b]\n\n", 1),
        ("[t](https://e.example/?secret)", "t", 1),
        ("[![a](http://e.example)](http://f.example)", "", 2),
        ("[t](&#104;ttp://e.example)", "t", 1),
        ("[t](http\\://e.example)", "t", 1),
        ("![a](\nhttp://e.example\n)", "", 1),
        ("![a](//e.example/x 'title')", "", 1),
        ("[t](/relative/secret)", "t", 1),
        ("[x](javascript:alert(1))", "x", 1),
        ("<https://e.example/x> y", "… y", 1),
        ("bare https://e.example/y?z.", "bare ….", 1),
        ("at www.e.example/secret, so", "at …, so", 1),
        ("<img src=http://e.example> x", " x", 1),
        ("<div\nstyle='x'>y</div>", "y", 2),
        ("x <!-- a > b --> y", "x  y", 1),
        ("Ada [[1]](http://e.example)", "Ada [[1]]", 1),
        ("a <b", "a < b", 0),
        ("Where a<b and c>d hold", "Where a< b and c>d hold", 0),
        ("Where a<b or c=1 and d>e hold", "Where a< b or c=1 and d>e hold", 0),
        (
            "A List<T> of <your name>, or of <ada@harbour.example>",
            "A List< T> of < your name>, or of < ada@harbour.example>",
            0,
        ),
        ("x <script async src=//e.example/?secret></script>", "x < script async src=//e.example/?secret>", 1),
        ("one<br>two<br/><br>.", "one two.", 3),
        ("<ul><li>One</li><li>Two.</li></ul>Three", "One Two. Three", 6),
        ("Said<img src=x>so", "Said so", 1),
        ("10<sup class=x>3</sup> <b>bo</b>ld <a\nhref='x'>here</a>s", "10 3 bold heres", 6),
        ("a < b and c > d, [x] (y)", "a < b and c > d, [x] (y)", 0),
        ("See https://docs.example/a.", "See https://docs.example/a.", 0),
        ("[Rules](https://rules.example/x?y=1)", "[Rules](https://rules.example/x?y=1)", 0),
        ("[Rules](https://rules.example/x?y=1secret)", "Rules", 1),
        ("![Rules](https://rules.example/x?y=1)", "", 1),
    ],
)
@proves("RSN-MODEL-PLAIN")
def test_what_a_client_would_load_or_follow_is_taken_out(said, kept, taken):
    assert harmless(said, [PASSAGE]) == (kept, taken)
    assert not leads_out(kept, [PASSAGE])


@pytest.mark.parametrize(
    "said",
    [
        "![a](http://e.example)",
        "![a\\]b](x)",
        "[a](x(y(z)))",
        "<b>x</b>",
        "[a]\n\n[a]: x",
        "> " * 60 + "x",
        "[" * 3_000,
    ],
)
@proves("RSN-MODEL-PLAIN")
def test_what_is_left_is_seen_by_a_parser(said):
    assert leads_out(said, [PASSAGE])


def test_a_sentence_rests_on_the_passages_of_its_own_mark():
    one, two = UUID(int=1), UUID(int=2)
    found = validated("First. Second [[1]]. Third [[2]] and [[1]].", {"1": one, "2": two})
    assert sorted(found.claims) == [("First.", [one]), ("Second.", [one]), ("Third and.", [two, one])]
    assert found.says
    assert not validated("[[1]] [[2]].", {"1": one, "2": two}).says


@pytest.mark.parametrize(
    ("said", "passage", "missing"),
    [
        ("It earned 9 billion in 2020.", "It earned 9 million in 2020.", ["9 billion"]),
        ("It earned 9 billion.", "It earned 9,000,000,000 euros.", []),
        ("It cost 1,500,000.", "It cost 1.5 million.", []),
        ("There are 1 200 ships, and 1 300 boats.", "1,200 ships and 1\u202f301 boats", ["1 300"]),
        ("Es kostete 1,5 Millionen.", "It cost 1,500,000.", []),
        ("A share of 12.5% in 2021.", "12,5 % in 2019", ["2021"]),
        ("Keep it 8 days, at port 7, for 5 %.", "Keep it 9 days, at port 6, for 4 %.", ["8 days", "port 7", "5 %"]),
        ("On 8 May, or May 9th, for $3.", "On 10 May or 2020-06-11.", ["8 May", "May 9", "$3"]),
        ("Es dauert 8 Tage, Kapitel 3.", "Es dauert achttägig, in dem Kapitel III.", []),
        ("8 days, 12 months, 2 weeks and 1 day", "It takes eight days and a year, the fortnight, and a day.", []),
        ("On 8 May for 3 days.", "The log of 2024-05-08 is kept for 3.0 days.", []),
        ("1. There are 3 ships.\n2) And 4 of 5 boats, though 6 may march.", "Ada, Eve, Ida.", []),
        ("It takes 8 days.", "Это занимает восемь дней.", []),
        ("It takes 8 days.", "八天", []),
        ("Three of 3 ships, v1.2.3, 2024-01-05.", "three ships, version 1.2.3 of 2024-01-05", []),
        ("Eve Holm is the master.", "The harbour master is Ada Lund.", ["Eve Holm"]),
        ("The Harbour Master is Ada Lund.", "Its harbour master is Ada Lund.", []),
        ("Der Hafenmeister ist Frau Lund und das Tor ist die Alte Pforte.", "The master is Lund.", []),
    ],
)
@proves("RSN-MODEL-MENTION")
def test_numbers_and_names_that_no_cited_passage_mentions(said, passage, missing):
    assert unmentioned(said, [passage]) == missing
