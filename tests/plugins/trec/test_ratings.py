"""Strengths against published coefficients, another implementation and counts by hand."""

import numpy as np
import pytest

from nuggetjudge.metrics.inference import resampling
from nuggetjudge.plugins.trec.arena.position import position_effect
from nuggetjudge.plugins.trec.arena.ratings import (
    as_ratings,
    bradley_terry,
    covariance,
    draw_elo,
    elo,
    is_connected,
    ratings,
    strength_intervals,
    win_counts,
)

# Agresti, Categorical Data Analysis (2002), table 10.10: wins of the row's team over the column's
# in the American League, Eastern Division, 1987. Milwaukee, Detroit, Toronto, New York, Boston,
# Cleveland, Baltimore.
BASEBALL = np.array([
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
], float)  # fmt: skip


# Turner and Firth, "Bradley-Terry Models in R" (2012), section 2.2: the coefficients, Baltimore 0.
PUBLISHED = [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0]


def by_logistic_regression(wins):
    """The same model as a binomial GLM of statsmodels, the last run at 0."""
    import statsmodels.api as sm

    k = len(wins)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k) if wins[i, j] + wins[j, i]]
    design = np.zeros((len(pairs), k))
    for row, (i, j) in zip(design, pairs, strict=True):
        row[i], row[j] = 1, -1
    counts = np.array([[wins[i, j], wins[j, i]] for i, j in pairs])
    fit = sm.GLM(counts, design[:, :-1], family=sm.families.Binomial()).fit(tol=1e-14)
    return np.append(fit.params, 0.0), fit.cov_params()


def test_strengths_of_the_baseball_teams_are_those_that_are_published():
    strengths = bradley_terry(BASEBALL)
    assert strengths - strengths[-1] == pytest.approx(PUBLISHED, abs=5e-5)
    assert strengths.mean() == pytest.approx(0, abs=1e-12)


def test_strengths_and_their_errors_equal_a_logistic_regression_to_a_millionth():
    rng = np.random.default_rng(7)
    sparse = rng.integers(0, 6, (9, 9)) + rng.integers(0, 2, (9, 9)) / 2  # ties as half wins
    for wins in (BASEBALL, sparse * (1 - np.eye(9))):
        strengths, (params, errors) = bradley_terry(wins), by_logistic_regression(wins)
        assert strengths - strengths[-1] == pytest.approx(params, abs=1e-6)
        spread = covariance(wins, strengths)
        apart = spread[0, 0] + spread[1, 1] - 2 * spread[0, 1]
        assert apart == pytest.approx(errors[0, 0] + errors[1, 1] - 2 * errors[0, 1], abs=1e-6)


def test_two_runs_stand_apart_by_the_odds_of_their_wins():
    # 7 wins, 2 ties, 1 loss: 8 to 2 with ties as half wins, so odds of 4 to 1.
    strengths = bradley_terry(np.array([[0, 8.0], [2.0, 0]]))
    assert strengths[0] - strengths[1] == pytest.approx(np.log(4))
    ten_to_one = as_ratings(bradley_terry(np.array([[0, 10.0], [1.0, 0]])))
    assert ten_to_one[0] - ten_to_one[1] == pytest.approx(400)


def test_a_run_that_never_lost_needs_a_prior_that_is_given_by_name():
    wins = np.array([[0, 3.0, 3.0], [0, 0, 2.0], [0, 1.0, 0]])
    assert not is_connected(wins)
    with pytest.raises(ValueError, match=r"never lost to the others.*give a prior"):
        bradley_terry(wins)
    strengths = bradley_terry(wins, 1.0)
    assert np.isfinite(strengths).all()
    assert strengths[0] > strengths[1] > strengths[2]


def test_one_win_under_the_prior_solves_its_equation_by_hand():
    # One battle won, each run tied one with a mean run (strength 0). By symmetry b = (x, -x):
    # (1 - s(2x)) + (1/2 - s(x)) = 0, with s(t) = 1 / (1 + exp(-t)).
    strengths = bradley_terry(np.array([[0, 1.0], [0, 0]]), 1.0)

    def chance(t):
        return 1 / (1 + np.exp(-t))

    assert (1 - chance(2 * strengths[0])) + (0.5 - chance(strengths[0])) == pytest.approx(
        0, abs=1e-9
    )


def test_problems_beside_each_other_are_solved_as_each_alone():
    other = BASEBALL.T + 1 - np.eye(7)
    both = bradley_terry(np.stack([BASEBALL, other]))
    assert both[0] == pytest.approx(bradley_terry(BASEBALL), abs=1e-9)
    assert both[1] == pytest.approx(bradley_terry(other), abs=1e-9)


@pytest.mark.parametrize("wins", [np.ones((2, 3)), np.array([[0, -1.0], [1, 0]])])
def test_what_are_no_counts_are_refused(wins):
    with pytest.raises(ValueError, match="wins: wanted"):
        bradley_terry(wins)


# Elo by hand, position planted and found, and intervals that hold what they say.
def test_elo_of_two_battles_is_the_mean_of_both_orders():
    # a beats b, b beats c. In this order: a 1016, b 984; b's chance against c (1000) is
    # 1 / (1 + 10^(16/400)) = .476990, so b gains 32 x .523010 = 16.7363: b 1000.7363, c 983.2637.
    # The other way: b 1016, c 984; a's chance .476990, so a gains 16.7363: a 1016.7363, b 999.2637.
    scores = elo(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 1.0]), 3, orders=4000)
    assert scores == pytest.approx([1016.368, 1000.0, 983.632], abs=0.02)
    assert scores.sum() == pytest.approx(3000)


