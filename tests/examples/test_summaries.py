"""The summaries of the example have the lengths that its README says, and its runs fit them."""

import json
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "summaries"


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


SUMMARIES = {row["id"]: row for row in rows(FOLDER / "summaries.jsonl")}


def test_documents_and_summaries_have_the_lengths_of_the_readme():
    assert len(SUMMARIES) == 3
    for row in SUMMARIES.values():
        assert len(row["documents"]) == 4
        assert all(150 <= len(text.split()) <= 350 for text in row["documents"])
        assert 130 <= len(row["summary"].split()) <= 150


def test_both_runs_rank_four_passages_for_each_topic():
    for name in ("broad", "echo"):
        lines = [line.split() for line in (FOLDER / "runs" / f"{name}.run").open(encoding="utf-8")]
        assert Counter(topic for topic, *_ in lines) == dict.fromkeys(SUMMARIES, 4)
        assert len({(topic, docid) for topic, _, docid, *_ in lines}) == len(lines)
        assert {run for *_, run in lines} == {name}
    of_others = [topic for topic, _, docid, *_ in lines if not docid.startswith(f"{topic}:")]
    assert sorted(of_others) == ["bridge-kelvick", "tram-veldmoor"]  # in echo


def test_answers_cite_their_references_and_count_their_words():
    for path in sorted((FOLDER / "answers").iterdir()):
        answers = rows(path)
        assert [row["topic_id"] for row in answers] == list(SUMMARIES)
        for row in answers:
            cited = {index for sentence in row["answer"] for index in sentence["citations"]}
            assert cited == set(range(len(row["references"])))
            assert row["run_id"] == path.stem
            n_words = sum(len(sentence["text"].split()) for sentence in row["answer"])
            assert row["response_length"] == n_words
