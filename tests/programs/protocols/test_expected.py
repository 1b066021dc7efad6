"""`judge score` gives the scores from probabilities beside those from labels."""

import json

import pytest

from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import Problems

SURE = {"support": 0.8, "partial_support": 0.2, "not_support": 0.0}


def assignments(path, chances):
    """One answer of one vital nugget to each topic, with these probabilities or None."""
    with path.open("w", encoding="utf-8") as stream:
        for i, given in enumerate(chances):
            nugget = {"id": "n", "text": "n", "importance": "vital", "assignment": "support"}
            nugget |= {} if given is None else {"probabilities": given}
            row = {"qid": f"t{i}", "query": "q", "run_id": "r", "answer_text": "a"}
            stream.write(json.dumps({**row, "response_length": 1, "nuggets": [nugget]}) + "\n")
    return path


def means(path):
    rows = score_path(path, Problems())
    return {row.measure: row.value for row in rows if row.topic_id == "all"}


def test_probabilities_give_a_second_score(tmp_path):
    scores = means(assignments(tmp_path / "a.jsonl", [SURE, SURE]))
    assert scores["V"] == scores["V_strict"] == 1
    assert scores["V_expected"] == pytest.approx(0.9)
    assert scores["V_strict_expected"] == pytest.approx(0.8)


def test_a_label_without_probabilities_counts_as_certain(tmp_path):
    scores = means(assignments(tmp_path / "a.jsonl", [SURE, None]))
    assert scores["V_strict_expected"] == pytest.approx(0.9)
    scores = means(assignments(tmp_path / "a.jsonl", [SURE, {"perhaps": 1.0}]))
    assert scores["V_strict_expected"] == pytest.approx(0.9)


def test_without_probabilities_there_is_no_second_score(tmp_path):
    scores = means(assignments(tmp_path / "a.jsonl", [None, None]))
    assert not any(name.endswith("_expected") for name in scores)


def test_citations_with_probabilities_have_one_too(tmp_path):
    path = tmp_path / "support.jsonl"
    row = {"run_id": "r", "topic_id": "t", "sentence": 0, "citation": "d", "rank": 0}
    row |= {"label": "full", "weight": 1.0, "probabilities": {"full": 0.5, "none": 0.5}}
    uncited = {"run_id": "r", "topic_id": "t", "sentence": 1, "citation": None, "rank": None}
    uncited |= {"label": "none", "weight": 0.0}
    path.write_text("".join(json.dumps(r) + "\n" for r in (row, uncited)), encoding="utf-8")
    scores = means(path)
    assert (scores["support_precision"], scores["support_precision_expected"]) == (1, 0.5)
    assert (scores["support_recall"], scores["support_recall_expected"]) == (0.5, 0.25)


def test_answers_whose_nuggets_failed_stay_unjudged_in_the_expected_scores(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    assignments(folder / "assignments.jsonl", [SURE])
    manifest = {
        "config": {"program": ["nuggets"]},
        "data": {"topic_ids": ["t0", "t1", "t2"], "run_ids": ["r"]},
        "cells_without_bank": [["r", "t1"]],
        "topics_without_nuggets": ["t2"],
        **{"fingerprint": "", "unjudged": {}, "judged": {}, "share_missing": 0.0},
        "limit_reached": None,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    rows = {(r.topic_id, r.measure): r for r in score_path(folder, Problems())}
    for measure in ("V_strict", "V_strict_expected"):
        assert rows["t1", measure].value is None
        assert rows["all", measure].n_topics == 1
        assert (rows["all", measure].n, rows["all", measure].n_unjudged) == (1, 1)
    assert rows["all", "V_strict_expected"].value == pytest.approx(0.8)
