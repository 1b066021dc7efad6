"""The methods that turn scores into labels, against scikit-learn, statsmodels and planted truth."""

from itertools import combinations_with_replacement
from statistics import mean

import numpy as np
import pytest
from benchmarks.pages import topic as table
from hypothesis import given
from hypothesis import strategies as st
from refusals import fitted_or_refused
from scipy.optimize import minimize
from scipy.stats import logistic
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from nuggetjudge.calibration.fits import add_topics, fit_ordinal, fit_rising, fit_scale, fit_topics
from nuggetjudge.calibration.threshold import fit_cuts
from nuggetjudge.judges.fitted import Correction, OrdinalCurve
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.metrics.label_agreement import agreement


# Curves from scores to probabilities, against scikit-learn and statsmodels.
def simulated(n=400, thresholds=(1.0, 2.5), seed=0):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(n), 2)
    return scores, np.digitize(5 * scores + rng.logistic(size=n), thresholds)


def test_ordinal_equals_statsmodels():
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    scores, labels = simulated()
    ours = fit_scale(scores, labels, 3, "ordinal")
    positions = [ours.position(score) for score in scores]
    model = OrderedModel(labels, np.array(positions)[:, None], distr="logit")
    fit = model.fit(method="bfgs", disp=0, gtol=1e-9)
    assert ours.curve.slope == pytest.approx(fit.params[0], abs=1e-4)
    expected = model.transform_threshold_params(fit.params)[1:-1]
    assert ours.curve.thresholds == pytest.approx(expected, abs=1e-4)


def test_platt_equals_scikit_learn():
    scores, labels = simulated(60, thresholds=(2.0,))
    ours = fit_scale(scores, labels, 2, "platt")
    positions = np.array([ours.position(score) for score in scores])
    a, b = _sigmoid_calibration(positions, labels)  # P = 1 / (1 + exp(a s + b))
    assert ours.curve.slope == pytest.approx(-a, abs=1e-3)
    assert ours.curve.thresholds[0] == pytest.approx(b, abs=1e-3)


@pytest.mark.parametrize("k", [2, 3])
def test_isotonic_equals_scikit_learn(k):
    scores, labels = simulated(200, thresholds=(1.0, 2.5)[: k - 1])
    curve = fit_scale(scores, labels, k, "isotonic").curve
    tried = np.linspace(0, 1, 333)
    for j in range(1, k):
        expected = IsotonicRegression(out_of_bounds="clip").fit(scores, labels >= j).predict(tried)
        assert [curve.at_least(x)[j - 1] for x in tried] == pytest.approx(expected, abs=1e-9)


def test_probabilities_of_a_model_that_crowd_at_the_ends_are_taken_as_log_odds():
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 4, 1000)
    labels = (rng.logistic(size=1000) < 0.5 * logits + 1).astype(int)  # a model too sure by 2
    scale_fit = fit_scale(1 / (1 + np.exp(-logits)), labels, 2, "platt")
    assert scale_fit.log_odds
    assert scale_fit.curve.slope == pytest.approx(0.5, abs=0.08)
    assert scale_fit.curve.thresholds[0] == pytest.approx(-1, abs=0.25)


def test_the_median_label_is_given_unless_an_objective_chooses_the_cuts():
    scores, labels = simulated(thresholds=(4.0, 5.5))
    scale = ("none", "partial", "full")
    truth = [scale[code] for code in labels]
    median = fit_scale(scores, labels, 3)
    chosen = fit_scale(scores, labels, 3, objective="kappa")
    given_by = {
        name: [each.verdict(Verdict("none", score), scale, None).label for score in scores]
        for name, each in (("median", median), ("chosen", chosen))
    }
    kappas = {
        name: agreement(truth, labelled, scale).cohen_kappa["unweighted"]
        for name, labelled in given_by.items()
    }
    assert kappas["chosen"] >= kappas["median"]
    assert median.cuts is None
    for score, label in zip(scores, given_by["median"], strict=True):
        reached = median.curve.at_least(score)
        assert label == scale[sum(chance >= 0.5 for chance in reached)]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2)), min_size=4, max_size=40),
    st.sampled_from(["ordinal", "isotonic"]),
    st.lists(st.floats(0, 1), min_size=2, max_size=10),
)
def test_probabilities_sum_to_one_and_no_share_falls_with_the_score(items, method, tried):
    scores, labels = zip(*items, strict=True)
    if len(set(labels)) < 2 or np.ptp(scores) < 1e-3:
        return
    scale_fit = fitted_or_refused(lambda: fit_scale(scores, labels, 3, method))
    if scale_fit is None:
        return
    before = None
    for score in sorted(tried):
        verdict = scale_fit.verdict(Verdict("a", score), ("a", "b", "c"), None)
        assert sum(verdict.probabilities.values()) == pytest.approx(1)
        assert min(verdict.probabilities.values()) >= 0
        assert 0 <= verdict.score <= 1
        assert before is None or verdict.score >= before - 1e-12
        before = verdict.score


