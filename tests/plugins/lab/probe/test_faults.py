"""Judges that always say yes, that draw lots and that go by a rule come out as such."""

import hashlib
import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from json_lines import write_rows
from mock_server import MockServer, input_of

import nuggetjudge
from nuggetjudge.plugins.lab.probe.faults import (
    KIND,
    Cell,
    has_moved_as_expected,
    judges_in,
    probing_faults,
    rates,
)
from nuggetjudge.plugins.lab.probe.planting import FAULTS
from nuggetjudge.plugins.lab.probe.probing import Options, write_probe
from nuggetjudge.programs.engine.manifest import read_folder_config
from nuggetjudge.records.reading.problems import Problems

PLACES = ("Kelso", "Marlo", "Tarbay", "Penlow", "Ostwick", "Norwick")
FACTS = (
    "We know that the old stone bridge at {0} was opened in 19{1}2.",
    "Ferries from {0} carry 2{1}7 passengers across quiet water.",
    "A museum beside {0} harbour is famous for copper lanterns.",
    "The wooden mills near {0} burnt down after heavy storms.",
)
NUGGETS = (
    "the old stone bridge at {0} was opened in 19{1}2",
    "Ferries from {0} carry 2{1}7 passengers",
    "museum beside {0} harbour is famous for copper lanterns",
    "wooden mills near {0} burnt down after heavy storms",
)
OF_ANSWERS = set(FAULTS) - {"citation-swap", "citation-removal"}
OF_SENTENCES = set(FAULTS) - {"omission", "reordering", "citation-removal"}


@pytest.fixture
def harbours(tmp_path):
    """Six topics of four facts each, in two runs; each sentence cites the passage that says it."""
    topics, passages, banks, runs = [], [], [], {"one": [], "two": []}
    for i, place in enumerate(PLACES):
        topic, query = f"t{i}", "what should visitors see"
        texts = [fact.format(place, i + 1) for fact in FACTS]
        topics.append({"id": topic, "title": query})
        passages += [{"docid": f"{topic}-{n}", "text": text} for n, text in enumerate(texts)]
        nuggets = [{"text": n.format(place, i + 1), "importance": "vital"} for n in NUGGETS]
        banks.append({"qid": topic, "query": query, "nuggets": nuggets})
        for run, answers in runs.items():
            order = (0, 1, 2, 3) if run == "one" else (3, 1, 0, 2)
            answer = [{"text": texts[n], "citations": [n]} for n in order]
            references = [f"{topic}-{n}" for n in range(4)]
            row = {"run_id": run, "topic_id": topic, "topic": query, "response_length": 40}
            answers.append(row | {"references": references, "answer": answer})
    files = {run: write_rows(tmp_path / f"{run}.jsonl", answers) for run, answers in runs.items()}
    return {
        "topics": write_rows(tmp_path / "topics.jsonl", topics),
        "passages": [write_rows(tmp_path / "passages.jsonl", passages)],
        "nuggets": write_rows(tmp_path / "nuggets.jsonl", banks),
        "runs": [str(path) for path in files.values()],
    }


@pytest.fixture
def judged(harbours, tmp_path):
    """`judged(server)`: the results folder of a run, by a server or by the lexical judge."""

    def run(server=None, program="nuggets,support", **settings):
        model = {"run.cache": str(tmp_path / "cache"), **settings}
        if server is not None:
            model |= {"models.default.model": "openai/mock"}
            model |= {"models.default.api_base": server.base_url}
        out = tmp_path / "out"
        nuggetjudge.run(program=program, **harbours, out=out, allow_missing=1.0, **model)
        return out

    return run


def probed(folder, **options):
    """The self-test of all judges of a folder, by judge."""
    given = (folder, judges_in(folder), read_folder_config(folder), Problems())
    report = probing_faults(*given, Options(**options)).ask()
    return report, {one.judge["judge"]: one for one in report.found}


def by_fault(one):
    return {row["fault"]: row for row in one.rows}


def plain(text):
    return " ".join(text.lower().split())


def by_rule(body):
    """Goes by the words as they stand: all sentences in the passage, the nugget in a sentence."""
    asked = input_of(body)
    if "sentence" in asked:
        parts = asked["sentence"].rstrip(".").split(". ")
        parts = [part.split(", ", 1)[-1] for part in parts]  # without an opener
        passage = plain(asked["passage"])
        return {"verdict": "full" if all(plain(part) in passage for part in parts) else "none"}
    parts = [plain(part) for part in asked["answer"].split(". ")]
    stated = [part for part in parts if "not true" not in part]
    return {
        "verdicts": {
            key: "support" if any(plain(text) in part for part in stated) else "not_support"
            for key, text in asked["nuggets"].items()
        }
    }


def always_yes(body):
    asked = input_of(body)
    if "sentence" in asked:
        return {"verdict": "full"}
    return {"verdicts": dict.fromkeys(asked["nuggets"], "support")}


