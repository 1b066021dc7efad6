"""Two judges of the same cells: each flip with what both wrote, the ranking, and the cost."""

import json
from collections import Counter

import pytest
from json_lines import write_rows

from nuggetjudge.programs.analysis.compare import compare, compare_judges
from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.analysis.run_differences import find_topic_differences
from nuggetjudge.programs.scoring.topic_scores import TopicScores
from nuggetjudge.records.reading.problems import InputError, Problems


def assignments(path, table, remarks=()):
    """Answers of runs to t1: {run: labels of nuggets n0, n1, ...}, all vital."""
    with path.open("w", encoding="utf-8") as stream:
        for run, labels in table.items():
            nuggets = [
                {"id": f"n{i}", "text": f"fact {i}", "importance": "vital", "assignment": label}
                for i, label in enumerate(labels)
            ]
            for i, remark in remarks:
                nuggets[i]["rationale"] = remark
            row = {"qid": "t1", "query": "why", "run_id": run, "answer_text": f"answer of {run}"}
            row |= {"response_length": 3, "nuggets": nuggets}
            stream.write(json.dumps(row) + "\n")
    return path


YES, NO = "support", "not_support"


@pytest.fixture
def two(tmp_path):
    """Under the first judge a > b > c with 3, 2 and 1 of 3 facts; under the other b > a > c."""
    first = {"a": [YES, YES, YES], "b": [YES, YES, NO], "c": [YES, NO, NO]}
    second = {"a": [YES, YES, NO], "b": [YES, YES, YES], "c": [YES, NO, NO]}
    one = assignments(tmp_path / "one.jsonl", first, [(2, "it is said")])
    return one, assignments(tmp_path / "two.jsonl", second, [(2, "not at all")])


def test_each_flip_has_its_ids_both_labels_what_both_wrote_and_its_texts(two):
    comparison = compare(*two, Problems())
    assert (comparison["compared"], comparison["agreement"]["n"], comparison["n_flips"]) == (
        "judges", 9, 2,
    )  # fmt: skip
    assert comparison["flips"][0] == {
        "topic_id": "t1", "run_id": "a", "nugget_id": "n2", "label": YES, "other_label": NO,
        "rationale": "it is said", "other_rationale": "not at all", "question": "why",
        "answer_text": "answer of a", "nugget": "fact 2",
    }  # fmt: skip
    counts = {(row["label"], row["other_label"]): row["n"] for row in comparison["flip_counts"]}
    assert counts == {(YES, NO): 1, (NO, YES): 1}


def test_the_ranking_is_given_under_both_with_the_neighbours_that_swap(two):
    row = compare(*two, Problems())["ranking"]["V_strict"]
    assert row["scores"] == [
        {"run_id": "a", "score": 1.0, "other_score": pytest.approx(2 / 3)},
        {"run_id": "b", "score": pytest.approx(2 / 3), "other_score": 1.0},
        {"run_id": "c", "score": pytest.approx(1 / 3), "other_score": pytest.approx(1 / 3)},
    ]
    assert row["swaps"] == [["a", "b"]]
    assert row["tau_b"] == pytest.approx(1 / 3)  # two pairs in order, one not


def test_the_ranking_rests_on_the_cells_that_both_labelled(two, tmp_path):
    partial = assignments(tmp_path / "p.jsonl", {"a": [YES, NO, None], "b": [YES, NO, None]})
    row = compare_judges(two[0], partial, Problems())["ranking"]["V_strict"]
    scores = [(r["run_id"], r["score"], r["other_score"]) for r in row["scores"]]
    assert scores == [("a", 1.0, 0.5), ("b", 1.0, 0.5)]


def test_the_largest_flips_come_first(tmp_path):
    one = assignments(tmp_path / "1.jsonl", {"a": [YES, YES]})
    other = assignments(tmp_path / "2.jsonl", {"a": ["partial_support", NO]})
    comparison = compare_judges(one, other, Problems())
    assert [row["other_label"] for row in comparison["flips"]] == [NO, "partial_support"]


