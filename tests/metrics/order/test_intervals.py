"""The array formulas behind the intervals are the coefficients of the drawn samples."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nuggetjudge.metrics import kendall_tau, pearson, spearman, tau_ap, taus, top_k_tau
from nuggetjudge.metrics.bootstrap import topic_draws
from nuggetjudge.metrics.order.coefficients import of_drawn_cells, of_samples
from nuggetjudge.metrics.order.intervals import tau_intervals
from nuggetjudge.metrics.order.taus import TOP_K

ORDERS = {"tau_b": kendall_tau, "tau_ap": tau_ap, "spearman": spearman, "pearson": pearson}
SCORES = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0])


def same(drawn, value):
    assert math.isnan(drawn) == (value is None)
    if value is not None:
        assert drawn == pytest.approx(value, abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.tuples(SCORES, SCORES), max_size=22))
def test_the_coefficients_of_a_sample_of_runs_are_those_of_its_scores(pairs):
    truth, judged = [t for t, _ in pairs], [j for _, j in pairs]
    coefficients = of_samples(np.array([truth] * 2), np.array([judged] * 2), TOP_K)
    for i in range(2):
        for name, order in ORDERS.items():
            same(coefficients[name][i], order(truth, judged))
        for k in TOP_K:
            same(coefficients[f"tau_top_{k}"][i], top_k_tau(truth, judged, k))


CELLS = st.lists(st.tuples(st.integers(0, 3), SCORES, SCORES), min_size=1, max_size=14)


@settings(deadline=None)
@given(CELLS)
def test_the_coefficients_of_drawn_cells_are_those_of_the_cells_written_out(cells):
    cells = sorted(cells)
    names, topic_of = np.unique([topic for topic, _, _ in cells], return_inverse=True)
    truth, judged = (np.array([cell[i] for cell in cells]) for i in (1, 2))
    draws = topic_draws(len(names), resamples=5)
    coefficients = of_drawn_cells(truth, judged, topic_of, draws)
    for i, draw in enumerate(draws):
        times = draw[topic_of]
        lists = np.repeat(truth, times).tolist(), np.repeat(judged, times).tolist()
        for name, order in ORDERS.items():
            same(coefficients[name][i], order(*lists))


def test_a_sample_in_which_a_run_has_no_score_has_no_coefficient():
    scores = np.array([[1.0, 2.0, 3.0], [1.0, np.nan, 3.0]])
    assert np.isnan(of_samples(scores, scores[[0, 0]])["tau_b"]).tolist() == [False, True]


def study(n_runs=8, n_topics=10, seed=0):
    """Scores of runs of different quality by people, and by a judge that is close to them."""
    rng = np.random.default_rng(seed)
    truth, judged = {}, {}
    for r in range(n_runs):
        for t in range(n_topics):
            score = r / n_runs + rng.normal(0, 0.3)
            truth[f"r{r}", f"t{t}"] = round(score, 3)
            judged[f"r{r}", f"t{t}"] = round(score + rng.normal(0, 0.15), 3)
    return truth, judged


def means(cells, topics=None):
    """Means over all topics; a cell that is absent counts 0, one without a value not at all."""
    topics = topics or sorted({topic for _, topic in cells})
    mean_by_run = {}
    for run in sorted({run for run, _ in cells}):
        values = [cells.get((run, topic), 0.0) for topic in topics]
        present = [value for value in values if value is not None]
        mean_by_run[run] = sum(present) / len(present)
    return mean_by_run


def compared(truth, judged, runs=None, **how):
    runs = runs or {"truth_runs": means(truth), "judged_runs": means(judged)}
    correlation = taus(truth, judged, **runs)
    return correlation, tau_intervals(correlation, truth, judged, **runs, **how)


def test_every_coefficient_has_an_interval_around_its_value():
    correlation, intervals = compared(*study(n_runs=24))
    assert {k: list(v) for k, v in intervals.items()} == {
        k: list(v) for k, v in correlation.coefficients.items()
    }
    for level, coefficients in correlation.coefficients.items():
        for name, coefficient in coefficients.items():
            interval = intervals[level][name]
            assert interval.value == coefficient.value
            assert interval.n_topics == 10
            assert interval.low < interval.high
            assert interval.low < interval.value <= interval.high <= 1


def test_the_run_level_interval_is_that_of_the_means_over_drawn_topics():
    truth, judged = study(n_topics=2)
    truth["r7", "t1"] = None  # left out of the mean of its run
    del truth["r6", "t0"], judged["r5", "t1"]  # not answered: 0
    _, intervals = compared(truth, judged, level=0.5)
    possible = [
        kendall_tau(list(means(truth, t).values()), list(means(judged, t).values()))
        for t in (["t0", "t1"], ["t0", "t0"])
    ]
    interval = intervals["run_level"]["tau_b"]
    assert interval.n_topics == 2
    # Without t0 the run r7 has no score at all, so that sample is left out; of the others two in
    # three have both topics and so the value itself. t at this level, for two topics, is 1.
    square = (possible[1] - possible[0]) ** 2 / 3
    half = np.sqrt(2 * square)
    assert interval.value == pytest.approx(possible[0])
    assert interval.high == pytest.approx(min(interval.value + half, 1), abs=0.03)
    assert interval.low == pytest.approx(interval.value - half, abs=0.03)


def test_the_interval_of_the_mean_per_topic_is_that_of_a_mean():
    correlation, intervals = compared(*study(n_topics=30), resamples=4000)
    by_topic = np.array([values["tau_b"] for values in correlation.by_topic.values()])
    half = stats.t.ppf(0.975, 29) * by_topic.std(ddof=1) / np.sqrt(30)
    interval = intervals["topic_mean"]["tau_b"]
    assert interval.low == pytest.approx(interval.value - half, abs=0.01)
    assert interval.high == pytest.approx(interval.value + half, abs=0.01)


def test_equal_means_are_tied_however_they_were_added_up():
    tenths = [0.1, 0.2, 0.3, 0.4]
    truth = {("a", f"t{i}"): x for i, x in enumerate(tenths)}
    truth |= {("b", f"t{i}"): x for i, x in enumerate(tenths)}
    truth |= {("c", f"t{i}"): x + 1 for i, x in enumerate(tenths)}
    correlation, intervals = compared(truth, truth)
    assert intervals["run_level"]["tau_b"].low == pytest.approx(1.0)
    assert correlation.run_level == pytest.approx(1.0)


# As of published leaderboards, whose topics are not here or are others.
def test_run_scores_that_are_not_the_means_of_the_cells_have_no_interval():
    truth, judged = study()
    wrong = {run: score + 0.1 for run, score in means(truth).items()}
    for cells, runs in ((truth, wrong), ({}, means(truth))):
        given_runs = {"truth_runs": runs, "judged_runs": means(judged)}
        correlation, intervals = compared(cells, judged if cells else {}, given_runs)
        interval = intervals["run_level"]["tau_b"]
        assert (interval.value, interval.low, interval.n_topics) == (correlation.run_level, None, 0)
    assert intervals["topic_mean"]["tau_b"].value is None
    assert intervals["pooled"]["spearman"].value is None


def test_run_scores_rounded_to_four_digits_are_still_the_means():
    truth, judged = study()
    rounded = [{r: round(s, 4) for r, s in means(cells).items()} for cells in (truth, judged)]
    runs = {"truth_runs": rounded[0], "judged_runs": rounded[1]}
    _, intervals = compared(truth, judged, runs)
    assert intervals["run_level"]["tau_b"].low is not None


def test_seed_and_samples_and_order_of_cells():
    truth, judged = study()

    def tau(level, **how):
        return compared(truth, judged, **how)[1][level]["tau_b"]

    for level in ("run_level", "topic_mean", "pooled"):
        assert tau(level) == tau(level)
        assert tau(level, seed=1) != tau(level)
        assert tau(level, resamples=0).low is None
        backwards = [dict(reversed(cells.items())) for cells in (truth, judged)]
        assert compared(*backwards)[1][level]["tau_b"] == tau(level)
