"""Scores again from files: what can be scored, and that no run vanishes."""

import json
import re
import shutil
from pathlib import Path

import pytest
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.protocols.program import Folder
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.programs.scoring.topic_scores import merge_sources, scores_by_topic, topic_scores
from nuggetjudge.records import ScoreRow
from nuggetjudge.records.reading.problems import InputError, Problems


def rows(*objects):
    return "".join(json.dumps(row) + "\n" for row in objects)


def answer(run_id, topic):
    sentence = {"text": "The moon pulls the sea.", "citations": []}
    return {"run_id": run_id, "topic_id": topic, "references": [], "answer": [sentence]}


@pytest.fixture
def result(tmp_path):
    """Run c answers the second topic alone, which the limit leaves out."""
    (tmp_path / "topics.tsv").write_text("t1\twhy tides\nt2\twhy waves\n")
    (tmp_path / "runs.jsonl").write_text(rows(answer("a", "t1"), answer("c", "t2")))
    nugget = {"text": "The moon pulls the sea", "importance": "vital"}
    (tmp_path / "bank.jsonl").write_text(rows({"qid": "t1", "query": "-", "nuggets": [nugget]}))
    return nj.run(
        program="nuggets", topics=tmp_path / "topics.tsv", runs=str(tmp_path / "runs.jsonl"),
        nuggets=tmp_path / "bank.jsonl", out=tmp_path / "out", limit=1,
    )  # fmt: skip


def test_a_run_without_an_answer_to_any_topic_has_0_in_the_run_and_when_scored_again(result):
    again = score_path(result.folder, Problems())
    assert again == result.scores
    assert {row.run_id: row.value for row in again if row.measure == "A"} == {"a": 1.0, "c": 0.0}


def test_other_topics_can_be_demanded_of_a_folder(result, tmp_path):
    scores = score_path(result.folder, Problems(), topics=tmp_path / "topics.tsv")
    (mean,) = (r for r in scores if (r.run_id, r.topic_id, r.measure) == ("a", "all", "A"))
    assert (mean.value, mean.n_topics) == (0.5, 2)


def test_a_file_that_does_not_say_what_its_judgements_weigh_is_not_scored_alone(tmp_path):
    path = tmp_path / "entailments.jsonl"
    ids = {"topic_id": "t", "run_id": "a", "key_point_id": "k"}
    path.write_text(rows({**ids, "label": "yes", "evidence": "x", "is_quoted": True}))
    with pytest.raises(InputError, match="contains entailments, wanted nugget assignments"):
        score_path(path, Problems())


def test_a_folder_without_the_files_of_its_programs_is_told(result):
    (result.folder / "assignments.jsonl").unlink()
    with pytest.raises(InputError, match="has no file of a run"):
        score_path(result.folder, Problems())


# Scores by topic: which topics count for a measure, and which runs of two sources join.
TEXT = "The moon pulls the sea."


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
        program="nuggets,support", topics=tmp_path / "topics.tsv",
        runs=[str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")],
        passages=tmp_path / "passages.jsonl", nuggets=tmp_path / "bank.jsonl",
        out=tmp_path / "out",
    ).folder  # fmt: skip


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


