"""The measures and the baselines of the evaluation, by hand-made cases."""

from __future__ import annotations

import gzip
import hashlib
import json
import math

import pytest

from tests.evaluate import reasoning
from tests.evaluate.baselines import Grep, PlainBM25
from tests.evaluate.data import EvaluationSet, Passage, Question, read_set, workspaces
from tests.evaluate.metrics import judge, judge_spans, mean


def test_the_measures_of_a_ranking():
    ndcg, five, recall, mrr, deep = judge(["x", "a", "x", "b"], {"a": 2, "b": 1, "c": 1})
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert ndcg == pytest.approx((2 / math.log2(3) + 1 / 2) / ideal)  # the repeated x counts once
    assert (five, recall, mrr, deep) == (pytest.approx(2 / 3), pytest.approx(2 / 3), 0.5, pytest.approx(2 / 3))
    assert judge([], {"a": 1}) == (0.0, 0.0, 0.0, 0.0, 0.0)
    assert judge(["a"], {"a": 1}) == (1.0, 1.0, 1.0, 1.0, 1.0)
    assert judge([*(f"x{n}" for n in range(10)), "a"], {"a": 1}) == (0.0, 0.0, 0.0, 0.0, 1.0)
    assert mean([(1.0, 0.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0)]) == (0.5, 0.0, 0.5, 1.0)


@pytest.fixture
def folder(tmp_path):
    """A set with two groups, packed as public ones are."""
    documents = [
        {"id": "a1", "title": "Kettle", "text": "Boil the water.", "group": "a"},
        {"id": "a2", "title": "Lamp", "text": "Boil nothing, shine.", "group": "a"},
        {"id": "b1", "title": "Kettle", "text": "Boil the water, then boil it again.", "group": "b"},
    ]
    lines = "\n".join(json.dumps(document) for document in documents)
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    questions = [{"id": "1", "text": "kettle to boil", "group": "a"}, {"id": "2", "text": "unjudged"}]
    (tmp_path / "queries.dev.jsonl").write_text("\n".join(map(json.dumps, questions)))
    (tmp_path / "qrels.dev.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta1\t1\n1\ta2\t0\n")
    return tmp_path


def test_a_set_is_read_with_its_judged_questions_alone(folder):
    data = read_set(folder, "dev")
    assert [document["id"] for document in data.documents] == ["a1", "a2", "b1"]
    assert [(one.id, one.group, one.relevant) for one in data.questions] == [("1", "a", {"a1": 1})]
    with pytest.raises(FileNotFoundError):
        read_set(folder, "held")


@pytest.mark.parametrize("system", [PlainBM25, Grep])
def test_baselines_rank_within_the_group(folder, system):
    data = read_set(folder, "dev")
    assert system(data.documents).rank(data.questions[0]) == ["a1", "a2"]


def test_spans_are_taken_from_the_top_as_long_as_they_fit():
    wanted = [("d", 0, 100), ("d", 3000, 3100)]
    assert judge_spans([("d", 0, 1000), ("d", 2500, 3500)], wanted) == (0.5, 1.0, 1.0)
    assert judge_spans([("d", 50, 9000), ("d", 0, 50)], wanted) == (0.75, 0.75, 0.75)  # the first always counts
    assert judge_spans([("e", 0, 100)], wanted) == (0.0, 0.0, 0.0)


def test_turns_become_sessions_and_passages_become_turns():
    rows = [
        {"id": f"t{n}", "text": f"Ann: {text}", "speaker": "Ann", "date": "May", "session": f"s{n // 2}", "group": "g"}
        for n, text in enumerate(("Hello", "Bye", "Again"))
    ]
    question = Question("q", "when", "g", {"t1": 1})
    (workspace,) = workspaces(EvaluationSet("chats", rows, [question]))
    assert [row["text"] for row in workspace.stored] == [
        "**Ann** (May): Hello\n\n**Ann** (May): Bye",
        "**Ann** (May): Again",
    ]
    turns, sessions = workspace.tasks
    assert turns.place is not None
    assert turns.place(Passage("s0", workspace.stored[0]["text"])) == ["t0", "t1"]
    assert turns.place(Passage("s0", "**Ann** (May): Bye")) == ["t1"]
    assert [one.relevant for one in sessions.questions] == [{"s0": 1}]


def test_what_an_answer_cites_of_the_evidence():
    found = reasoning.judge(["a", "x", "a"], 3, {"a": 1, "b": 1}, 5.0)
    assert found == (3, 3, 0.5, 0.5, 5.0)
    assert reasoning.judge([], 0, {"a": 1}, 5.0) == (0, 0, 0.0, 0.0, 5.0)


@pytest.mark.parametrize(
    "wrong", [{}, {"quote": "Boil"}, {"startIndex": 1}, {"quoteHash": "0" * 64}, {"documentId": "another"}]
)
def test_a_citation_holds_only_where_it_opens_as_the_text_that_was_stored(wrong):
    digest = hashlib.sha256(b"Boil the").hexdigest()
    citation = {"quote": "Boil the", "startIndex": 0, "endIndex": 8, "revision": 1, "documentId": "d"}
    citation["quoteHash"] = digest
    assert reasoning.holds(citation | wrong, citation, "Boil the water.") is (not wrong)
    assert not reasoning.holds(citation, citation, "Boil a kettle.")
