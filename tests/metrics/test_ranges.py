"""Every interval holds its figure and stays within the values that the figure can have.

Each function that makes intervals gets small random data: few topics, rare labels, equal runs.
"""

import ast
import math
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from of_plugins import of_plugins

import nuggetjudge
from nuggetjudge.calibration.lists import compare_means
from nuggetjudge.calibration.report import compare_agreement
from nuggetjudge.metrics import agreement, pairwise_kappa, reliability, taus
from nuggetjudge.metrics.inference import (
    BEYOND_CHANCE,
    SHARE,
    SIGNED,
    SIGNED_DIFFERENCE,
    UNBOUNDED,
    Interval,
    compare_pairs,
    mean_by_topic,
    mean_intervals,
    resampling,
    student_interval,
)
from nuggetjudge.metrics.label_agreement import (
    agreement_intervals,
    pairwise_intervals,
    reliability_intervals,
)
from nuggetjudge.metrics.ppi import difference, estimate, sample
from nuggetjudge.metrics.rank_correlation import tau_intervals
from nuggetjudge.programs.scoring.corrected_measure import Correction

SCALE = ["none", "partial", "full"]
DRAWS = {"resamples": 40}
ENDS = st.sampled_from([SHARE, SIGNED, BEYOND_CHANCE, SIGNED_DIFFERENCE, UNBOUNDED])


@given(ENDS, st.floats(0, 1), st.floats(0, 1e6), st.integers(2, 500), st.floats(0.5, 0.999))
def test_an_interval_holds_its_value_and_stays_in_range(ends, place, error, n_topics, level):
    low, high = (max(-1e3, ends[0]), min(1e3, ends[1]))
    value = min(max(low + place * (high - low), low), high)
    made = student_interval(value, error, n_topics, ends, level=level)
    assert ends[0] <= made.low <= value <= made.high <= ends[1]


def check(found, ends):
    """All intervals in whatever holds some."""
    if isinstance(found, Interval):
        if found.low is not None:
            assert ends[0] <= found.low <= found.value <= found.high <= ends[1], found
            assert not math.isnan(found.low + found.high)
    elif isinstance(found, dict):
        if "low" in found and "value" in found:
            of = {name: found[name] for name in ("value", "low", "high")}
            check(Interval(**of, n_topics=2), ends)
        for each in found.values():
            check(each, ends)
    elif isinstance(found, list | tuple):
        for each in found:
            check(each, ends)
    elif is_dataclass(found):
        for field in fields(found):
            check(getattr(found, field.name), ends)


def agree(rng, topics):
    one, other = rng.choice(SCALE, (2, len(topics)), p=[0.1, 0.1, 0.8]).tolist()
    made = agreement_intervals(agreement(one, other, SCALE), one, other, topics, **DRAWS)
    yield {name: made[name] for name in ("accuracy", "macro_f1", "precision", "f1")}, SHARE
    yield made, SIGNED
    among = [one, other, rng.choice([*SCALE, None], len(topics)).tolist()]
    yield reliability_intervals(reliability(among, SCALE), among, SCALE, topics, **DRAWS), SIGNED
    pairs = [(one, other)]
    kappas = pairwise_kappa(pairs, SCALE)
    yield pairwise_intervals(kappas, pairs, SCALE, topics, **DRAWS), SIGNED


def order(rng, topics):
    cells = [
        {(f"r{r}", topic): round(float(rng.random()), 1) for r in range(4) for topic in topics}
        for _ in range(2)
    ]
    runs = [
        {f"r{r}": float(np.mean([c[f"r{r}", t] for t in dict.fromkeys(topics)])) for r in range(4)}
        for c in cells
    ]
    both = {"truth_runs": runs[0], "judged_runs": runs[1]}
    yield tau_intervals(taus(*cells, **both), *cells, **both, **DRAWS), SIGNED


def runs(rng, topics):
    scores = np.round(rng.random((3, len(set(topics)))), 1)
    yield mean_intervals(scores), SHARE
    yield mean_intervals(100 * scores), (0.0, math.inf)
    yield compare_pairs([scores[0] - scores[1]], resamples=10), SIGNED


def means(rng, topics):
    yield (
        mean_by_topic(rng.choice([-1, 0, 0.5, 1], len(topics), p=[0.1, 0.7, 0.1, 0.1]), topics),
        SIGNED,
    )


