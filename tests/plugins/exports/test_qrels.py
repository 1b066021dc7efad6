"""Grades leave as the RAG track takes them: the confidence is the judge's, or 1."""

import json

import pytest

from nuggetjudge.plugins.exports import tools
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.relevance import read_qrels

ROWS = [
    {"passage_id": "s1", "grade": 3, "probabilities": {"2": 0.25, "3": 0.75}},
    {"passage_id": "s3", "grade": 4, "votes": {"a": "4", "b": "4", "c": "1", "d": None}},
    {"passage_id": "s2", "grade": 0},
    {"passage_id": "s4", "grade": None},
]


@pytest.fixture
def results(tmp_path):
    rows = [{"topic_id": "12", **row} for row in ROWS]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "relevance.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_confidence_is_a_probability_a_share_of_votes_or_one(results):
    out = results / "grades.tsv"
    counts = tools.write_qrels(results, out, "mine")
    assert out.read_text(encoding="utf-8").splitlines() == [
        "12 Q0 s1 3 0.75 mine",
        "12 Q0 s2 0 1 mine",
        "12 Q0 s3 4 0.666667 mine",
    ]
    assert (counts.n, counts.n_sure, counts.n_unjudged) == (3, 2, 1)
    assert read_qrels(out, Problems()) == {"12": {"s1": 3, "s2": 0, "s3": 4}}


def test_what_cannot_be_written_is_said(results, tmp_path_factory):
    with pytest.raises(InputError, match="white space"):
        tools.write_qrels(results, results / "out.tsv", "my judge")
    with pytest.raises(InputError, match=r"has no relevance\.jsonl"):
        tools.write_qrels(tmp_path_factory.mktemp("other"), results / "out.tsv", "mine")