def lots(body):
    """Draws by all that it is asked: the same question has the same answer."""
    asked = input_of(body)
    text = json.dumps(asked, sort_keys=True)
    rng = random.Random(hashlib.sha256(text.encode()).digest())
    if "sentence" in asked:
        return {"verdict": rng.choice(["full", "partial", "none"])}
    labels = ["support", "partial_support", "not_support"]
    return {"verdicts": {key: rng.choice(labels) for key in asked["nuggets"]}}


def test_a_judge_that_goes_by_the_words_sees_every_fault_and_nothing_else(judged):
    with MockServer(by_rule) as server:
        report, judges = probed(judged(server))
    assert (report.n_unjudged, report.limit_reached, report.skipped) == (0, "", [])
    for name, faults in (("assigner", OF_ANSWERS), ("support", OF_SENTENCES)):
        rows = by_fault(judges[name])
        assert {fault for fault, row in rows.items() if row["planted"]} == {*faults, "all"}
        for row in rows.values():
            assert row["detection"]["value"] in (1.0, None), row
            assert row["false_alarms"]["value"] in (0.0, None), row
        assert rows["all"]["detection"]["n"] > 30
        assert rows["all"]["false_alarms"]["n"] > 15
        assert rows["all"]["informedness"]["value"] == 1.0


def test_a_judge_that_always_says_yes_sees_nothing(judged):
    with MockServer(always_yes) as server:
        _, judges = probed(judged(server))
    for one in judges.values():
        last = by_fault(one)["all"]
        assert last["detection"]["n"] > 30
        assert last["detection"]["value"] == last["false_alarms"]["value"] == 0.0
        assert last["informedness"]["value"] == 0.0
        assert 0 < last["lexical"]["detection"]["value"] < 1  # swaps and drops


@pytest.mark.slow
def test_a_judge_that_draws_lots_moves_as_often_where_it_must_not(judged):
    with MockServer(lots) as server:
        _, judges = probed(judged(server))
    n_not_best = 0
    for one in judges.values():
        last = by_fault(one)["all"]
        assert abs(last["informedness"]["value"]) < 0.15
        assert last["false_alarms"]["value"] > 0.4  # two of three draws are another label
        n_not_best += last["detection"]["n_not_best"]
    assert n_not_best == 0  # the run's own labels were drawn alike, and only their best are used


@pytest.mark.slow
def test_the_interval_of_a_judge_that_draws_lots_holds_0(judged):
    _, judges = probed(judged())
    given = [cell for each in judges["assigner"].answered for cell in each.cells()]
    rng = np.random.default_rng(0)
    n_holding = 0
    for _ in range(100):
        cells = [
            replace(
                cell,
                before="full" if cell.must == "down" else str(rng.choice(SCALE)),
                after=str(rng.choice(SCALE)),
            )
            for cell in given
        ]
        informedness = rates(cells, SCALE, GAINS, seed=0)["informedness"]
        n_holding += informedness["low"] <= 0.0 <= informedness["high"]
    assert n_holding >= 90


