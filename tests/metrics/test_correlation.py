import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import kendall_tau, taus

scores = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0])
score_pairs = st.lists(st.tuples(scores, scores), max_size=12)


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


@pytest.mark.parametrize(
    ("truth", "judged", "expected"),
    [
        ([1, 2, 3], [0.1, 0.2, 0.3], 1.0),
        ([1, 2, 3], [3, 2, 1], -1.0),
        ([1, 2, 3], [1, 3, 2], 1 / 3),
        ([1, 1, 2], [5, 6, 7], 2 / math.sqrt(2 * 3)),  # tied in truth: tau cannot reach 1
        ([1, 1, 2], [5, 5, 7], 1.0),  # tied on both sides: it can
    ],
)
def test_small_orders_match_a_hand_count(truth, judged, expected):
    assert kendall_tau(truth, judged) == pytest.approx(expected)


@pytest.mark.parametrize(("truth", "judged"), [([], []), ([1], [1]), ([1, 2], [3, 3])])
def test_tau_without_two_different_scores_is_undefined(truth, judged):
    assert kendall_tau(truth, judged) is None
    assert kendall_tau(judged, truth) is None


@given(score_pairs)
def test_tau_equals_its_definition_and_is_bounded_and_symmetric(pairs):
    truth, judged = [t for t, _ in pairs], [j for _, j in pairs]
    tau, expected = kendall_tau(truth, judged), tau_b_by_definition(truth, judged)
    assert (tau is None) == (expected is None)
    if tau is not None:
        assert -1 <= tau <= 1
        assert tau == pytest.approx(expected)
        assert kendall_tau(judged, truth) == pytest.approx(tau)
        assert kendall_tau(truth[::-1], judged[::-1]) == pytest.approx(tau)
        assert kendall_tau(truth, [-score for score in judged]) == pytest.approx(-tau)
        assert kendall_tau(truth, truth) == pytest.approx(1.0)


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


def cells(**by_topic):
    return {
        (run, topic): score
        for topic, scored in by_topic.items()
        for run, score in zip("abc", scored, strict=False)
    }


# By hand. Topic t1: a b c in order, judged a c b: 1/3. t2: reversed: -1. t3: judged all equal:
# undefined. Runs: 1/3.
def test_three_levels_match_a_hand_count():
    found = taus(
        cells(t1=[1, 2, 3], t2=[1, 2, 3], t3=[1, 2, 3]),
        cells(t1=[1, 3, 2], t2=[3, 2, 1], t3=[2, 2, 2]),
        truth_runs={"a": 1, "b": 2, "c": 3},
        judged_runs={"a": 1.5, "b": 2.5, "c": 2.0},
    )
    assert found.run_level == pytest.approx(1 / 3)
    assert (found.n_runs, found.n_runs_unmatched) == (3, 0)
    assert found.topic_mean == pytest.approx((1 / 3 - 1) / 2)
    assert (found.n_topics, found.n_topics_undefined) == (2, 1)
    assert (found.n_cells, found.n_cells_unmatched) == (9, 0)
    # Pooled, 36 pairs: 9 tied in truth, 12 in judged, 6 concordant, 11 discordant.
    assert found.pooled == pytest.approx((6 - 11) / math.sqrt((36 - 9) * (36 - 12)))


def test_cells_and_runs_of_one_side_alone_are_left_out_and_counted():
    truth = cells(t1=[1, 2, 3], t2=[1, 2])
    judged = cells(t1=[1, 2], t3=[1, 2, 3])
    found = taus(truth, judged, truth_runs={"a": 1, "b": 2, "c": 3}, judged_runs={"a": 1, "b": 2})
    assert (found.run_level, found.n_runs, found.n_runs_unmatched) == (1.0, 2, 1)
    assert (found.topic_mean, found.n_topics, found.n_topics_undefined) == (1.0, 1, 0)
    assert (found.pooled, found.n_cells, found.n_cells_unmatched) == (1.0, 2, 6)


def test_without_anything_in_common_every_tau_is_undefined():
    found = taus(cells(t1=[1, 2]), cells(t2=[1, 2]), truth_runs={"a": 1}, judged_runs={"b": 1})
    assert (found.run_level, found.topic_mean, found.pooled) == (None, None, None)
    assert (found.n_runs, found.n_topics, found.n_cells) == (0, 0, 0)
    assert (found.n_runs_unmatched, found.n_cells_unmatched) == (2, 4)


def test_run_scores_are_taken_as_given_and_not_computed_from_the_cells():
    same = cells(t1=[1, 2, 3])
    up, down = {"a": 1, "b": 2, "c": 3}, {"a": 3, "b": 2, "c": 1}
    found = taus(same, same, truth_runs=up, judged_runs=down)
    assert (found.run_level, found.topic_mean, found.pooled) == (-1.0, 1.0, 1.0)


# Tables 6 and 7 of arXiv:2411.09607 as printed, over the run names that the scan kept whole.
@pytest.mark.parametrize("measure", ["V_strict", "V", "W_strict", "W", "A_strict", "A"])
def test_published_tables_give_the_tau_of_the_definition(rows, measure):
    published = rows("rag24_nuggets/published_run_scores.jsonl")
    manual, automatic = (
        {row["run_id"]: row[measure] for row in published if row["table"] == table}
        for table in (6, 7)
    )
    found = taus({}, {}, truth_runs=manual, judged_runs=automatic)
    both = sorted(manual.keys() & automatic.keys())
    assert found.n_runs == len(both) >= 30
    expected = tau_b_by_definition([manual[r] for r in both], [automatic[r] for r in both])
    assert found.run_level == pytest.approx(expected)