def test_a_drawn_sample_of_every_battle_once_has_the_elo_of_all():
    rng = np.random.default_rng(3)
    first, second = np.zeros(30, np.int64), np.ones(30, np.int64)
    gains = rng.integers(0, 3, 30) / 2
    drawn = draw_elo(first, second, gains, 2, np.ones((400, 30), np.int64))
    assert drawn.mean(axis=0) == pytest.approx(elo(first, second, gains, 2, orders=2000), abs=1)


def test_a_drawn_sample_of_fewer_battles_has_the_elo_of_these_alone():
    one = np.zeros(2, np.int64)
    drawn = draw_elo(one, one + 1, np.ones(2), 2, np.array([[1, 0], [1, 1]]))
    assert drawn[0] == pytest.approx([1016.0, 984.0])


def test_a_judge_that_takes_whatever_stands_first_has_an_effect_of_one():
    position = position_effect([1] * 40, [f"t{i % 8}" for i in range(40)])
    assert (position.effect.value, position.effect.low, position.effect.high) == (1.0, 1.0, 1.0)
    assert (position.n_first, position.n_second, position.n_tied) == (40, 0, 0)


def test_the_effect_of_position_is_counted_by_hand():
    # Three for the first, one for the second, one tie: (3 - 1) / 5.
    position = position_effect([1, 1, 1, -1, 0], ["a", "a", "b", "b", "b"])
    assert position.effect.value == pytest.approx(0.4)
    assert (position.n_first, position.n_second, position.n_tied) == (3, 1, 1)
    assert position_effect([], []).effect.value is None


def test_strengths_say_where_they_rest_on_a_prior():
    one = np.array([0, 1, 0], np.int64), np.array([1, 2, 2], np.int64), ["t1", "t2", "t3"]
    circle = ratings(one[0], one[1], np.array([1.0, 1.0, 0.0]), one[2], 3)
    assert not circle.has_prior
    assert circle.n_prior_draws > 0  # a sample may lack a battle
    assert [x.value for x in circle.strengths] == pytest.approx([1000, 1000, 1000])
    never_lost = ratings(one[0], one[1], np.array([1.0, 1.0, 1.0]), one[2], 3)
    assert never_lost.has_prior
    assert never_lost.strengths[0].value > never_lost.strengths[1].value


def test_topics_that_agree_leave_no_doubt_and_a_single_one_gives_no_interval():
    first, second = np.tile([0, 0, 1], 6), np.tile([1, 2, 2], 6)
    gains = np.tile([1.0, 0.5, 0.0], 6)
    rated = ratings(first, second, gains, [f"t{i // 3}" for i in range(18)], 3)
    for one in rated.strengths:
        assert one.low == pytest.approx(one.value) == one.high
    assert ratings(first, second, gains, ["t"] * 18, 3).strengths[0].low is None


TOPIC_SPREAD, TIES = 0.8, 0.2
TRUE = np.linspace(-0.8, 0.8, 5)


def population_strengths():
    """What ever more topics would come to: the fit to the chances of winning, over all topics."""
    x, weights = np.polynomial.hermite_e.hermegauss(60)
    apart = TRUE[:, None, None] - TRUE[None, :, None] + np.sqrt(2) * TOPIC_SPREAD * x
    chances = (weights / weights.sum() / (1 + np.exp(-apart))).sum(axis=-1)
    return as_ratings(bradley_terry(chances * (1 - np.eye(5))))


# 1,000 draws of topics with 10 battles each, 500 samples of each; of 20 topics they are too short.
@pytest.mark.slow
@pytest.mark.parametrize(("n_topics", "least", "most"), [(60, 0.93, 0.97), (20, 0.93, 0.97)])
def test_intervals_hold_the_strength_of_all_topics_as_often_as_the_page_says(n_topics, least, most):
    rng, n = np.random.default_rng(0), 1000
    pairs = np.array([(i, j) for i in range(5) for j in range(i + 1, 5)])
    first, second = np.tile(pairs[:, 0], n_topics), np.tile(pairs[:, 1], n_topics)
    topic = np.repeat(np.arange(n_topics), len(pairs))
    truth, n_covered = population_strengths(), 0
    for seed in range(n):
        drawn = TRUE + rng.normal(0, TOPIC_SPREAD, (n_topics, 5))  # runs differ by topic
        chance = 1 / (1 + np.exp(drawn[topic, second] - drawn[topic, first]))
        tied, u = TIES * np.minimum(chance, 1 - chance), rng.random(len(topic))
        gains = np.where(u < chance - tied, 1.0, np.where(u < chance + tied, 0.5, 0.0))
        by_topic = win_counts(first, second, gains, topic, n_topics, 5)
        sample = resampling([f"{t:02}" for t in topic], resamples=500, seed=seed)
        intervals, _, _ = strength_intervals(by_topic.sum(axis=0), by_topic, sample)
        n_covered += sum(x.low <= b <= x.high for x, b in zip(intervals, truth, strict=True))
    assert least <= n_covered / (5 * n) <= most
