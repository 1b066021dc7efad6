"""How often 95% intervals hold the figure of all topics, as docs/trust/agreement.md says.

Each draw makes topics that differ: how good the judge is on one, how often each label is right.
The truth is the figure of very many topics. Intervals of bias, drift, corrected scores, arena and
confidence sequences are simulated beside their own tests.
"""

import numpy as np
import pytest

from nuggetjudge.calibration.figures import figures_of
from nuggetjudge.metrics import agreement, reliability, taus
from nuggetjudge.metrics.agreement.intervals import agreement_intervals, reliability_intervals
from nuggetjudge.metrics.agreement.shift import label_shift
from nuggetjudge.metrics.bootstrap import resampling
from nuggetjudge.metrics.order.intervals import tau_intervals
from nuggetjudge.metrics.significance import mean_intervals, paired_tests

SCALE = ["no", "partly", "yes"]
GAINS = dict(zip(SCALE, (0.0, 0.5, 1.0), strict=True))
DRAWS = {"resamples": 300}
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
    names = np.array(SCALE)
    return [f"t{t:05}" for t in topics], *(names[of].tolist() for of in (truth, *given))


def of_labels(rng, n_topics, draws):
    topics, truth, one, other, third = labels(rng, n_topics)
    made = agreement_intervals(agreement(truth, one, SCALE), truth, one, topics, **draws)
    found = {name: made[name] for name in ("accuracy", "macro_f1", "ac1")}
    found |= {f"kappa {w}": made["cohen_kappa"][w] for w in ("unweighted", "quadratic")}
    found |= {"alpha": made["alpha"]["ordinal"], "precision": made["precision"]["yes"]}
    among = [one, other, third]
    made = reliability_intervals(reliability(among, SCALE), among, SCALE, topics, **draws)
    found["alpha of three"] = made["alpha"]["nominal"]
    found["kappa of three"] = made["pairwise_kappa"]["unweighted"]
    shift = label_shift([(one, other)], SCALE, GAINS, topics, **draws)
    found |= {"changed": shift.changed, "gain": shift.gain}
    figure = figures_of(truth, one, other, topics, SCALE, draws=draws)["kappa"]
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
    (test,) = paired_tests([scores[1] - scores[0]], resamples=1)
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
        for name, one in of(rng, n_topics, DRAWS).items():
            hits[name] += one.low is None or one.low - 1e-9 <= truth[name] <= one.high + 1e-9
    return {name: k / n for name, k in hits.items()}


# The tables of docs/trust/agreement.md have these rows. With 400 draws a share is good to +-.02.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_topics", "least", "most"),
    [(5, 0.93, 1), (10, 0.93, 0.985), (20, 0.91, 0.985), (50, 0.92, 0.97)],
)
def test_intervals_of_labels_hold_the_truth(n_topics, least, most):
    for name, share in held(of_labels, n_topics, 400).items():
        assert least <= share <= most, name


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [5, 10, 20, 50])
def test_intervals_of_means_and_differences_hold_the_truth(n_topics):
    shares = held(of_runs, n_topics, 2000)
    assert shares.pop("mean near 1") >= 0.90  # so skewed that few topics miss its tail
    for name, share in shares.items():
        assert 0.93 <= share <= 0.975, name


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [10, 20])
def test_intervals_of_taus_by_topic_and_of_cells_hold_the_truth(n_topics):
    for name, share in held(of_cells, n_topics, 300, many=1000).items():
        assert (0.84 if name == "topic_mean pearson" else 0.92) <= share <= 0.99, name


@pytest.mark.slow
@pytest.mark.parametrize(("n_runs", "n_topics"), [(4, 30), (10, 30), (30, 10), (30, 30)])
def test_intervals_of_taus_of_runs_hold_the_truth_or_more(n_runs, n_topics):
    for name, share in held(Leaderboard(n_runs), n_topics, 120).items():
        assert share >= 0.9, name