# Result files that somebody edited: `file:line` and what was wanted, never another number.
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
COLLECTION, POINTS = EXAMPLES.parent / "tests" / "collection", EXAMPLES / "keypoints"
SUMMARIES = EXAMPLES / "summaries"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A finished folder of each program, by its name, as of an earlier version."""
    folder = tmp_path_factory.mktemp("results")
    free = {"run.cache": False}
    nj.run(COLLECTION / "judge.yaml", out=folder / "judged", **free)
    for name in ("nuggets", "support"):
        (folder / name).symlink_to(folder / "judged")
    nj.run(
        program="relevance", topics=COLLECTION / "topics.tsv", out=folder / "relevance",
        candidates=COLLECTION / "candidates.jsonl", **free,
        passages=[COLLECTION / "passages.jsonl"],
    )  # fmt: skip
    nj.run(
        program="keypoints", topics=POINTS / "topics.jsonl", keypoints=POINTS / "keypoints.jsonl",
        runs=str(POINTS / "answers"), out=folder / "keypoints", **free,
    )  # fmt: skip
    nj.run(
        program="items", items=COLLECTION / "labels" / "grounded.jsonl", out=folder / "items",
        judge=COLLECTION / "grounded.yaml", **free,
    )  # fmt: skip
    from nuggetjudge.plugins.collections.crux import build_crux

    news = folder / "news"
    build_crux(SUMMARIES / "summaries.jsonl", load_config(None, {"run.out": news} | free))
    nj.run(
        program="coverage", topics=news / "topics.jsonl", questions=news / "questions.jsonl",
        passages=[news / "passages.jsonl"], ratings=[news / "ratings.jsonl"], **free,
        retrieval=str(SUMMARIES / "runs"), runs=str(SUMMARIES / "answers"),
        out=folder / "coverage",
    )  # fmt: skip
    for name in ("judged", "relevance", "keypoints", "items", "coverage"):
        forget_digests(folder / name)
    return folder


def changed(**values):
    return lambda row: row | values


def without(name):
    return lambda row: {key: value for key, value in row.items() if key != name}


def nugget(**values):
    return lambda row: row | {"nuggets": [row["nuggets"][0] | values, *row["nuggets"][1:]]}


EDITS = {  # program, file, how a row is edited (None: torn), what the error says
    "a topic of no ranking": ("relevance", "relevance.jsonl", changed(topic_id="x"), "candid"),
    "a passage of no ranking": ("relevance", "relevance.jsonl", changed(passage_id="x"), "candid"),
    "no grade": ("relevance", "relevance.jsonl", without("grade"), "'grade'"),
    "a torn grade": ("relevance", "relevance.jsonl", None, "not JSON"),
    "a topic that is a list": ("relevance", "relevance.jsonl", changed(topic_id=[1]), "an id"),
    "a torn assignment": ("nuggets", "assignments.jsonl", None, "not JSON"),
    "nuggets that are a text": ("nuggets", "assignments.jsonl", changed(nuggets="x"), "a list"),
    "a nugget without text": ("nuggets", "assignments.jsonl", nugget(text=3), "text"),
    "a sentence that is no place": ("support", "support.jsonl", changed(sentence="x"), "position"),
    "no run": ("support", "support.jsonl", without("run_id"), "run_id"),
    "a rating too many": ("coverage", "ratings.jsonl", changed(rating=[0] * 99), "99 ratings"),
    "a rating of a billion": ("coverage", "ratings.jsonl", changed(rating=[10**9] * 10), "0 to 5"),
    "questions of a number": ("coverage", "questions.jsonl", changed(subquestions=3), "a list"),
    "a pool that is a text": ("coverage", "pools.jsonl", changed(passage_ids="x"), "a list"),
    "tokens that are texts": ("coverage", "contexts.jsonl", changed(tokens=["x"] * 4), "number"),
    "a point without id": ("keypoints", "entailments.jsonl", without("key_point_id"), "key_point"),
    "claims that are a text": ("keypoints", "claims.jsonl", changed(claims="x"), "a list"),
    "a label of no scale": ("items", "labels.jsonl", changed(label="ful"), "wanted one of"),
    "an item without topic": ("items", "labels.jsonl", without("topic_id"), "topic_id"),
}  # fmt: skip


@pytest.mark.whole
@pytest.mark.parametrize("name", EDITS)
def test_an_edited_result_is_named_by_its_line(name, results, tmp_path):
    program, file, edit, what = EDITS[name]
    folder = shutil.copytree(results / program, tmp_path / "out")
    lines = (folder / file).read_text(encoding="utf-8").splitlines()
    lines[1] = json.dumps(edit(json.loads(lines[1]))) if edit else lines[1][: len(lines[1]) // 2]
    (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"^{re.escape(str(folder / file))}:2: .*{what}"):
        score_path(folder, Problems())


MANIFESTS = {  # where, the value, what the error says
    "run ids": (("data", "run_ids"), ["a", 3], r":\d+: data\.run_ids\.1: .*string, got 3"),
    "data": (("data",), 3, r":\d+: data: "),
    "programs": (("config", "program"), "nuggets", r":\d+: config\.program: .* list"),
    "counts": (("judged", "support"), "many", r":\d+: judged\.support: .*got 'many'"),
    "cells": (("cells_without_bank",), [["a"]], r":\d+: cells_without_bank\.0\."),
}


@pytest.mark.whole
@pytest.mark.parametrize("name", MANIFESTS)
def test_an_edited_manifest_is_named_by_its_line(name, results, tmp_path):
    (*parents, last), value, what = MANIFESTS[name]
    folder = shutil.copytree(results / "nuggets", tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    inner = manifest
    for key in parents:
        inner = inner[key]
    inner[last] = value
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    with pytest.raises(InputError, match=rf"manifest\.json{what}") as error:
        score_path(folder, Problems())
    number = int(str(error.value).split(":")[1])
    shown = (folder / "manifest.json").read_text(encoding="utf-8").splitlines()[number - 1]
    assert f'"{last}"' in shown or "a" not in shown


@pytest.mark.whole
def test_an_edited_manifest_that_is_json_and_no_yaml_is_refused_all_the_same(results, tmp_path):
    text = (results / "judged" / "manifest.json").read_text(encoding="utf-8")
    spoilt = text.replace('"share_missing": 0.0', '\t"share_missing":"none"')
    assert json.loads(spoilt)["share_missing"] == "none"
    (tmp_path / "manifest.json").write_text(spoilt, encoding="utf-8")
    with pytest.raises(InputError, match=r"manifest\.json:1: share_missing: "):
        score_path(tmp_path, Problems())
