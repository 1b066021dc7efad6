"""Two files of scores: rank correlations at three levels, with intervals by topic."""

import json
import random

import pytest

from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.records.reading.problems import Problems


def write(path, cells, runs=None):
    """Score rows of V from (run, topic) -> value, and means by run where they are given."""
    rows = [(run, topic, value) for (run, topic), value in cells.items()]
    rows += [(run, "all", value) for run, value in (runs or {}).items()]
    lines = [
        {"run_id": run, "topic_id": topic, "measure": "V", "value": value}
        for run, topic, value in rows
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def cells(seed):
    rng = random.Random(seed)
    return {(f"r{r}", f"t{t}"): round(r / 10 + rng.random(), 3) for r in range(7) for t in range(9)}


@pytest.fixture
def pair(tmp_path):
    return write(tmp_path / "human.jsonl", cells(1)), write(tmp_path / "judged.jsonl", cells(2))


def test_each_measure_has_its_coefficients_intervals_and_run_scores(pair):
    figures = agree(*pair, Problems())
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert figures["kind"] == "scores"
    values = figures["measures"]["V"]
    levels = {"run_level": values["run_level"], "topic_mean": values["topic_mean"]}
    for level, value in (levels | {"pooled": values["pooled"]}).items():
        assert values["coefficients"][level]["tau_b"]["value"] == value
        interval = values["intervals"][level]["tau_b"]
        assert (interval["value"], interval["n_topics"]) == (value, 9)
        assert interval["low"] < interval["high"]
    human = [value for (run, _), value in cells(1).items() if run == "r3"]
    assert values["run_scores"]["r3"]["human"] == pytest.approx(sum(human) / 9)


def test_a_run_without_an_answer_scores_0_and_one_without_a_value_is_left_out(tmp_path):
    truth, other = cells(1), cells(2)
    del truth["r0", "t0"]
    truth["r1", "t0"] = None
    paths = write(tmp_path / "human.jsonl", truth), write(tmp_path / "judged.jsonl", other)
    scores = agree(*paths, Problems())["measures"]["V"]["run_scores"]
    for run, n_topics in (("r0", 9), ("r1", 8)):
        left = [value for (name, _), value in truth.items() if name == run and value is not None]
        assert len(left) == 8
        assert scores[run]["human"] == pytest.approx(sum(left) / n_topics)


def test_published_run_scores_have_no_interval(tmp_path):
    runs = {f"r{i}": i / 10 for i in range(6)}
    paths = write(tmp_path / "a.jsonl", {}, runs), write(tmp_path / "b.jsonl", cells(2))
    interval = agree(*paths, Problems())["measures"]["V"]["intervals"]["run_level"]["tau_b"]
    assert interval["value"] is not None
    assert (interval["low"], interval["n_topics"]) == (None, 0)


def test_resamples_seed_and_level_reach_the_intervals(pair):
    def tau(**how):
        intervals = agree(*pair, Problems(), **how)["measures"]["V"]["intervals"]
        return intervals["pooled"]["tau_b"]

    assert tau() == tau()
    assert tau(seed=5) != tau()
    assert tau(level=0.5)["low"] > tau()["low"]
    assert tau(resamples=0)["low"] is None