def corrected(rng, topics):
    at = np.unique(topics, return_inverse=True)[1]
    n = int(at.max()) + 1
    weights = 1 / np.bincount(at)[at] / n
    estimates = []
    for _ in range(2):
        judged, human = rng.choice([0.0, 0.5, 1.0], (2, len(topics)), p=[0.1, 0.1, 0.8])
        human[rng.random(len(topics)) < 0.3] = np.nan
        if len({t for t, h in zip(at, human, strict=True) if h == h}) < 2:
            return
        estimates.append(estimate(sample(judged, human=human, weights=weights, topics=at), 0.7))
    correction = Correction({}, None, None, 0.95)
    yield correction._figure(estimates[0], is_share=True), SHARE
    yield correction._figure(difference(*estimates), is_share=False), SIGNED


def calibrate(rng, topics):
    truth, before, after = rng.choice(SCALE, (3, len(topics)), p=[0.1, 0.2, 0.7]).tolist()
    made = compare_agreement(truth, before, after, topics, SCALE, draws=DRAWS)
    for name, figure in made.items():
        is_share = name in ("accuracy", "macro_f1")
        yield [figure.before, figure.after], SHARE if is_share else SIGNED
        yield figure.difference, SIGNED if is_share else SIGNED_DIFFERENCE
    figure = compare_means(rng.random((len(topics), 2)).round(), topics, DRAWS)
    yield [figure.before, figure.after], SHARE
    yield figure.difference, SIGNED


MADE = [agree, order, runs, means, corrected, calibrate]
MADE += [made for plugin in of_plugins("range_cases.py") for made in plugin.MADE]


@pytest.mark.parametrize("made", MADE)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 24), n_topics=st.integers(1, 6))
def test_intervals_of_small_data_hold_their_figures(made, seed, n, n_topics):
    rng = np.random.default_rng(seed)
    topics = [f"t{i}" for i in rng.integers(0, n_topics, n)]
    for found, ends in made(rng, topics):
        check(found, ends)


MAKERS = {
    "metrics/inference.py": "all intervals of figures",
    "metrics/ppi.py": "of corrected scores",
    "programs/scoring/corrected_measure.py": "the same, cut to the range",
}


def test_bounds_are_made_in_few_places():
    """A new maker of intervals needs its row in the tests above."""
    root = Path(nuggetjudge.__file__).parent
    found = set()
    folders = [folder.resolve() for folder in root.iterdir() if folder.is_dir()]  # links
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Interval":
                bounds = [*call.args[1:3], *(k.value for k in call.keywords)]
                if not all(isinstance(b, ast.Constant) and b.value is None for b in bounds[:2]):
                    found.add(path.relative_to(root.resolve().parent.parent).as_posix())
    assert {path for path in found if not path.startswith("plugins/")} == set(MAKERS)


HELD_SCALE = ["no", "partly", "yes"]
HELD_DRAWS = {"resamples": 300}
MANY = 3000


def labels(rng, n_topics, per_topic=10):
    """Topics, people's labels and three judges' labels of their items."""
    topics = np.repeat(np.arange(n_topics), per_topic)
    shares = rng.dirichlet([2, 2, 3], n_topics)[topics]
    truth = (rng.random((len(topics), 1)) > shares.cumsum(1)[:, :2]).sum(1)
    given = []
    for _ in range(3):
        right = rng.random(len(topics)) < rng.beta(8, 2, n_topics)[topics]
        given.append(np.where(right, truth, rng.integers(0, 3, len(topics))))
    names = np.array(HELD_SCALE)
    return [f"t{t:05}" for t in topics], *(names[of].tolist() for of in (truth, *given))


def of_labels(rng, n_topics, draws):
    topics, truth, one, other, third = labels(rng, n_topics)
    made = agreement_intervals(agreement(truth, one, HELD_SCALE), truth, one, topics, **draws)
    found = {name: made[name] for name in ("accuracy", "macro_f1", "ac1")}
    found |= {f"kappa {w}": made["cohen_kappa"][w] for w in ("unweighted", "quadratic")}
    found |= {"alpha": made["alpha"]["ordinal"], "precision": made["precision"]["yes"]}
    among = [one, other, third]
    made = reliability_intervals(reliability(among, HELD_SCALE), among, HELD_SCALE, topics, **draws)
    found["alpha of three"] = made["alpha"]["nominal"]
    found["kappa of three"] = made["pairwise_kappa"]["unweighted"]
    figure = compare_agreement(truth, one, other, topics, HELD_SCALE, draws=draws)["kappa"]
    found["kappa after minus before"] = figure.difference
    hits = np.array(truth) == np.array(one)
    counts = np.array(truth) == "yes"
    found["rate"] = resampling(topics, **draws).mean(hits * counts, counts)
    return found


