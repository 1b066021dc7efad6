"""With `logprobs` a run writes how probable each label was, and the scores that come of it."""

import json
from pathlib import Path

import pytest
from json_lines import write_rows
from mock_server import MockServer, Reply, input_of

import nuggetjudge as nj
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.protocols.judged_items import ItemScale, LabelledItem, item_rows
from nuggetjudge.programs.protocols.judgements import Judgement, by_answer
from nuggetjudge.programs.protocols.table import program
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.support import read_support

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"
CITED = {"full": 0.6, "partial": 0.3, "none": 0.1}
FIRST = {"support": 0.7, "partial_support": 0.2, "not_support": 0.1}
OTHER = {"support": 0.05, "partial_support": 0.15, "not_support": 0.8}


def brain(body):
    asked = input_of(body)
    if "passage" in asked:
        return Reply('{"verdict": "full"}', probabilities=CITED)
    numbers = list(asked["nuggets"])
    labels = dict.fromkeys(numbers, "not_support") | {numbers[0]: "support"}
    probabilities = dict.fromkeys(numbers, OTHER) | {numbers[0]: FIRST}
    return Reply(json.dumps({"verdicts": labels}), probabilities=probabilities)


@pytest.fixture
def server():
    with MockServer(brain=brain) as up:
        yield up


@pytest.fixture
def probabilities_run(server, tmp_path):
    def judged(out="out", *sets):
        given = {
            "run.out": tmp_path / out,
            "run.cache": tmp_path / "cache",
            "data.nuggets": DEMO / "nuggets.jsonl",
        }
        settings = (f"models.default.api_base={server.base_url}", "models.default.logprobs=true")
        config = load_config(DEMO / "judge.yaml", given, [*settings, *sets], "hosted_vllm/mock")
        return nj.run(config)

    return judged


def rows(result, name):
    return [json.loads(line) for line in (result.folder / name).open(encoding="utf-8")]


def test_labels_are_written_with_their_score_and_probabilities(probabilities_run):
    result = probabilities_run()
    assert result.is_complete
    cited = [
        citation
        for row in rows(result, "support.jsonl")
        for citation in row.get("citations", [row])
        if "probabilities" in citation
    ]
    assert len(cited) > 50
    for citation in cited:
        assert citation["label"] == "full"
        assert citation["probabilities"] == pytest.approx(CITED)
        assert citation["score"] == pytest.approx(0.6 + 0.3 / 2)
    assigned = [row["nuggets"] for row in rows(result, "assignments.jsonl")]
    assert len(assigned) == 19
    for nuggets in assigned:
        assert nuggets[0]["assignment"] == "support"
        for nugget in nuggets:
            is_first = nugget["assignment"] == "support"  # of its window
            assert nugget["probabilities"] == pytest.approx(FIRST if is_first else OTHER)
            assert nugget["score"] == pytest.approx(0.8 if is_first else 0.05 + 0.15 / 2)


def test_what_fell_on_no_label_is_kept_beside_the_label_and_read_back(
    probabilities_run, server, tmp_path
):
    """A server that reports before the grammar's mask, with .8 of the probability on no label."""
    plain = probabilities_run("plain")
    assert not any("outside_probability" in row for row in rows(plain, "support.jsonl"))

    def unmasked(body):
        reply = brain(body)
        few = {name: p / 5 for name, p in CITED.items()}
        return Reply(reply.content, probabilities=few) if "passage" in input_of(body) else reply

    server.brain = unmasked
    result = probabilities_run("unmasked", "run.cache=false")
    cited = [row for row in rows(result, "support.jsonl") if "probabilities" in row]
    assert len(cited) > 50
    for row in cited:
        assert row["probabilities"] == pytest.approx(CITED)
        assert row["outside_probability"] == pytest.approx(0.8, abs=0.01)
    problems = Problems()
    read = [
        citation.outside_probability
        for labels in read_support(result.folder / "support.jsonl", problems)
        for sentence in labels.sentences
        for citation in sentence.citations
        if citation.probabilities is not None
    ]
    assert read == [row["outside_probability"] for row in cited]
    assert not problems
    before = (result.folder / "support.jsonl").read_bytes()
    again = probabilities_run("unmasked", "run.cache=false")  # from its journal
    assert (again.folder / "support.jsonl").read_bytes() == before