@pytest.mark.parametrize(
    ("scores", "labels", "method", "message"),
    [
        ([0.1, 0.2], [1, 1], "ordinal", "all 2 labels are 1"),
        ([0.5, 0.5], [0, 1], "ordinal", "all 2 scores are 0.5"),
        ([0.5, 1.5], [0, 1], "isotonic", r"scores\[1\] is 1.5, wanted 0 to 1"),
        ([0.1, 0.2], [0, 2], "platt", "platt is for two labels, got 3"),
    ],
)
def test_labels_that_nothing_can_be_fitted_to_are_refused(scores, labels, method, message):
    with pytest.raises(ValueError, match=message):
        fit_scale(scores, labels, 3, method)


@pytest.mark.parametrize("method", ["platt", "ordinal", "isotonic"])
def test_a_judge_that_is_worse_than_chance_is_refused(method):
    scores, labels = simulated(200, thresholds=(2.5,))
    with pytest.raises(ValueError, match=r"do not rise with labels .* no better than chance"):
        fit_scale(scores, 1 - labels, 2, method)


@given(
    st.floats(0, 1),
    st.sampled_from([1e-15, 1e-11, 1e-7, 1e-3, 1.0]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=2, max_size=12),
)
def test_any_scores_are_fitted_or_refused_in_words(base, width, items):
    scores = np.clip([base + width * share for share, _ in items], 0, 1)
    labels = [label for _, label in items]
    scale_fit = fitted_or_refused(lambda: fit_scale(scores, labels, 5))
    if scale_fit is None:
        return
    for score in scores:
        verdict = scale_fit.verdict(Verdict("a", score), tuple("abcde"), None)
        unseen = [p for j, p in enumerate(verdict.probabilities.values()) if j not in labels]
        assert max(unseen, default=0) == 0


# The nearest rising curve, against scikit-learn.
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=60))
def test_the_curve_and_its_knots_are_those_of_scikit_learn(pairs):
    x, y = np.array(pairs, float).T / [[10], [1]]
    expected = IsotonicRegression(out_of_bounds="clip").fit(x, y)
    curve = fit_rising(x, y)
    tried = np.linspace(-1, 3, 101)
    assert curve.at(tried) == pytest.approx(expected.predict(tried), abs=1e-12)
    assert len(curve.knots) <= len(expected.X_thresholds_)
    assert set(curve.knots) <= set(x)


def test_values_that_fall_are_pooled_by_how_often_they_occur():
    curve = fit_rising([1, 1, 1, 2], [1, 1, 0, 0])
    assert curve.at(np.array([1.0, 2.0])) == pytest.approx([0.5, 0.5])


# The fit beneath the methods: topic shifts, spread, and a maximum that is one.
def ordinal_simulated(seed=0, n=300, n_topics=6):
    rng = np.random.default_rng(seed)
    scores, topics = rng.random(n), rng.integers(0, n_topics, n)
    shifts = rng.normal(0, 1, n_topics)
    return scores, np.digitize(4 * scores + shifts[topics] + rng.logistic(size=n), [1, 3]), topics


# The penalised likelihood written out anew, and maximised by a method without derivatives.
def test_shifts_are_where_a_direct_search_finds_them():
    scores, labels, topics = ordinal_simulated()

    def loss(at):
        slope, low, step, *shifts = at
        thresholds = np.array([-np.inf, low, low + np.exp(step), np.inf])
        line = slope * scores + np.array(shifts)[topics]
        chance = logistic.cdf(thresholds[labels + 1] - line) - logistic.cdf(
            thresholds[labels] - line
        )
        return -np.log(chance).sum() + sum(u**2 for u in shifts) / 2 / 0.7**2

    fit = fit_ordinal(scores, labels, topics, spread=0.7)
    best = minimize(loss, np.zeros(9), method="BFGS", options={"gtol": 1e-6})
    assert fit.slope == pytest.approx(best.x[0], abs=1e-3)
    assert fit.shifts == pytest.approx(best.x[3:], abs=1e-3)
    penalty = (fit.shifts**2).sum() / 2 / 0.7**2
    assert fit.log_likelihood - penalty == pytest.approx(-best.fun, abs=1e-6)


