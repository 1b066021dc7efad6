"""Topic shifts: planted ones are found, and pooling beats both extremes at few labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import fitted_or_refused

from nuggetjudge.calibration.fits import add_topics, fit_topics
from nuggetjudge.judges.fitted import Correction, OrdinalCurve
from nuggetjudge.judges.verdicts import Verdict

SLOPE, THRESHOLDS, SPREAD = 6.0, (2.0, 4.0), 1.2


def simulated(n_topics, n, seed):
    """Scores, labels 0-2, topics, and each topic's shift in logits."""
    rng = np.random.default_rng(seed)
    shifts = rng.normal(0, SPREAD, n_topics)
    scores, at = rng.random(n_topics * n), np.repeat(np.arange(n_topics), n)
    labels = np.digitize(SLOPE * scores + shifts[at] + rng.logistic(size=len(at)), THRESHOLDS)
    return scores, labels, np.array([f"t{t:03}" for t in at]), shifts


@pytest.fixture(scope="module")
def population():
    scores, labels, topics, _ = simulated(60, 60, seed=0)
    return fit_topics(scores, labels, topics, 3)


def test_planted_slope_thresholds_and_spread_are_found(population):
    assert population.curve.slope == pytest.approx(SLOPE, rel=0.1)
    assert population.curve.thresholds == pytest.approx(THRESHOLDS, abs=0.4)
    assert population.spread * population.curve.slope == pytest.approx(SPREAD, rel=0.2)


def error(fit, shifts, slope):
    return np.mean([(fit.topics[f"t{t:03}"] * slope - u) ** 2 for t, u in enumerate(shifts)])


def test_with_5_labels_pooled_shifts_are_nearer_than_none_and_than_unpooled(population):
    scores, labels, topics, shifts = simulated(150, 5, seed=7)
    slope = population.curve.slope
    pooled = add_topics(population, scores, labels, topics)
    loose = population.model_copy(update={"spread": 4.0 / slope})  # next to no pooling
    alone = add_topics(loose, scores, labels, topics)
    assert error(pooled, shifts, slope) < 0.8 * np.mean(shifts**2)
    assert error(pooled, shifts, slope) < 0.8 * error(alone, shifts, slope)


def test_labels_of_the_judged_topics_make_more_labels_right(population):
    scores, labels, topics, _ = simulated(100, 60, seed=9)
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


@given(
    st.floats(0, 1),
    st.sampled_from([1e-7, 1e-3, 1.0]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2)), min_size=4, max_size=10),
)
def test_any_scores_are_fitted_or_refused_in_words(base, width, items):
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
