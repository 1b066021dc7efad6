"""`nuggetjudge.compare` and `nuggetjudge.agree`: the numbers of the commands, by topic."""

import json
from statistics import mean

import orjson
import pytest

import nuggetjudge as nj
from nuggetjudge.records.reading.problems import InputError


def test_two_runs_are_tested_as_by_the_command(result, judge):
    comparison = nj.compare(result, runs=["complete", "thin"], measures=["V_strict", "length"])
    names = ("--runs", "complete,thin", "--measure", "V_strict", "--measure", "length")
    printed = json.loads(judge("compare", result.folder, *names, "--json"))
    assert json.loads(orjson.dumps(comparison)) == printed
    assert comparison == result.compare(runs=["complete", "thin"], measures=["V_strict", "length"])


def test_scores_by_topic_explain_the_means(result):
    comparison = result.compare(runs=["complete", "thin"], measures=["V_strict"])
    by_topic = comparison.by_topic["V_strict"]
    assert len(by_topic) == 5
    assert sum("thin" in cells for cells in by_topic.values()) == 4  # it did not answer one
    (one, other), (pair,) = (comparison["measures"]["V_strict"][name] for name in ("runs", "pairs"))
    for run in (one, other):
        scores = [cells.get(run["run_id"], 0) for cells in by_topic.values()]
        assert mean(scores) == pytest.approx(run["mean"])
    differences = [cells["complete"] - cells.get("thin", 0) for cells in by_topic.values()]
    assert mean(differences) == pytest.approx(pair["difference"])


def test_a_comparison_shows_itself_as_tables_and_is_short_otherwise(result):
    pair = result.compare(runs=["complete", "thin"], measures=["V_strict"])
    for shown in (pair._repr_html_(), str(pair)):
        assert "complete minus thin" in shown
        assert "complete is not shown to be better than thin" in shown
        assert "5 questions are too few" in shown.replace("\n", " ")
    assert repr(pair) == "Comparison(runs, measures=['V_strict'])"
    board = result.compare(measures=["V_strict"])
    assert board._repr_html_().count("<tr>") == 1 + 4


def test_two_judges_of_the_same_answers_are_held_against_each_other(result, other):
    comparison = result.compare(other, kind="nuggets")
    assert comparison["compared"] == "judges"
    assert comparison.by_topic == {}
    assert f"0 of {comparison['agreement']['n']:,} items another label" in str(comparison)
    assert repr(comparison).startswith("Comparison(judges, n=258,")


def test_people_are_held_against_a_result_as_by_the_command(result, tmp_path, judge):
    rows = result.judgements["assignments"]
    people = tmp_path / "people.jsonl"
    people.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    agreement = result.agree(people)
    assert agreement["accuracy"] == 1
    assert agreement == nj.agree(people, result.folder)
    assert str(agreement) == judge("agree", people, result.folder)
    assert "<td" in agreement._repr_html_()
    assert str(agreement).startswith("The judge agrees with people almost perfectly: ")
    n = agreement["n"]
    assert repr(agreement).startswith(f"Agreement(nuggets, n={n}, share of equal labels 1.00 [")


def test_an_unknown_run_is_named_with_those_there_are(result):
    with pytest.raises(InputError, match="no run 'best'; there is complete"):
        result.compare(runs=["best", "thin"])


def test_rows_that_are_left_out_are_warned_of(result, tmp_path):
    scores = tmp_path / "scores.jsonl"
    only_mean = {"run_id": "x", "topic_id": "all", "measure": "A", "value": 0.5}
    scores.write_bytes((result.folder / "scores.jsonl").read_bytes() + orjson.dumps(only_mean))
    with pytest.warns(UserWarning, match="1 no_topics"):
        nj.compare(scores, measures=["A"])