# Integrated over a grid instead of by Laplace: slope and threshold flat, one shift a topic.
def test_evidence_prefers_the_spreads_that_integration_prefers():
    rng = np.random.default_rng(3)
    scores, topics = rng.random(40), np.repeat([0, 1], 20)
    labels = (rng.logistic(size=40) < 3 * scores - 1.5 + np.array([1.2, -1.2])[topics]).astype(int)
    standard = (scores - scores.mean()) / scores.std()
    slopes, thresholds = np.linspace(-2, 6, 21), np.linspace(-6, 6, 31)
    shifts = np.linspace(-12, 12, 61)
    line = slopes[:, None, None, None] * standard + shifts[:, None] - thresholds[:, None, None]
    each = np.where(labels == 1, logistic.logcdf(line), logistic.logcdf(-line))

    def integrated(spread):
        prior = np.exp(-((shifts / spread) ** 2) / 2) / spread
        per_topic = [(np.exp(each[..., topics == t].sum(-1)) * prior).sum(-1) for t in (0, 1)]
        return np.log((per_topic[0] * per_topic[1]).sum())

    laplace = [fit_ordinal(scores, labels, topics, spread=s).evidence for s in (0.5, 1.5)]
    grid = [integrated(s) for s in (0.5, 1.5)]
    assert laplace[1] - laplace[0] == pytest.approx(grid[1] - grid[0], abs=0.05)


def test_a_weight_of_two_is_the_item_twice():
    scores, labels, topics = ordinal_simulated(2, n=80)
    twice = fit_ordinal(np.tile(scores, 2), np.tile(labels, 2), np.tile(topics, 2))
    weighted = fit_ordinal(scores, labels, topics, weights=np.full(80, 2.0))
    assert weighted.slope == pytest.approx(twice.slope, rel=1e-6)
    assert weighted.shifts == pytest.approx(twice.shifts, abs=1e-6)


# Cut points: exact where they can be, planted ones found, ties by the documented rule.
SKLEARN = {
    "kappa": cohen_kappa_score,
    "linear": lambda a, b, **o: cohen_kappa_score(a, b, weights="linear", **o),
    "quadratic": lambda a, b, **o: cohen_kappa_score(a, b, weights="quadratic", **o),
    "accuracy": lambda a, b, **o: accuracy_score(a, b, sample_weight=o.get("sample_weight")),
    "macro_f1": lambda a, b, **o: f1_score(a, b, average="macro"),
}


def cut(scores, cuts):
    return [sum(score >= each for each in cuts) for score in scores]