def test_what_is_not_judged_is_counted_and_is_no_detection(judged, tmp_path):
    def breaks(body):
        asked = input_of(body)
        text = asked.get("sentence") or asked["answer"]
        return "no idea" if "not true" in text or "not open" in text else by_rule(body)

    with MockServer(breaks) as server:
        report, judges = probed(judged(server, **{"models.default.reasks": 0}))
    rows = by_fault(judges["support"])
    lost = rows["negation"]["detection"]
    assert lost["n_unjudged"] > 0
    assert lost["n"] + lost["n_unjudged"] == rows["negation"]["planted"]
    assert lost["value"] in (None, 1.0)
    assert report.n_unjudged >= lost["n_unjudged"]
    write_probe(tmp_path / "test", KIND.names, report, {"seed": 0})
    missing = (tmp_path / "test" / "unjudged.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["fault"] for line in missing} == {"negation"}
    assert {json.loads(line)["raw"] for line in missing} == {"no idea"}
    cases = [row for one in report.found for row in one.cases() if row["fault"] == "negation"]
    assert all(row["as_it_must"] is None for row in cases if row["label_after"] is None)


def test_the_unchanged_items_are_asked_as_in_the_run_and_the_plan_has_the_rest(judged):
    with MockServer(by_rule) as server:
        folder = judged(server, **{"judges.assigner.window": 3})
        n_run = len(server.requests)
        plan, _ = probing_faults(
            folder, judges_in(folder), read_folder_config(folder), Problems()
        ).plan()
        assert len(server.requests) == n_run
        report, judges = probed(folder)
        n_faults = len(server.requests) - n_run
        asked = [input_of(request.body).get("nuggets", {}) for request in server.requests]
        windows = [tuple(nuggets.values()) for nuggets in asked]
        again, _ = probed(folder)
        assert len(server.requests) - n_run == n_faults
    calls = {each.judge: each.calls for each in plan}
    assert set(windows[n_run:]) <= set(windows[:n_run])  # though two may have the same fault
    for name, one in judges.items():
        assert calls[f"{name} faults"] == len(one.answered)
    assert n_faults == calls["assigner faults"] + calls["support faults"]
    assert report.spent["support"].cache_hits == calls["support unchanged"]
    assert [one.rows for one in again.found] == [one.rows for one in report.found]


def test_a_sample_is_drawn_over_topics_and_by_its_seed(judged):
    folder = judged()
    _, few = probed(folder, limit=3)
    cases = [each.case for each in few["support"].answered]
    for fault in OF_SENTENCES:
        of_fault = [case.items[0].ids["topic_id"] for case in cases if case.fault == fault]
        assert len(of_fault) == len(set(of_fault)) == 3, fault
    texts = {seed: probed(folder, limit=3, seed=seed)[1]["support"].cases() for seed in (0, 7)}
    assert texts[0] == few["support"].cases()
    assert texts[7] != texts[0]


def test_every_label_stands_in_the_list_with_both_texts(judged):
    _, judges = probed(judged())
    for one in judges.values():
        rows = one.cases()
        last = one.rows[-1]
        for name, must in (("detection", "down"), ("false_alarms", "same")):
            listed = [row for row in rows if row["must"] == must]
            counted = [row for row in listed if row["as_it_must"] is not None]
            assert len(counted) == last[name]["n"]
            hits = sum(row["as_it_must"] is (must == "down") for row in counted)
            assert hits / len(counted) == pytest.approx(last[name]["value"])
        assert all(row["before"] != row["after"] for row in rows)


def test_what_a_measure_cannot_see_changes_nothing_that_is_asked(judged, harbours, tmp_path):
    """The reasons given for blind faults, held against the programs themselves."""
    given = {path: Path(path).read_text(encoding="utf-8") for path in harbours["runs"]}

    def judged_with(change):
        for path, text in given.items():
            rows = [json.loads(line) for line in text.splitlines()]
            for row in rows:
                change(row["answer"])
            write_rows(Path(path), rows)
        result = nuggetjudge.Result(judged())
        labels = sorted(row["label"] for row in result.judgements["support"] if row["citation"])
        scores = [result.score("one", f"support_{name}") for name in ("precision", "recall")]
        return (tmp_path / "out" / "assignments.jsonl").read_bytes(), labels, *scores

    def swap(answer):
        answer[0]["citations"] = [(answer[0]["citations"][0] + 1) % 4]

    nuggets, labels, *scores = judged_with(lambda answer: None)
    assert labels == ["full"] * 48
    assert scores == [1.0, 1.0]
    swapped, fewer, *_ = judged_with(swap)
    assert swapped == nuggets
    assert fewer.count("full") == 36
    removed, left, *scores = judged_with(lambda answer: answer[0].update(citations=[]))
    assert removed == nuggets
    assert left == ["full"] * 36
    assert scores == [1.0, 0.75]  # recall counts it, precision does not
    reordered, same, *_ = judged_with(lambda answer: answer.reverse())
    assert reordered != nuggets  # an answer is read as a whole there
    assert same == labels
    omitted, left, *scores = judged_with(lambda answer: answer.pop(0))
    assert omitted != nuggets
    assert left == ["full"] * 36
    assert scores == [1.0, 1.0]


SCALE, GAINS = ("none", "partial", "full"), {"none": 0.0, "partial": 0.5, "full": 1.0}


@pytest.mark.parametrize(
    ("must", "before", "after", "is_as_it_must"),
    [
        ("down", "full", "none", True),
        ("down", "full", "partial", True),
        ("down", "full", "full", False),
        ("down", "partial", "none", None),  # had not the best label to fall from
        ("down", "full", None, None),
        ("down", None, "none", None),
        ("same", "none", "none", True),
        ("same", "none", "full", False),
        ("same", "full", None, None),
    ],
)
def test_a_label_did_what_it_must(must, before, after, is_as_it_must):
    assert (
        has_moved_as_expected(Cell("negation", "t", must, before, after), SCALE, GAINS)
        is is_as_it_must
    )


def test_rates_are_those_of_a_hand_count_and_intervals_go_by_topic():
    cells = [
        *[Cell("number", "t1", "down", "full", "none")] * 3,
        *[Cell("number", "t2", "down", "full", "full")] * 1,
        Cell("number", "t2", "down", "partial", "none"),
        Cell("number", "t2", "down", "full", None),
        *[Cell("number", "t1", "same", "full", "full")] * 2,
        *[Cell("number", "t2", "same", "none", "full")] * 2,
    ]
    measured = rates(cells, SCALE, GAINS, seed=0)
    fell, moved = measured["detection"], measured["false_alarms"]
    assert (fell["value"], fell["n"], fell["n_unjudged"], fell["n_not_best"]) == (0.75, 4, 1, 1)
    assert (moved["value"], moved["n"], moved["n_unjudged"]) == (0.5, 4, 0)
    # A sample of two topics has t1 twice, both, or t2 twice: 1, 3/4 and 0 fell. t(1) is 12.7.
    assert (fell["low"], fell["high"], fell["n_topics"]) == (pytest.approx(0), pytest.approx(1), 2)
    assert measured["informedness"]["value"] == pytest.approx(0.25)
    # Without t1 -1, without t2 nothing has to stay and moved: 1 - 0. Far beyond what there can be.
    assert (measured["informedness"]["low"], measured["informedness"]["high"]) == (-1.0, 1.0)