def test_run_names_with_and_without_team_are_one(two, tmp_path):
    other = assignments(tmp_path / "t.jsonl", {"team.a": [NO, YES, YES]})
    comparison = compare_judges(two[0], other, Problems())
    assert (comparison["n_flips"], comparison["flips"][0]["run_id"]) == (1, "a")
    assert comparison["flips"][0]["nugget"] == "fact 0"
    swapped = compare_judges(other, two[0], Problems())
    assert swapped["flips"][0]["run_id"] == "team.a"
    assert swapped["ranking"]["V_strict"]["n_runs"] == 1


def test_labels_of_people_count_with_their_rationales(two, tmp_path):
    rows = ["topic_id,run_id,nugget_id,label,rationale", "t1,a,n2,not_support,it is hinted at"]
    human = tmp_path / "human.csv"
    human.write_text("\n".join(rows) + "\n", encoding="utf-8")
    flip = compare(human, two[0], Problems())["flips"][0]
    assert (flip["rationale"], flip["other_rationale"]) == ("it is hinted at", "it is said")


def test_a_support_flip_has_its_remark(tmp_path):
    paths = []
    for label, remark in (("full", "it says so"), ("none", "another bridge")):
        citation = {"docid": "d1", "label": label, "rationale": remark}
        sentences = [{"text": "Bridges sway.", "citations": [citation]}, {"text": "Alas."}]
        row = {"run_id": "r", "topic_id": "t1", "sentences": sentences}
        sentences[1]["citations"] = []
        paths.append(tmp_path / f"{label}.jsonl")
        paths[-1].write_text(json.dumps(row) + "\n", encoding="utf-8")
    comparison = compare(*paths, Problems())
    (flip,) = comparison["flips"]
    assert (flip["sentence"], flip["other_rationale"]) == ("Bridges sway.", "another bridge")
    scores = comparison["ranking"]["support_recall"]["scores"]
    assert scores == [{"run_id": "r", "score": 0.5, "other_score": 0.0}]


def manifest(folder, judge, inputs, *, requests, tokens, cost, hits=0):
    config = {"program": ["nuggets"]}
    known = {"fingerprint": "f", "config": config, "cells_without_bank": [], "unjudged": {}}
    known |= {"topics_without_nuggets": [], "judged": {"assignments": 10}, "share_missing": 0}
    known |= {"limit_reached": None, "judges": {"assigner": judge}, "inputs": inputs}
    known |= {"data": {"topic_ids": ["t1"], "run_ids": ["a"]}}
    spent = {"requests": requests, "cache_hits": hits, "tokens": tokens, "cost": cost}
    known |= {"tokens": {"prompt": tokens, "completion": 0}, "this_time": spent}
    (folder / "manifest.json").write_text(json.dumps(known), encoding="utf-8")


@pytest.fixture
def folders(tmp_path):
    for name, labels in (("cheap", [YES, NO]), ("dear", [YES, YES])):
        folder = tmp_path / name
        folder.mkdir()
        assignments(folder / "assignments.jsonl", {"a": labels})
        row = {"run_id": "a", "topic_id": "t1", "measure": "V_strict", "value": 0.5}
        (folder / "scores.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return tmp_path / "cheap", tmp_path / "dear"


def test_cost_is_a_ratio_a_judgement_and_unknown_where_it_is_not_known(folders):
    manifest(folders[0], "small", {}, requests=10, tokens=100, cost=None)
    manifest(folders[1], "large", {}, requests=20, tokens=500, cost=0.5)
    cost = compare(*folders, Problems())["cost"]
    assert cost["ratio_per_judgement"] == {"calls": 2.0, "tokens": 5.0, "dollars": None}
    assert (cost["one"]["dollars"], cost["other"]["dollars"]) == (None, 0.5)


def test_what_came_from_the_cache_is_no_measure_of_cost(folders):
    manifest(folders[0], "small", {}, requests=10, tokens=100, cost=0.1)
    manifest(folders[1], "large", {}, requests=1, tokens=5, cost=0.01, hits=9)
    cost = compare(*folders, Problems())["cost"]
    assert cost["ratio_per_judgement"] == {"calls": None, "tokens": None, "dollars": None}


def test_one_judge_on_other_inputs_means_that_the_runs_changed(folders):
    manifest(folders[0], "small", {"run.jsonl": "1"}, requests=1, tokens=1, cost=0)
    manifest(folders[1], "small", {"run.jsonl": "2"}, requests=1, tokens=1, cost=0)
    comparison = compare(*folders, Problems())
    assert comparison["compared"] == "runs"
    assert [r["run_id"] for r in comparison["measures"]["V_strict"]["runs"]] == [
        "a@cheap",
        "a@dear",
    ]
    assert compare(*folders, Problems(), way="judges")["compared"] == "judges"


def test_other_nuggets_are_no_common_cells(two, tmp_path):
    text = two[1].read_text(encoding="utf-8").replace('"id": "n', '"id": "m')
    other = tmp_path / "other.jsonl"
    other.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"no item in common[\s\S]*--as runs"):
        compare(two[0], other, Problems())