def noisy(n, k, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    return np.round(labels / k + rng.normal(0, 0.4, n), 1), labels


@pytest.mark.slow
@pytest.mark.parametrize("objective", SKLEARN)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_other_cuts_do_better_by_scikit_learn(objective, k):
    scores, labels = noisy(30 if k < 4 else 14, k, seed=k)
    cuts, value = fit_cuts(scores, labels, k, objective=objective)
    score = SKLEARN[objective]
    assert score(labels, cut(scores, cuts)) == pytest.approx(value, abs=1e-12)
    candidates = [*np.unique(scores), scores.max() + 1]
    tried = combinations_with_replacement(candidates, k - 1)
    assert value == pytest.approx(max(score(labels, cut(scores, c)) for c in tried), abs=1e-12)


def test_one_vs_rest_cuts_one_label_and_leaves_the_others_to_linear_kappa():
    scores, labels = noisy(40, 3, seed=1)
    cuts, value = fit_cuts(scores, labels, 3, objective="one_vs_rest:2")
    top = [label == 2 for label in labels]
    best = max(cohen_kappa_score(top, scores >= c) for c in np.unique(scores))
    assert value == pytest.approx(best, abs=1e-12)
    assert cohen_kappa_score(top, scores >= cuts[1]) == pytest.approx(best, abs=1e-12)
    linear = [
        cohen_kappa_score(labels, cut(scores, (c, cuts[1])), weights="linear")
        for c in [*np.unique(scores[scores < cuts[1]]), cuts[1]]
    ]
    kappa = cohen_kappa_score(labels, cut(scores, cuts), weights="linear")
    assert kappa == pytest.approx(max(linear), abs=1e-12)


def test_planted_cuts_are_found():
    rng = np.random.default_rng(0)
    scores = rng.random(20_000)
    labels = np.digitize(scores, [0.35, 0.8])
    wrong = rng.random(20_000) < 0.2
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    cuts, _ = fit_cuts(scores, labels, 3, objective="kappa")
    assert cuts == pytest.approx((0.35, 0.8), abs=0.01)


def test_of_equally_good_places_the_middle_of_the_widest_stretch_is_taken():
    weights = [1, 0, 1, 1, 0]
    (cut,), _ = fit_cuts([0.0, 0.2, 0.3, 0.7, 0.9], [0, 1, 1, 0, 1], 2, objective="accuracy")
    assert cut == pytest.approx(0.1)  # 0 | 1 1 0 1: one wrong, and nowhere fewer
    (cut,), _ = fit_cuts(
        [0.0, 0.2, 0.3, 0.7, 0.9], [0, 1, 1, 1, 0], 2, objective="accuracy", weights=weights
    )
    assert cut == pytest.approx((0.1 + 0.25) / 2)  # 0.2 weighs nothing: 0.1 and 0.25 are as good


def test_weights_count_an_item_several_times():
    scores, labels = noisy(50, 3, seed=3)
    times = np.random.default_rng(0).integers(0, 4, 50)
    repeated = fit_cuts(np.repeat(scores, times), np.repeat(labels, times), 3)
    weighted = fit_cuts(scores, labels, 3, weights=times)
    assert weighted[1] == pytest.approx(repeated[1], abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "labels", "options", "message"),
    [
        ([0.1], [0, 1], {}, "one label for each score"),
        ([], [], {}, "one label for each score"),
        ([0.1, float("nan")], [0, 1], {}, r"scores\[1\] is nan"),
        ([0.1, 0.2], [0, 2], {}, r"labels\[1\] is .*2.*, wanted a code from 0 to 1"),
        ([0.1, 0.2], [0, 1], {"objective": "f1"}, "unknown objective 'f1'"),
        ([0.1, 0.2], [0, 1], {"objective": "one_vs_rest:2"}, "one_vs_rest:1"),
        ([0.1, 0.2], [0, 1], {"weights": [1, -1]}, "2 weights of 0 or more"),
    ],
)
def test_a_bad_argument_is_named(scores, labels, options, message):
    with pytest.raises(ValueError, match=message):
        fit_cuts(scores, labels, 2, **options)


# Topic shifts: planted ones are found, and pooling beats both extremes at few labels.
SLOPE, THRESHOLDS, SPREAD = 6.0, (2.0, 4.0), 1.2


def topic_simulated(n_topics, n, seed):
    """Scores, labels 0-2, topics, and each topic's shift in logits."""
    rng = np.random.default_rng(seed)
    shifts = rng.normal(0, SPREAD, n_topics)
    scores, at = rng.random(n_topics * n), np.repeat(np.arange(n_topics), n)
    labels = np.digitize(SLOPE * scores + shifts[at] + rng.logistic(size=len(at)), THRESHOLDS)
    return scores, labels, np.array([f"t{t:03}" for t in at]), shifts


@pytest.fixture(scope="module")
def population():
    scores, labels, topics, _ = topic_simulated(60, 60, seed=0)
    return fit_topics(scores, labels, topics, 3)


def test_planted_slope_thresholds_and_spread_are_found(population):
    assert population.curve.slope == pytest.approx(SLOPE, rel=0.1)
    assert population.curve.thresholds == pytest.approx(THRESHOLDS, abs=0.4)
    assert population.spread * population.curve.slope == pytest.approx(SPREAD, rel=0.2)


def error(fit, shifts, slope):
    return np.mean([(fit.topics[f"t{t:03}"] * slope - u) ** 2 for t, u in enumerate(shifts)])


def test_with_5_labels_pooled_shifts_are_nearer_than_none_and_than_unpooled(population):
    scores, labels, topics, shifts = topic_simulated(150, 5, seed=7)
    slope = population.curve.slope
    pooled = add_topics(population, scores, labels, topics)
    loose = population.model_copy(update={"spread": 4.0 / slope})  # next to no pooling
    alone = add_topics(loose, scores, labels, topics)
    assert error(pooled, shifts, slope) < 0.8 * np.mean(shifts**2)
    assert error(pooled, shifts, slope) < 0.8 * error(alone, shifts, slope)


