"""A judge with a window is run, probed and fitted in the same calls: what one asked, none asks."""

import json
from pathlib import Path

import pytest
from mock_server import MockServer, input_of

import nuggetjudge as nj
from nuggetjudge.plugins.lab.probe.probing import Options
from nuggetjudge.plugins.lab.probe.shifts import probing_conditions
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.manifest import read_config_of
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.topics import read_topics

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"
YES, NO = "support", "not_support"
TOPICS, RUNS, N_NUGGETS = ("t1", "t2", "t3", "t4"), ("b", "a"), 12
BASE_ALONE = Options(kinds=(), limit=10_000)


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def odd_ones(body):
    """Finds the nuggets at odd numbers, so that a label depends on the window."""
    return {"verdicts": {i: YES if int(i) % 2 else NO for i in input_of(body)["nuggets"]}}


@pytest.fixture
def server():
    with MockServer(odd_ones) as server:
        yield server


@pytest.fixture
def settings(server, tmp_path):
    model = {"model": "hosted_vllm/mock", "api_base": server.base_url}
    return {"models.default": model, "cache": str(tmp_path / "cache")}


@pytest.fixture
def rows(tmp_path):
    """Labelled nuggets, nugget by nugget: the rows of an answer are far from each other."""
    return write_rows(
        tmp_path / "rows.jsonl",
        [
            {"topic_id": topic, "run_id": run, "nugget_id": f"n{-i % 7}-{i}",
             "question": f"why {topic}", "answer": f"an answer on {topic}",  # of either run
             "nugget": f"fact {i} of {topic}", "label": YES if i % 3 else NO}
            for i in range(N_NUGGETS) for topic in TOPICS for run in RUNS
        ],
    )  # fmt: skip


def asked(server):
    """The windows that were asked about, as they were asked."""
    return [list(input_of(request.body)["nuggets"].values()) for request in server.requests]


def probed(source, settings):
    config = load_config(
        None, {"models.default": settings["models.default"], "run.cache": settings["cache"]}
    )
    if source.is_dir():
        config = read_config_of(source)
    return probing_conditions(source, ["assigner"], config, Problems(), BASE_ALONE).ask()


def test_rows_in_any_order_are_judged_probed_and_fitted_answer_by_answer(
    server, settings, rows, tmp_path
):
    run = nj.run(
        program="items", items=str(rows), judge="assigner", out=tmp_path / "out", **settings
    )
    # Both runs of a topic gave one answer: their calls are equal, and the second is a cache hit.
    windows = [
        [f"fact {i} of {topic}" for i in window]
        for topic in TOPICS for window in (range(10), range(10, 12))
    ]  # fmt: skip
    assert sorted(asked(server)) == sorted(windows)
    labels = {cell(row): row["label"] for row in run.judgements["labels"]}
    given = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert list(labels) == [cell(row) for row in given]  # the order of the file
    assert labels["t1", "a", "n0-0"] == YES
    assert labels["t1", "a", "n6-1"] == NO
    assert labels["t1", "a", "n4-10"] == YES  # the first of the second window
    report = probed(rows, settings)
    fitted = nj.calibrate(rows, "assigner", "threshold", folds=4, resamples=0, **settings)
    again = probed(tmp_path / "out", settings)
    assert len(server.requests) == len(windows)
    for each in (report, again):
        assert each.of("cost")[0]["cost"]["calls"] == 2 * len(windows)
        verdicts = zip(each.items, each.outcomes["base"], strict=True)
        assert {item.cell: verdict.label for item, verdict in verdicts} == labels
    agree = sum(labels[cell(row)] == row["label"] for row in given) / len(given)
    assert fitted.report["figures"]["accuracy"]["before"]["value"] == pytest.approx(agree)


def cell(row):
    return row["topic_id"], row["run_id"], row["nugget_id"]


def test_what_judge_run_nuggets_asked_is_not_asked_again(server, settings, tmp_path):
    topics = write_rows(
        tmp_path / "topics.jsonl",
        [
            {"id": topic, "title": f"what of {topic}", "background": "a student asks"}
            for topic in read_topics(DEMO / "topics.tsv", Problems())
        ],
    )
    texts = (DEMO / "runs" / "complete.jsonl").read_text(encoding="utf-8")
    (tmp_path / "one.jsonl").write_text(texts, encoding="utf-8")
    (tmp_path / "two.jsonl").write_text(texts.replace('"complete"', '"copied"'), encoding="utf-8")
    data = {"topics": str(topics), "nuggets": str(DEMO / "nuggets.jsonl")}
    run = nj.run(
        program="nuggets",
        runs=[str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl")],
        out=tmp_path / "out",
        **{"judges.assigner.window": 7},
        **data,
        **settings,
    )
    assert run.n_unjudged == 0
    assert {len(window) for window in asked(server)} > {7}
    n = len(server.requests)
    report = probed(tmp_path / "out", settings)
    assert report.of("cost")[0]["n_judged"] == run.n_judged
    people = tmp_path / "out" / "assignments.jsonl"
    nj.calibrate(
        people,
        "assigner",
        "threshold",
        topics=str(topics),
        folds=2,
        resamples=0,
        **{"judges.assigner.window": 7},
        **settings,
    )
    assert len(server.requests) == n


def test_a_limit_on_labels_takes_whole_answers(server, settings, rows):
    nj.calibrate(rows, "assigner", "threshold", folds=2, resamples=0, limit=60, **settings)
    sizes = [len(window) for window in asked(server)]
    assert sorted(sizes) == [2] * 4 + [10] * 4  # five answers, two of them of one topic and text