def test_a_run_from_the_cache_writes_the_same_bytes(probabilities_run, server):
    first = probabilities_run("first", "run.concurrency=1")
    n = len(server.requests)
    again = probabilities_run("again", "run.concurrency=16")
    assert len(server.requests) == n
    for name in ("support.jsonl", "assignments.jsonl", "scores.jsonl"):
        assert (again.folder / name).read_bytes() == (first.folder / name).read_bytes()


def test_where_the_endpoint_gives_none_the_labels_are_the_same(probabilities_run, monkeypatch):
    weighed = probabilities_run("weighed", "run.cache=false")
    monkeypatch.setattr("mock_api.logprobs_of", lambda *_: None)
    plain = probabilities_run("plain", "run.cache=false")
    assert plain.is_complete
    labels = [row["label"] for row in rows(plain, "support.jsonl") if "label" in row]
    assert labels == [row["label"] for row in rows(weighed, "support.jsonl") if "label" in row]
    assert not any(
        "probabilities" in line for line in (plain.folder / "support.jsonl").open(encoding="utf-8")
    )


# `judge score` gives the scores from probabilities beside those from labels.
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
    write_rows(path, (row, uncited))
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


# What an answer scores by the labels of its judgements, as when another judge's are compared.
@pytest.mark.parametrize(
    ("task", "measure", "labels", "wanted"),
    [  # wanted: value, n judged, n not judged
        ("support", "support_precision", ("full", None), (1.0, 1, 1)),
        ("support", "support_precision", ("full", "none"), (0.5, 2, 0)),
        ("support", "support_precision", ("partial", "none"), (0.25, 2, 0)),
        ("nuggets", "A", ("support", None), (1.0, 1, 1)),
        ("nuggets", "A", ("partial_support", "not_support"), (0.25, 2, 0)),
        ("keypoints", "KPR", ("yes", None), (1.0, 1, 1)),
        ("keypoints", "KPR", ("yes", "no"), (0.5, 2, 0)),
    ],
)
def test_a_judgement_without_a_label_is_not_counted_as_a_zero(task, measure, labels, wanted):
    units = {"support": "citation", "nuggets": "nugget", "keypoints": "key point"}
    given = [
        Judgement(
            *("r", "t", ("t", "r", str(n)), units[task], str(n), "", label),
            importance="vital",
            sentence=n,
            docid="d",
        )
        for n, label in enumerate(labels)
    ]
    value = program(task).values(by_answer(given))["r", "t"][measure]
    assert (value.value, value.n, value.n_unjudged) == wanted


# Scores of labelled items that are made by hand: whose items count, and how far bounds go.
SCALE = ItemScale(
    judge="tone", inputs=("text",), key=("run_id", "topic_id", "item"), labels=("rude", "kind"),
    is_ordered=True, gains={"rude": 0.25, "kind": 1.0}, measure="tone",
)  # fmt: skip


def item(run, topic, number, label):
    return LabelledItem((run, topic, number), label, None)


def scored(items, topics):
    return {(r.run_id, r.topic_id, r.measure): r for r in item_rows(items, SCALE, topics)}


def test_an_item_that_was_not_judged_earns_at_worst_what_the_worst_label_does():
    row = scored([item("a", "t1", "1", "kind"), item("a", "t1", "2", None)], ["t1"])
    assert row["a", "all", "tone"].value == 1.0
    assert row["a", "all", "tone"].low == pytest.approx((1 + 0.25) / 2)
    assert row["a", "all", "tone"].high == 1.0


# A sample of items: that a run has none of a topic says nothing about the run.
def test_a_run_is_scored_over_the_topics_that_it_has_items_of():
    items = [
        item("a", "t1", "1", "kind"), item("b", "t1", "1", "kind"), item("b", "t2", "1", "rude"),
    ]  # fmt: skip
    row = scored(items, ["t1", "t2"])["a", "all", "tone"]
    assert (row.value, row.low, row.high) == (1.0, 1.0, 1.0)
    assert (row.n_topics, row.n_answered, row.n_asked) == (1, 1, 2)
    assert scored(items, ["t1", "t2"])["b", "all", "tone"].value == pytest.approx((1 + 0.25) / 2)


def test_a_run_whose_items_are_all_of_other_topics_has_no_score():
    items = [item("a", "t1", "1", "kind"), item("b", "beyond", "1", "kind")]
    assert {run for run, _, _ in scored(items, ["t1"])} == {"a"}
