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
from nuggetjudge.calibration.figures import figures_of
from nuggetjudge.calibration.lists.report import mean_figure
from nuggetjudge.metrics import agreement, pairwise_kappa, reliability, taus
from nuggetjudge.metrics.agreement.intervals import (
    agreement_intervals,
    pairwise_intervals,
    reliability_intervals,
)
from nuggetjudge.metrics.agreement.shift import label_shift
from nuggetjudge.metrics.bias.clustered import least_squares, mean_by_topic
from nuggetjudge.metrics.bias.drift import Anchors, Side, drift
from nuggetjudge.metrics.bootstrap import (
    BEYOND_CHANCE,
    SHARE,
    SIGNED,
    SIGNED_DIFFERENCE,
    UNBOUNDED,
    Interval,
    student_interval,
)
from nuggetjudge.metrics.order.intervals import tau_intervals
from nuggetjudge.metrics.ppi.estimates import difference, estimate
from nuggetjudge.metrics.ppi.sample import sample
from nuggetjudge.metrics.significance import mean_intervals, paired_tests
from nuggetjudge.plugins.annotate.live.quality import share as share_of_labels
from nuggetjudge.programs.analysis.evidence.precision import share
from nuggetjudge.programs.analysis.probe.faults.cases import Must
from nuggetjudge.programs.analysis.probe.faults.figures import Cell, rates
from nuggetjudge.programs.scoring.corrected_measure import Correction

SCALE = ["none", "partial", "full"]
GAINS = {"none": 0.0, "partial": 0.5, "full": 1.0}
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


def probe(rng, topics):
    one, other = rng.choice([*SCALE, None], (2, len(topics)), p=[0.1, 0.1, 0.7, 0.1]).tolist()
    made = label_shift([(one, other)], SCALE, GAINS, topics, **DRAWS)
    yield made.changed, SHARE
    yield made, SIGNED
    cells = [
        Cell("negation", topic, must, before, after)
        for topic, must, before, after in zip(
            topics, rng.choice(Must.__args__, len(topics)).tolist(), one, other, strict=True
        )
    ]
    made = rates(cells, SCALE, GAINS, seed=0)
    yield made.pop("informedness"), SIGNED
    yield made, SHARE
    yield share(rng.random(len(topics)) < 0.9, topics, **DRAWS), SHARE
    counted = share_of_labels(int(rng.integers(0, len(topics) + 1)), len(topics))
    assert 0 <= counted.low <= counted.value <= counted.high <= 1


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
    yield paired_tests([scores[0] - scores[1]], resamples=10), SIGNED


def bias(rng, topics):
    errors = rng.choice([-1, 0, 0.5, 1], len(topics), p=[0.1, 0.7, 0.1, 0.1])
    yield mean_by_topic(errors, topics), SIGNED
    if (fit := least_squares(errors, rng.random((len(topics), 1)), topics)) is not None:
        yield fit.interval(0), UNBOUNDED
    at = np.unique(topics, return_inverse=True)[1]
    n = int(at.max()) + 1
    if n > 1:
        old, new = rng.choice([0.0, 0.5, 1.0], (2, len(topics)))
        weight = 1 / np.bincount(at)[at] / n
        of, total = (
            [Side(np.bincount(at, weight * f, n), np.bincount(at, weight, n), np.ones(n, bool))
             for f in (old, new)],
            np.full(len(topics), np.nan),
        )  # fmt: skip
        yield drift(*of, Anchors(at, weight, old, new, total)), SIGNED


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
    made = figures_of(truth, before, after, topics, SCALE, draws=DRAWS)
    for name, figure in made.items():
        is_share = name in ("accuracy", "macro_f1")
        yield [figure.before, figure.after], SHARE if is_share else SIGNED
        yield figure.difference, SIGNED if is_share else SIGNED_DIFFERENCE
    figure = mean_figure(rng.random((len(topics), 2)).round(), topics, DRAWS)
    yield [figure.before, figure.after], SHARE
    yield figure.difference, SIGNED


MADE = [agree, probe, order, runs, bias, corrected, calibrate]
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
    "metrics/bootstrap.py": "all intervals of figures",
    "metrics/bias/drift.py": "a bound of which nothing was seen, added within the range",
    "metrics/ppi/intervals.py": "of corrected scores",
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
    assert found == set(MAKERS)
