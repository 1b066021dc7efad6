import itertools
import math

import pytest

from nuggetjudge.metrics import kendall_tau, pearson, spearman, tau_ap, taus, top_k_tau
from nuggetjudge.metrics.order.taus import Coefficient


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
        1.0,
        1,
        0,
    )
    assert (correlation.pooled, correlation.n_cells, correlation.n_cells_unmatched) == (1.0, 2, 6)


def test_without_anything_in_common_every_tau_is_undefined():
    correlation = taus(
        cells(t1=[1, 2]), cells(t2=[1, 2]), truth_runs={"a": 1}, judged_runs={"b": 1}
    )
    assert (correlation.run_level, correlation.topic_mean, correlation.pooled) == (None, None, None)
    assert (correlation.n_runs, correlation.n_topics, correlation.n_cells) == (0, 0, 0)
    assert (correlation.n_runs_unmatched, correlation.n_cells_unmatched) == (2, 4)


def test_run_scores_are_taken_as_given_and_not_computed_from_the_cells():
    same = cells(t1=[1, 2, 3])
    up, down = {"a": 1, "b": 2, "c": 3}, {"a": 3, "b": 2, "c": 1}
    correlation = taus(same, same, truth_runs=up, judged_runs=down)
    assert (correlation.run_level, correlation.topic_mean, correlation.pooled) == (-1.0, 1.0, 1.0)


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


def test_a_cell_without_a_value_is_left_out_as_if_it_were_absent():
    truth, judged = cells(t1=[1, 2, 3]), cells(t1=[1, 3, 2])
    runs = {"truth_runs": {}, "judged_runs": {}}
    absent = taus(truth, {k: v for k, v in judged.items() if k[0] != "c"}, **runs)
    assert taus(truth, {**judged, ("c", "t1"): None}, **runs) == absent
    assert (absent.n_cells, absent.n_cells_unmatched) == (2, 1)


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