def test_flips_of_two_published_judges_are_those_in_their_rows(shared_data, tmp_path):
    rows = list(
        map(json.loads, (shared_data / "dl23_llmjudge" / "pairs.jsonl").open(encoding="utf-8"))
    )
    names = ("willia-umbrela1", "h2oloo-fewself")
    paths = []
    for name in names:
        paths.append(tmp_path / f"{name}.jsonl")
        labels = [
            {"qid": r["qid"], "docid": r["docid"], "grade": r["llm"][name], "query": r["query"]}
            for r in rows
        ]
        write_rows(paths[-1], labels)
    wanted = Counter((str(r["llm"][names[0]]), str(r["llm"][names[1]])) for r in rows)
    comparison = compare(*paths, Problems())
    counts = {(row["label"], row["other_label"]): row["n"] for row in comparison["flip_counts"]}
    assert counts == {pair: n for pair, n in wanted.items() if pair[0] != pair[1]}
    assert comparison["flips"][0]["question"] in {r["query"] for r in rows}
    assert comparison["ranking"] is None  # relevance has no runs to rank


def test_labels_that_differ_are_counted_from_the_first_judge_to_the_second(tmp_path):
    paths = []
    for name, grades in (("one", (3, 3, 0, 1)), ("other", (1, 1, 0, 2))):
        rows = [{"topic_id": "t", "passage_id": f"p{i}", "label": g} for i, g in enumerate(grades)]
        paths.append(tmp_path / f"{name}.jsonl")
        write_rows(paths[-1], rows)
    comparison = compare(*paths, Problems())
    counts = {(row["label"], row["other_label"]): row["n"] for row in comparison["flip_counts"]}
    assert counts == {("3", "1"): 2, ("1", "2"): 1}


# What made the difference between two runs, counted by hand.
LABELS = {  # run -> topic -> labels of nuggets a (vital), b (okay), c (vital)
    "one": {"t1": ["support", "support", "partial_support"], "t2": ["not_support"] * 3},
    "two": {"t1": ["not_support", "support", "support"], "t2": ["not_support"] * 3},
    "half": {"t1": ["support", None, "support"]},
}


@pytest.fixture
def run_differences_folder(tmp_path):
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


def differences(run_differences_folder, *runs):
    from nuggetjudge.programs.analysis.run_differences import find_judgement_differences

    return {
        d["what"]: d for d in find_judgement_differences(run_differences_folder, *runs, Problems())
    }


def test_nuggets_that_parted_are_those_whose_labels_differ_the_furthest_first(
    run_differences_folder,
):
    nuggets = differences(run_differences_folder, "one", "two")["nuggets"]
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


def test_a_judgement_that_one_run_lacks_is_none_that_parted(run_differences_folder):
    nuggets = differences(run_differences_folder, "one", "half")["nuggets"]
    # Of t1 alone, and there of a and c: b of `half` was not judged.
    assert (nuggets["n"], nuggets["n_better"], nuggets["n_worse"]) == (2, 0, 1)
    assert [f["id"] for f in nuggets["flips"]] == ["c"]


def test_citations_which_are_each_runs_own_are_counted_by_label(run_differences_folder):
    citations = differences(run_differences_folder, "one", "two")["citations"]
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
    write_rows(path, rows)
    comparison = compare_runs([path], Problems(), runs=["one", "two"])
    assert "judgements" not in comparison  # a file of scores has none
    topics = comparison["measures"]["M"]["topics"]
    assert [(row["topic_id"], row["difference"]) for row in topics] == [("t1", 1), ("t2", -0.25)]