def test_labels_of_the_judged_topics_make_more_labels_right(population):
    scores, labels, topics, _ = topic_simulated(100, 60, seed=9)
    asked = np.tile(np.arange(60) < 10, 100)
    fit = add_topics(population, scores[asked], labels[asked], topics[asked])

    def right(correction):
        scale = ("0", "1", "2")
        given = [
            correction.verdict(Verdict("0", score), scale, topic).label
            for score, topic in zip(scores[~asked], topics[~asked], strict=True)
        ]
        return np.mean(np.array(given, dtype=int) == labels[~asked])

    assert right(fit) > right(population) + 0.05


def test_more_topics_leave_the_rest_as_it_was(population):
    fit = add_topics(population, [0.2, 0.8], [1, 2], ["new", "new"])
    assert fit.model_dump(exclude={"topics"}) == population.model_dump(exclude={"topics"})
    assert fit.topics.items() > population.topics.items()
    assert fit.topics["new"] > 0  # better labels than its scores promise


# The likeliest shift is where the prior's pull back, u / spread^2, is the labels' pull: the sum
# over items of (label - probability) of a curve of slope 1, both in units of the place.
@pytest.mark.parametrize("spread", [0.5, 1.0, 3.0])
def test_a_shift_is_where_the_prior_and_the_labels_pull_alike(spread):
    curve = OrdinalCurve(slope=1.0, thresholds=(0.5,))
    before = Correction(cuts=(0.5,), curve=curve, topics={}, spread=spread)
    shift = add_topics(before, [0.2, 0.4, 0.9], [1, 1, 0], ["t"] * 3).topics["t"]
    chances = 1 / (1 + np.exp(0.5 - np.array([0.2, 0.4, 0.9]) - shift))
    assert shift / spread**2 == pytest.approx((np.array([1, 1, 0]) - chances).sum(), abs=1e-4)
    assert shift > 0.1


def test_one_topic_says_nothing_of_how_topics_differ():
    with pytest.raises(ValueError, match="all labels are of topic a"):
        fit_topics([0.1, 0.9], [0, 1], ["a", "a"], 2)


@pytest.mark.slow
@given(
    st.floats(0, 1),
    st.sampled_from([1e-7, 1e-3, 1.0]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2)), min_size=4, max_size=10),
)
def test_topic_any_scores_are_fitted_or_refused_in_words(base, width, items):
    scores = np.clip([base + width * share for share, _ in items], 0, 1)
    labels = [label for _, label in items]
    topics = [f"t{i % 2}" for i in range(len(items))]
    fit = fitted_or_refused(lambda: fit_topics(scores, labels, topics, 3))
    if fit is None:
        return
    for score, topic in zip(scores, topics, strict=True):
        chances = fit.verdict(Verdict("a", score), ("a", "b", "c"), topic).probabilities
        unseen = [p for j, p in enumerate(chances.values()) if j not in labels]
        assert max(unseen, default=0) == 0


def test_a_correction_of_another_method_takes_no_topics():
    with pytest.raises(ValueError, match="method topic"):
        add_topics(Correction(cuts=(0.5,)), [0.5], [1], ["a"])


# Labels of the judged topic on real data: what the table of docs/benchmarks/fits.md says.
# Every topic is judged by what the other topics taught, and scored on pairs that gave no label.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["rag24_support from scratch", "rag24_support first citation"])
def test_ten_labels_a_topic_raise_kappa_by_a_tenth(shared_data, name):
    (row,) = (row for row in table.ROWS if row.name == name)
    figures = table.measure(row, shared_data, draws=30)
    if figures is None:
        pytest.skip(f"{name} not found in {shared_data}")
    assert figures.n_topics == 12
    assert figures.weighted >= 0.42
    assert mean(figures.pooled[0]) >= 0.42
    assert mean(figures.pooled[10]) >= 0.52
    assert mean(figures.pooled[40]) >= 0.54


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "rag24_support",
        pytest.param("rag24_nuggets", marks=pytest.mark.slow),
        pytest.param("attributionbench", marks=pytest.mark.slow),
    ],
)
def test_the_weighted_score_agrees_at_least_as_well_as_the_plain_one(shared_data, name):
    row = next(row for row in table.ROWS if row.name.startswith(name))
    figures = table.measure(row, shared_data, draws=1)
    if figures is None:
        pytest.skip(f"{name} not found in {shared_data}")
    assert figures.weighted >= figures.plain
