"""Scores by topic: which topics count for a measure, and which runs of two sources join."""

import json
from pathlib import Path

import pytest

import nuggetjudge as nj
from nuggetjudge.programs.protocols.program import Folder
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.programs.scoring.topic_scores import merge_sources, scores_by_topic, topic_scores
from nuggetjudge.records import ScoreRow
from nuggetjudge.records.reading.problems import InputError, Problems

TEXT = "The moon pulls the sea."


def rows(*objects):
    return "".join(json.dumps(row) + "\n" for row in objects)


def answers(run_id, *topics):
    return rows(
        *(
            {"run_id": run_id, "topic_id": topic, "references": ["p"],
             "answer": [{"text": TEXT, "citations": [0]}]}
            for topic in topics
        )
    )  # fmt: skip


def bank(topic, importance="vital"):
    nugget = {"text": "The moon pulls the sea", "importance": importance}
    return {"qid": topic, "query": "-", "nuggets": [nugget]}


@pytest.fixture
def folder(tmp_path):
    """t1 is as usual, t2 has no vital nugget, t3 no nuggets at all, t4 no answer of anybody."""
    put = {
        "topics.tsv": "".join(f"t{i}\twhy tides\n" for i in range(1, 5)),
        "a.jsonl": answers("a", "t1", "t2", "t3"),
        "b.jsonl": answers("b", "t1", "t3"),
        "passages.jsonl": rows({"docid": "p", "text": TEXT}),
        "bank.jsonl": rows(bank("t1"), bank("t2", "okay"), bank("t4")),
    }
    for name, text in put.items():
        (tmp_path / name).write_text(text)
    return nj.run(
        program="nuggets,support",
        topics=tmp_path / "topics.tsv",
        runs=[str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")],
        passages=tmp_path / "passages.jsonl",
        nuggets=tmp_path / "bank.jsonl",
        out=tmp_path / "out",
    ).folder


def test_the_topics_of_a_measure_are_those_on_which_it_means_something(folder):
    scores = topic_scores(folder, Problems())
    assert list(scores.topics["A"]) == ["t1", "t2", "t4"]  # no nuggets of t3: the program says so
    assert list(scores.topics["length"]) == ["t1", "t2", "t4"]
    assert list(scores.topics["V"]) == ["t1", "t4"]  # 0/0 on t2 for every run
    assert list(scores.topics["support_precision"]) == ["t1", "t2", "t3", "t4"]
    assert scores.values["A"] == {"a": {"t1": 1.0, "t2": 1.0}, "b": {"t1": 1.0}}


def test_means_of_the_leaderboard_are_over_the_same_topics(folder):
    scores = topic_scores(folder, Problems())
    for row in score_path(folder, Problems()):
        if row.topic_id == "all" and row.measure in ("A", "V", "support_precision"):
            topics = scores.topics[row.measure]
            values = [scores.values[row.measure][row.run_id].get(topic, 0.0) for topic in topics]
            assert row.n_topics == len(topics), row
            assert row.value == pytest.approx(sum(values) / len(topics)), row


def test_a_file_of_judgements_has_the_topics_that_any_run_in_it_answers(folder):
    scores = topic_scores(folder / "assignments.jsonl", Problems())
    assert list(scores.topics["A"]) == ["t1", "t2"]
    assert list(scores.topics["V"]) == ["t1"]


def test_a_topic_of_which_nothing_was_judged_still_counts(folder, tmp_path):
    given = [json.loads(line) for line in (folder / "assignments.jsonl").read_text().splitlines()]
    for row in given:
        for nugget in row["nuggets"]:
            if row["qid"] == "t2":
                nugget["assignment"] = None
    (tmp_path / "assignments.jsonl").write_text(rows(*given))
    scores = topic_scores(tmp_path / "assignments.jsonl", Problems())
    assert list(scores.topics["A"]) == ["t1", "t2"]
    assert scores.values["A"]["a"] == {"t1": 1.0, "t2": None}


def test_runs_of_two_sources_join_on_the_topics_and_measures_of_both(folder):
    both = [folder, folder / "assignments.jsonl"]
    scores = merge_sources(both, [topic_scores(path, Problems()) for path in both])
    assert scores.values["A"].keys() == {
        "a@out", "b@out", "a@assignments", "b@assignments",
    }  # fmt: skip
    assert scores.topics["A"] == ["t1", "t2"]
    assert "support_precision" not in scores.values


def test_means_alone_are_no_scores_by_topic(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text(rows({"run_id": "a", "topic_id": "all", "measure": "A", "value": 0.5}))
    with pytest.raises(InputError, match="no scores by topic"):
        topic_scores(path, Problems())


@pytest.mark.parametrize("known", [{"n_unjudged": 3}, {"low": 0.0, "high": 1.0}], ids=str)
def test_a_topic_without_a_value_counts_where_something_is_missing_or_bounds_are_given(known):
    row = {"run_id": "a", "measure": "m"}
    rows = [
        ScoreRow(**row, topic_id="t1", value=0.5),
        ScoreRow(**row, topic_id="t2", value=None, **known),
        ScoreRow(**row, topic_id="t3", value=None),
    ]
    scores = scores_by_topic(rows, Folder(Path("scores.jsonl"), Problems()), None)
    assert scores.topics["m"] == ["t1", "t2"]
