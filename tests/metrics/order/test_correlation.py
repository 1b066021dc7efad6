import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from nuggetjudge.metrics import kendall_tau, pearson, spearman, tau_ap, top_k_tau
from nuggetjudge.metrics.order.correlation import n_top, orders

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


@given(score_pairs)
def test_tau_ap_spearman_and_pearson_are_bounded_and_perfect_for_the_same_order(pairs):
    truth, judged = [t for t, _ in pairs], [j for _, j in pairs]
    expected = tau_ap_by_definition(truth, judged)
    assert tau_ap(truth, judged) == (None if expected is None else pytest.approx(expected))
    for order in (tau_ap, spearman, pearson):
        value = order(truth, judged)
        assert (value is None) == (kendall_tau(truth, judged) is None)
        if value is not None:
            assert -1 <= value <= 1
            assert order(truth, truth) == pytest.approx(1.0)
            assert order(truth[::-1], judged[::-1]) == pytest.approx(value)
    if (value := spearman(truth, judged)) is not None:
        assert spearman(judged, truth) == pytest.approx(value)


# By hand: 1 - 6 sum(d^2) / (n (n^2 - 1)) with rank differences 0, 1, 1, 0, 0.
def test_spearman_matches_a_hand_count():
    assert spearman([1, 2, 3, 4, 5], [1, 3, 2, 4, 5]) == pytest.approx(1 - 6 * 2 / (5 * 24))


def test_pearson_matches_a_hand_count_and_knows_distances():
    # (1, 2, 3) and (0, 0, 3): sums of products 3, of squares 2 and 6: 3 / sqrt(12).
    assert pearson([1, 2, 3], [0, 0, 3]) == pytest.approx(3 / math.sqrt(12))
    assert pearson([1, 2, 3], [0, 1, 9]) < spearman([1, 2, 3], [0, 1, 9])


def test_the_top_of_the_order_is_chosen_by_the_truth():
    truth, judged = [6, 5, 4, 3, 2, 1], [1, 2, 3, 9, 8, 7]
    assert top_k_tau(truth, judged, 3) == -1.0
    assert top_k_tau(judged, truth, 3) == 1.0
    assert top_k_tau(truth, judged, 6) == kendall_tau(truth, judged)


def test_items_tied_with_the_last_of_the_top_are_taken_too():
    truth, judged = [4, 3, 3, 3, 1], [4, 1, 2, 3, 5]
    assert n_top(truth, 2) == 4
    expected = tau_b_by_definition(truth[:4], judged[:4])
    assert top_k_tau(truth, judged, 2) == pytest.approx(expected)
    assert top_k_tau(truth[::-1], judged[::-1], 2) == pytest.approx(expected)


def test_a_top_larger_than_the_list_is_undefined_and_k_must_be_positive():
    assert top_k_tau([1, 2, 3], [1, 2, 3], 4) is None
    assert top_k_tau([1, 1, 1, 0], [1, 2, 3, 4], 2) is None  # the top is tied throughout
    with pytest.raises(ValueError, match="k >= 1"):
        top_k_tau([1, 2], [1, 2], 0)


@pytest.mark.parametrize("order", [tau_ap, spearman, pearson])
def test_bad_scores_are_named_by_all(order):
    with pytest.raises(ValueError, match=r"judged\[1\]"):
        order([1.0, 2.0], [1.0, math.nan])
    with pytest.raises(ValueError, match="2 true scores for 1"):
        order([1.0, 2.0], [1.0])


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
    monkeypatch.setattr("nuggetjudge.metrics.order.coefficients._AT_ONCE", 120)
    assert orders(truth, judged) == pytest.approx(whole)
