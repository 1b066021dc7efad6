"""The array formulas behind the intervals are the coefficients of the drawn samples."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import kendalltau, pearsonr, spearmanr

from nuggetjudge.metrics import kendall_tau, pearson, spearman, tau_ap, taus, top_k_tau
from nuggetjudge.metrics.inference import topic_draws
from nuggetjudge.metrics.rank_correlation import (
    TOP_K,
    Coefficient,
    correlate_drawn_cells,
    correlate_samples,
    count_top,
    orders,
    tau_intervals,
)

scores = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0])


def tau_b_by_definition(truth, judged):
    """Tau-b by looking at every pair of items: another implementation, slow and plain."""
    concordant = discordant = tied_truth = tied_judged = 0
    for i, j in itertools.combinations(range(len(truth)), 2):
        sign = (truth[i] - truth[j]) * (judged[i] - judged[j])
        concordant += sign > 0
        discordant += sign < 0
        tied_truth += truth[i] == truth[j]
        tied_judged += judged[i] == judged[j]
    n_pairs = len(truth) * (len(truth) - 1) // 2
    denominator = math.sqrt((n_pairs - tied_truth) * (n_pairs - tied_judged))
    return (concordant - discordant) / denominator if denominator else None


# By hand: of 10 pairs 2 are concordant and 6 discordant; 2 are tied on the left, 1 on the right.
def test_ties_match_a_hand_count():
    assert kendall_tau([12, 2, 1, 12, 2], [1, 4, 7, 1, 0]) == pytest.approx(
        (2 - 6) / math.sqrt((10 - 2) * (10 - 1))
    )


@pytest.mark.parametrize(("truth", "judged"), [([], []), ([1], [1]), ([1, 2], [3, 3])])
def test_tau_without_two_different_scores_is_undefined(truth, judged):
    assert kendall_tau(truth, judged) is None
    assert kendall_tau(judged, truth) is None


@pytest.mark.parametrize(
    ("truth", "judged", "message"),
    [
        ([1.0], [1.0, 2.0], "1 true scores for 2"),
        ([1.0, math.nan], [1.0, 2.0], r"truth\[1\]"),
        ([1.0, 2.0], [math.inf, 1.0], r"judged\[0\]"),
    ],
)
def test_bad_scores_are_named(truth, judged, message):
    with pytest.raises(ValueError, match=message):
        kendall_tau(truth, judged)


def tau_ap_by_definition(truth, judged):
    """Walk down the judged order and look up at every item above: slow and plain."""
    shares = []
    for i in range(len(judged)):
        above = [j for j in range(len(judged)) if judged[j] > judged[i]]
        right = sum(truth[j] > truth[i] for j in above)
        if above:
            shares.append(2 * right / len(above) - 1)
    defined = len(set(truth)) > 1 and len(set(judged)) > 1
    return sum(shares) / len(shares) if defined else None


# By hand, 2 / (n - 1) sum(C(i) / (i - 1)) - 1. Judged order a b d c: C = 1, 2, 2 of 1, 2, 3.
# Judged b a c d: C = 0, 2, 3. The same one swap costs 2/9 at the bottom and 2/3 at the top.
@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        ([4, 3, 2, 1], 1.0),
        ([4, 3, 1, 2], 2 / 3 * (1 / 1 + 2 / 2 + 2 / 3) - 1),
        ([3, 4, 2, 1], 2 / 3 * (0 / 1 + 2 / 2 + 3 / 3) - 1),
        ([1, 2, 3, 4], -1.0),
    ],
)
def test_tau_ap_matches_a_hand_count(judged, expected):
    assert tau_ap([4, 3, 2, 1], judged) == pytest.approx(expected)


# By hand. Judged a above b and c, which are tied, above d: b +1/1, c +1/1, d +3/3.
# Truth has b and c tied, judged a b c d: b +1/1, c (1 - 1)/2, d +3/3.
def test_tau_ap_with_ties_matches_a_hand_count():
    assert tau_ap([4, 3, 2, 1], [3, 2, 2, 1]) == pytest.approx(1.0)
    assert tau_ap([4, 2, 2, 1], [4, 3, 2, 1]) == pytest.approx((1 + 0 + 1) / 3)
    assert tau_ap([4, 2, 2, 1], [4, 2, 2, 1]) == pytest.approx(1.0)
    assert tau_ap([2, 1, 3], [5, 5, 1]) == pytest.approx(-1.0)  # the two at the top have no above


# Scores of ten items, also rounded to have ties, and what the implementation of Urbano and
# Marrero (ircor) gives for them: tau_ap in one direction, tau_ap,b (the mean of both), tau-b.
IRCOR = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        (0.8519, 0.8333, 0.9111),
        [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
        [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
        (0.7321, 0.9398),
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        (0.2504, 0.2880, 0.2889),
        [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
        (0.2970, 0.3765),
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        (-0.6971, -0.6680, -0.6889),
        [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
        [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
        (-0.7047, -0.6510),
    ),
]


@pytest.mark.parametrize(("x", "y", "plain", "x_tied", "y_tied", "tied"), IRCOR)
def test_tau_ap_and_tau_b_match_another_implementation(x, y, plain, x_tied, y_tied, tied):
    both_ways = (tau_ap(x, y) + tau_ap(y, x)) / 2
    taus = (tau_ap(x, y), both_ways, kendall_tau(x, y))
    assert taus == pytest.approx(plain, abs=5e-5)
    both_ways = (tau_ap(x_tied, y_tied) + tau_ap(y_tied, x_tied)) / 2
    assert (both_ways, kendall_tau(x_tied, y_tied)) == pytest.approx(tied, abs=5e-5)


def test_the_top_of_the_order_is_chosen_by_the_truth():
    truth, judged = [6, 5, 4, 3, 2, 1], [1, 2, 3, 9, 8, 7]
    assert top_k_tau(truth, judged, 3) == -1.0
    assert top_k_tau(judged, truth, 3) == 1.0
    assert top_k_tau(truth, judged, 6) == kendall_tau(truth, judged)


def test_items_tied_with_the_last_of_the_top_are_taken_too():
    truth, judged = [4, 3, 3, 3, 1], [4, 1, 2, 3, 5]
    assert count_top(truth, 2) == 4
    expected = tau_b_by_definition(truth[:4], judged[:4])
    assert top_k_tau(truth, judged, 2) == pytest.approx(expected)
    assert top_k_tau(truth[::-1], judged[::-1], 2) == pytest.approx(expected)


def test_a_top_larger_than_the_list_is_undefined_and_k_must_be_positive():
    assert top_k_tau([1, 2, 3], [1, 2, 3], 4) is None
    assert top_k_tau([1, 1, 1, 0], [1, 2, 3, 4], 2) is None  # the top is tied throughout
    with pytest.raises(ValueError, match="k >= 1"):
        top_k_tau([1, 2], [1, 2], 0)


@pytest.mark.parametrize("seed", range(60))
def test_tau_b_spearman_and_pearson_are_scipys_and_undefined_where_scipy_has_no_number(seed):
    rng = np.random.default_rng(seed)
    n, n_levels = int(rng.choice([0, 1, 2, 3, 8, 40, 300])), int(rng.choice([1, 2, 5, 1000]))
    truth = rng.integers(0, n_levels, n) / 7
    judged = np.where(rng.random(n) < 0.5, truth, rng.integers(0, n_levels, n) / 7)
    both = {"tau_b": (kendall_tau, kendalltau), "spearman": (spearman, spearmanr)}
    both |= {"pearson": (pearson, pearsonr), "tau_ap": (tau_ap, None)}
    for name, (order, scipys) in both.items():
        value = order(truth.tolist(), judged.tolist())
        assert value == orders(truth.tolist(), judged.tolist())[name]
        if n < 2 or np.ptp(truth) == 0 or np.ptp(judged) == 0:
            assert value is None
        elif name == "tau_ap":
            assert value == pytest.approx(tau_ap_by_definition(truth, judged), abs=1e-9)
        else:
            assert value == pytest.approx(scipys(truth, judged).statistic, abs=1e-9)


def test_lists_that_do_not_fit_at_once_give_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    truth, judged = (rng.integers(0, 9, 50).tolist() for _ in range(2))
    whole = orders(truth, judged)
    monkeypatch.setattr("nuggetjudge.metrics.drawn_correlations._AT_ONCE", 120)
    assert orders(truth, judged) == pytest.approx(whole)


def cells(**by_topic):
    return {
        (run, topic): score
        for topic, scored in by_topic.items()
        for run, score in zip("abc", scored, strict=False)
    }


# By hand. Topic t1: a b c in order, judged a c b: 1/3. t2: reversed: -1. t3: judged all equal:
# undefined. Runs: 1/3.
def test_three_levels_match_a_hand_count():
    correlation = taus(
        cells(t1=[1, 2, 3], t2=[1, 2, 3], t3=[1, 2, 3]),
        cells(t1=[1, 3, 2], t2=[3, 2, 1], t3=[2, 2, 2]),
        truth_runs={"a": 1, "b": 2, "c": 3},
        judged_runs={"a": 1.5, "b": 2.5, "c": 2.0},
    )
    assert correlation.run_level == pytest.approx(1 / 3)
    assert (correlation.n_runs, correlation.n_runs_unmatched) == (3, 0)
    assert correlation.topic_mean == pytest.approx((1 / 3 - 1) / 2)
    assert (correlation.n_topics, correlation.n_topics_undefined) == (2, 1)
    assert (correlation.n_cells, correlation.n_cells_unmatched) == (9, 0)
    # Pooled, 36 pairs: 9 tied in truth, 12 in judged, 6 concordant, 11 discordant.
    assert correlation.pooled == pytest.approx((6 - 11) / math.sqrt((36 - 9) * (36 - 12)))


def test_cells_and_runs_of_one_side_alone_are_left_out_and_counted():
    truth = cells(t1=[1, 2, 3], t2=[1, 2])
    judged = cells(t1=[1, 2], t3=[1, 2, 3])
    correlation = taus(
        truth, judged, truth_runs={"a": 1, "b": 2, "c": 3}, judged_runs={"a": 1, "b": 2}
    )
    assert (correlation.run_level, correlation.n_runs, correlation.n_runs_unmatched) == (1.0, 2, 1)
    assert (correlation.topic_mean, correlation.n_topics, correlation.n_topics_undefined) == (
        1.0, 1, 0,
    )  # fmt: skip
    assert (correlation.pooled, correlation.n_cells, correlation.n_cells_unmatched) == (1.0, 2, 6)


def test_without_anything_in_common_every_tau_is_undefined():
    correlation = taus(
        cells(t1=[1, 2]), cells(t2=[1, 2]), truth_runs={"a": 1}, judged_runs={"b": 1}
    )
    assert (correlation.run_level, correlation.topic_mean, correlation.pooled) == (None, None, None)
    assert (correlation.n_runs, correlation.n_topics, correlation.n_cells) == (0, 0, 0)
    assert (correlation.n_runs_unmatched, correlation.n_cells_unmatched) == (2, 4)


def test_every_coefficient_comes_at_every_level_with_its_n():
    truth = cells(t1=[1, 2, 3], t2=[1, 2, 3], t3=[1, 2, 3])
    judged = cells(t1=[1, 3, 2], t2=[3, 2, 1], t3=[2, 2, 2])
    runs = {"a": 1, "b": 2, "c": 3}, {"a": 1.5, "b": 2.5, "c": 2.0}
    correlation = taus(truth, judged, truth_runs=runs[0], judged_runs=runs[1])
    orders = {"tau_b": kendall_tau, "tau_ap": tau_ap, "spearman": spearman, "pearson": pearson}
    tops = {f"tau_top_{k}": None for k in (5, 10, 15, 20)}
    assert list(correlation.coefficients["run_level"]) == list(
        correlation.coefficients["topic_mean"]
    )
    assert list(correlation.coefficients["run_level"]) == [*orders, *tops]
    assert list(correlation.coefficients["pooled"]) == list(orders)
    order = sorted(truth)
    for name, of_lists in orders.items():
        run_level = of_lists([1, 2, 3], [1.5, 2.5, 2.0])
        assert correlation.coefficients["run_level"][name] == Coefficient(run_level, 3)
        by_topic = [of_lists([1, 2, 3], [1, 3, 2]), of_lists([1, 2, 3], [3, 2, 1])]
        mean = correlation.coefficients["topic_mean"][name]
        assert mean == Coefficient(pytest.approx(sum(by_topic) / 2), 2)
        pooled = of_lists([truth[c] for c in order], [judged[c] for c in order])
        assert correlation.coefficients["pooled"][name] == Coefficient(pooled, 9)
    assert correlation.coefficients["run_level"]["tau_top_5"] == Coefficient(None, 0)
    assert correlation.coefficients["topic_mean"]["tau_top_5"] == Coefficient(None, 0)
    assert list(correlation.by_topic) == ["t1", "t2", "t3"]
    assert correlation.by_topic["t2"]["tau_b"] == -1.0
    assert correlation.by_topic["t3"]["tau_b"] is None


def test_the_top_k_of_runs_is_taken_by_run_level_and_by_topic():
    names = "abcdef"
    truth = {(run, "t1"): float(i) for i, run in enumerate(names)}
    judged = {(run, "t1"): float(i % 4) for i, run in enumerate(names)}
    runs = [{run: cells[run, "t1"] for run in names} for cells in (truth, judged)]
    correlation = taus(truth, judged, truth_runs=runs[0], judged_runs=runs[1])
    expected = top_k_tau(list(truth.values()), list(judged.values()), 5)
    assert correlation.coefficients["run_level"]["tau_top_5"] == Coefficient(expected, 5)
    assert correlation.coefficients["topic_mean"]["tau_top_5"] == Coefficient(expected, 1)


# Tables 6 and 7 of arXiv:2411.09607 as printed: 33 runs are in both under a name that the scan
# kept whole. Scores are tied where the tables print the same four digits; tau-b takes such pairs
# out of the denominator of their side. Tau-b of V_strict by the definition, pair by pair.
@pytest.mark.parametrize("measure", ["V_strict", "V", "W_strict", "W", "A_strict", "A"])
def test_published_tables_give_the_tau_of_the_definition(rows, measure):
    published = rows("rag24_nuggets/published_run_scores.jsonl")
    manual, automatic = (
        {row["run_id"]: row[measure] for row in published if row["table"] == table}
        for table in (6, 7)
    )
    correlation = taus({}, {}, truth_runs=manual, judged_runs=automatic)
    both = sorted(manual.keys() & automatic.keys())
    assert correlation.n_runs == len(both) == 33
    total, ties = 0, [0, 0]
    for one, other in itertools.combinations(both, 2):
        apart = [scores[one] - scores[other] for scores in (manual, automatic)]
        total += math.prod(apart) > 0
        total -= math.prod(apart) < 0
        ties = [n + (gap == 0) for n, gap in zip(ties, apart, strict=True)]
    n_pairs = 33 * 32 // 2
    expected = total / math.sqrt((n_pairs - ties[0]) * (n_pairs - ties[1]))
    assert correlation.run_level == pytest.approx(expected, abs=1e-9)
    if measure == "V_strict":
        assert (total, ties, n_pairs) == (386, [0, 0], 528)  # so tau is 386 / 528 = .731
        assert correlation.coefficients["run_level"]["tau_b"] == Coefficient(
            correlation.run_level, 33
        )


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
    coefficients = correlate_samples(np.array([truth] * 2), np.array([judged] * 2), TOP_K)
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
    coefficients = correlate_drawn_cells(truth, judged, topic_of, draws)
    for i, draw in enumerate(draws):
        times = draw[topic_of]
        lists = np.repeat(truth, times).tolist(), np.repeat(judged, times).tolist()
        for name, order in ORDERS.items():
            same(coefficients[name][i], order(*lists))


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