def of_runs(rng, n_topics, draws):
    """Means and differences of runs whose scores by topic are shares, some near 1."""
    easy = rng.normal(0, 1, n_topics)
    odds = easy + np.array([[0.0], [0.5], [3.0]]) + rng.normal(0, 0.7, (3, n_topics))
    scores = np.round(1 / (1 + np.exp(-odds)), 3)
    low, middle, high = mean_intervals(scores)
    (test,) = compare_pairs([scores[1] - scores[0]], resamples=1)
    return {"mean": low, "another mean": middle, "mean near 1": high, "difference": test.difference}


class Leaderboard:
    """Runs whose order is compared: tau and the others of their true means are the truth."""

    def __init__(self, n_runs):
        rng = np.random.default_rng(n_runs)
        self.means = rng.normal(0.4, 0.1, n_runs)
        self.judged = self.means + rng.normal(0, 0.04, n_runs)

    def __call__(self, rng, n_topics, draws):
        shape = (len(self.means), n_topics)
        if n_topics == MANY:
            scores = [np.repeat(side[:, None], 2, 1) for side in (self.means, self.judged)]
        else:
            truth = self.means[:, None] + rng.normal(0, 0.2, shape)
            scores = truth, truth + (self.judged - self.means)[:, None] + rng.normal(0, 0.1, shape)
        cells = [
            {(f"r{r:02}", f"t{t:03}"): float(x) for (r, t), x in np.ndenumerate(side)}
            for side in scores
        ]
        runs = [{f"r{r:02}": float(x) for r, x in enumerate(side.mean(1))} for side in scores]
        both = {"truth_runs": runs[0], "judged_runs": runs[1]}
        made = tau_intervals(taus(*cells, **both), *cells, **both, **draws)["run_level"]
        return {name: made[name] for name in ("tau_b", "tau_ap", "spearman", "pearson")}


def of_cells(rng, n_topics, draws):
    """Five runs by topic: the mean of the taus within topics, and the taus of all cells."""
    of_topic, of_run = rng.normal(0, 0.5, n_topics), np.linspace(0, 0.8, 5)[:, None]
    truth = of_topic + of_run + rng.normal(0, 0.3, (5, n_topics))
    sides = truth, truth + rng.normal(0, 0.3, n_topics) + rng.normal(0, 0.2, truth.shape)
    cells = [
        {(f"r{r}", f"t{t:04}"): float(x) for (r, t), x in np.ndenumerate(side)} for side in sides
    ]
    none = {"truth_runs": {}, "judged_runs": {}}
    made = tau_intervals(taus(*cells, **none), *cells, **none, **draws)
    return {
        f"{level} {name}": made[level][name]
        for level in ("topic_mean", "pooled")
        for name in ("tau_b", "tau_ap", "spearman", "pearson")
    }


def held(of, n_topics, n, many=MANY):
    """The share of n draws in which each interval holds the truth."""
    everything = of(np.random.default_rng(99), many, {"resamples": 0})
    truth = {name: one.value for name, one in everything.items()}
    rng, hits = np.random.default_rng(n_topics), dict.fromkeys(truth, 0)
    for _ in range(n):
        for name, one in of(rng, n_topics, HELD_DRAWS).items():
            hits[name] += one.low is None or one.low - 1e-9 <= truth[name] <= one.high + 1e-9
    return {name: k / n for name, k in hits.items()}


# The rows of docs/benchmarks/agreements.md. With 400 draws a share is good to +-.02.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_topics", "least", "most"),
    [(5, 0.93, 1), (10, 0.93, 0.985), (20, 0.91, 0.985), (50, 0.92, 0.97)],
)
def test_intervals_of_labels_hold_the_truth(n_topics, least, most):
    for name, held_share in held(of_labels, n_topics, 400).items():
        assert least <= held_share <= most, name


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [5, 10, 20, 50])
def test_intervals_of_means_and_differences_hold_the_truth(n_topics):
    shares = held(of_runs, n_topics, 2000)
    assert shares.pop("mean near 1") >= 0.90  # so skewed that few topics miss its tail
    for name, held_share in shares.items():
        assert 0.93 <= held_share <= 0.975, name


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [10, 20])
def test_intervals_of_taus_by_topic_and_of_cells_hold_the_truth(n_topics):
    for name, held_share in held(of_cells, n_topics, 300, many=1000).items():
        assert (0.84 if name == "topic_mean pearson" else 0.92) <= held_share <= 0.99, name


@pytest.mark.slow
@pytest.mark.parametrize(("n_runs", "n_topics"), [(4, 30), (10, 30), (30, 10), (30, 30)])
def test_intervals_of_taus_of_runs_hold_the_truth_or_more(n_runs, n_topics):
    for name, held_share in held(Leaderboard(n_runs), n_topics, 120).items():
        assert held_share >= 0.9, name
