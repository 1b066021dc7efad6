"""What made the difference between two runs, counted by hand."""

import json

import pytest

from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.analysis.run_differences import find_topic_differences
from nuggetjudge.programs.scoring.topic_scores import TopicScores
from nuggetjudge.records.reading.problems import Problems

LABELS = {  # run -> topic -> labels of nuggets a (vital), b (okay), c (vital)
    "one": {"t1": ["support", "support", "partial_support"], "t2": ["not_support"] * 3},
    "two": {"t1": ["not_support", "support", "support"], "t2": ["not_support"] * 3},
    "half": {"t1": ["support", None, "support"]},
}


@pytest.fixture
def folder(tmp_path):
    """A results folder with nuggets and citations of three runs on two topics."""
    rows = []
    for run, topics in LABELS.items():
        for topic, labels in topics.items():
            nuggets = [
                {"id": i, "text": f"{topic} {i}", "importance": w, "assignment": label}
                for i, w, label in zip("abc", ("vital", "okay", "vital"), labels, strict=True)
            ]
            texts = {"query": "q", "answer_text": "x"}
            rows.append({"qid": topic, "run_id": run, **texts, "nuggets": nuggets})
    support = [
        {"run_id": run, "topic_id": "t1", "sentence": n, "citation": f"p{n}", "label": label}
        for run, labels in (("one", ["full", "none"]), ("two", ["partial"]))
        for n, label in enumerate(labels)
    ]
    for name, given in (("assignments", rows), ("support", support)):
        lines = "".join(json.dumps(row) + "\n" for row in given)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    manifest = {
        "fingerprint": "", "judged": {}, "unjudged": {}, "share_missing": 0.0,
        "limit_reached": None, "config": {"program": ["nuggets", "support"]},
        "data": {"topic_ids": ["t1", "t2"]},
    }  # fmt: skip
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return tmp_path


def differences(folder, *runs):
    from nuggetjudge.programs.analysis.run_differences import find_judgement_differences

    return {d["what"]: d for d in find_judgement_differences(folder, *runs, Problems())}


def test_nuggets_that_parted_are_those_whose_labels_differ_the_furthest_first(folder):
    nuggets = differences(folder, "one", "two")["nuggets"]
    assert (nuggets["n"], nuggets["n_better"], nuggets["n_worse"]) == (6, 1, 1)
    assert nuggets["topics"] == [
        {"topic_id": "t1", "n": 3, "n_better": 1, "n_worse": 1},
        {"topic_id": "t2", "n": 3, "n_better": 0, "n_worse": 0},
    ]
    flips = [(f["id"], f["label"], f["other_label"], f["text"]) for f in nuggets["flips"]]
    assert flips == [
        ("a", "support", "not_support", "t1 a"),
        ("c", "partial_support", "support", "t1 c"),
    ]


def test_a_judgement_that_one_run_lacks_is_none_that_parted(folder):
    nuggets = differences(folder, "one", "half")["nuggets"]
    # Of t1 alone, and there of a and c: b of `half` was not judged.
    assert (nuggets["n"], nuggets["n_better"], nuggets["n_worse"]) == (2, 0, 1)
    assert [f["id"] for f in nuggets["flips"]] == ["c"]


def test_citations_which_are_each_runs_own_are_counted_by_label(folder):
    citations = differences(folder, "one", "two")["citations"]
    assert citations["labels"] == {"full": 1, "partial": 0, "none": 1}
    assert citations["other_labels"] == {"full": 0, "partial": 1, "none": 0}
    assert [row["topic_id"] for row in citations["topics"]] == ["t1"]
    assert "flips" not in citations


def test_a_topic_without_an_answer_is_0_and_said_to_be_none():
    values = {"V": {"one": {"t1": 0.5, "t2": 0.25, "t3": None}, "two": {"t1": 0.75, "t3": 1.0}}}
    scores = TopicScores(values, {"V": ["t1", "t2", "t3"]}, {})
    rows = find_topic_differences(scores, "V", "one", "two")
    by_topic = {row["topic_id"]: (row["difference"], row["other_is_answered"]) for row in rows}
    assert by_topic == {"t1": (-0.25, True), "t2": (0.25, False), "t3": (None, True)}
    length = TopicScores({"length": values["V"]}, {"length": ["t2"]}, {})
    assert find_topic_differences(length, "length", "one", "two")[0]["difference"] is None


def test_two_runs_are_compared_with_every_topic_in_json(tmp_path):
    path = tmp_path / "scores.jsonl"
    cells = [("one", "t1", 1), ("one", "t2", 0.5), ("two", "t1", 0), ("two", "t2", 0.75)]
    rows = [{"run_id": r, "topic_id": t, "measure": "M", "value": v} for r, t, v in cells]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    comparison = compare_runs([path], Problems(), runs=["one", "two"])
    assert "judgements" not in comparison  # a file of scores has none
    topics = comparison["measures"]["M"]["topics"]
    assert [(row["topic_id"], row["difference"]) for row in topics] == [("t1", 1), ("t2", -0.25)]
