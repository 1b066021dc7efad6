"""Figures before and after: scikit-learn's numbers, and a difference drawn in pairs."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from nuggetjudge.calibration.fits import FIT_METHODS, fit
from nuggetjudge.calibration.report import Figure, compare_agreement
from nuggetjudge.judges import Verdict
from nuggetjudge.judges.fitted import IsotonicCurve, OrdinalCurve
from nuggetjudge.metrics.inference import Interval

SCALE = ("none", "partial", "full")
DRAWS = {"resamples": 400, "seed": 0, "level": 0.95}


@pytest.fixture
def figures_labels():
    """(truth, before, after, topics) of 120 items on 8 topics; after is right more often."""
    rng = np.random.default_rng(5)
    truth = rng.choice(SCALE, 120, p=[0.5, 0.2, 0.3])
    other = rng.choice(SCALE, (2, 120))
    before = np.where(rng.random(120) < 0.4, truth, other[0])
    after = np.where(rng.random(120) < 0.8, truth, other[1])
    topics = [f"t{i % 8}" for i in range(120)]
    return truth.tolist(), before.tolist(), after.tolist(), topics


def test_figures_are_those_of_scikit_learn_on_the_same_items(figures_labels):
    truth, before, after, topics = figures_labels
    figures = compare_agreement(truth, before, after, topics, SCALE, draws=DRAWS)
    for side, given in (("before", before), ("after", after)):
        assert {name: getattr(figure, side).value for name, figure in figures.items()} == {
            "kappa": pytest.approx(cohen_kappa_score(truth, given)),
            "linear": pytest.approx(
                cohen_kappa_score(truth, given, labels=SCALE, weights="linear")
            ),
            "quadratic": pytest.approx(
                cohen_kappa_score(truth, given, labels=SCALE, weights="quadratic")
            ),
            "best_vs_rest": pytest.approx(
                cohen_kappa_score([t == "full" for t in truth], [g == "full" for g in given])
            ),
            "accuracy": pytest.approx(accuracy_score(truth, given)),
            "macro_f1": pytest.approx(f1_score(truth, given, labels=SCALE, average="macro")),
        }
    for figure in figures.values():
        assert figure.difference.value == pytest.approx(figure.after.value - figure.before.value)
        assert figure.difference.low <= figure.difference.value <= figure.difference.high
        assert figure.after.n_topics == 8


def test_the_difference_is_drawn_in_pairs():
    """In every topic one item of four more is right after; the topics differ widely."""
    truth, before, after, topics = [], [], [], []
    for t in range(8):
        n_right = t % 4  # of 4, before
        truth += ["yes"] * 2 + ["no"] * 2
        truths = ["yes"] * 2 + ["no"] * 2
        wrong = {"yes": "no", "no": "yes"}
        before += [label if i < n_right else wrong[label] for i, label in enumerate(truths)]
        after += [label if i < n_right + 1 else wrong[label] for i, label in enumerate(truths)]
        topics += [f"t{t}"] * 4
    accuracy = compare_agreement(truth, before, after, topics, ("no", "yes"), draws=DRAWS)[
        "accuracy"
    ]
    gap = accuracy.difference
    assert (gap.value, gap.low, gap.high) == pytest.approx((0.25, 0.25, 0.25))
    assert accuracy.before.high - accuracy.before.low > 0.3
    assert accuracy.verdict == "better"


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [3, 5, 12])
def test_of_two_equally_good_judges_one_is_called_better_as_rarely_as_the_level_says(n_topics):
    rng = np.random.default_rng(n_topics)
    called = 0
    for _ in range(400):
        topics, truth, sides = [], [], ([], [])
        for t in range(n_topics):
            labels = rng.random(40) < 0.5
            topics += [str(t)] * 40
            truth += labels.tolist()
            for side in sides:  # equally often right, and not equally in each topic
                right = rng.random(40) < np.clip(rng.normal(0.75, 0.08), 0, 1)
                side.extend((labels == right).tolist())
        draws = {**DRAWS, "resamples": 0}
        figures = compare_agreement(truth, *sides, topics, (False, True), draws=draws)
        called += figures["kappa"].verdict != "unclear"
    assert 0.02 < called / 400 < 0.085  # 5 % is wanted; 3 standard errors are 3.3 %


def test_the_interval_of_the_difference_is_students_t_of_topics_of_one_size():
    """Accuracy over equal topics is the mean of their differences, 0, 1/4, 1/2 and 1/4."""
    truth, before, after = ["yes"] * 16, ["no"] * 16, ["no"] * 16
    for index in (4, 8, 9, 12):  # right only after: none, one, two and one of four
        after[index] = "yes"
    topics = [f"t{i // 4}" for i in range(16)]
    gap = compare_agreement(truth, before, after, topics, ("no", "yes"), draws=DRAWS)[
        "accuracy"
    ].difference
    interval = ttest_1samp([0, 0.25, 0.5, 0.25], 0).confidence_interval(0.95)
    assert (gap.value, gap.low, gap.high) == pytest.approx((0.25, interval.low, interval.high))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.2, "better"),
        (-0.2, -0.01, "worse"),
        (-0.1, 0.1, "unclear"),
        (0.0, 0.1, "unclear"),
        (-0.1, 0.0, "unclear"),
        (None, None, "unclear"),
    ],
)
def test_the_verdict_goes_by_where_the_interval_lies(low, high, verdict):
    some = Interval(0.5, 0.4, 0.6, 9)
    assert Figure(some, some, Interval(0.0, low, high, 9)).verdict == verdict


def test_what_is_undefined_is_none():
    """One label only: kappa is 0/0. One topic only: no interval."""
    figures = compare_agreement(
        ["a"] * 4, ["a"] * 4, ["a"] * 4, list("ssuu"), ("a", "b"), draws=DRAWS
    )
    assert (figures["kappa"].after.value, figures["kappa"].difference.value) == (None, None)
    assert figures["accuracy"].after.value == 1.0
    figures = compare_agreement(
        ["a", "b"], ["a", "a"], ["a", "b"], ["t", "t"], ("a", "b"), draws=DRAWS
    )
    assert figures["accuracy"].difference.value == 0.5
    assert figures["accuracy"].difference.low is None


# From a judge's verdicts and people's labels to a correction, by the method's name.
SCORES = [0.05, 0.1, 0.2, 0.3, 0.35, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
LABELS = ["none"] * 4 + ["partial"] * 4 + ["full"] * 4
TOPICS = ["t1", "t2"] * 6


def fitted(method, verdicts=None, labels=LABELS, topics=TOPICS, scale=SCALE, objective="kappa"):
    verdicts = verdicts or [Verdict("none", score) for score in SCORES]
    return fit(
        method, verdicts, labels, topics, judge_scale=SCALE, scale=scale, objective=objective
    )


@pytest.mark.parametrize("method", [m for m in FIT_METHODS if m != "platt"])
def test_each_method_gives_the_labels_that_the_scores_tell_apart(method):
    correction = fitted(method)
    given = [correction.verdict(Verdict("none", score), SCALE, None).label for score in SCORES]
    assert given == LABELS
    assert correction.labels is None


def test_the_curve_is_that_of_the_method():
    kinds = {"threshold": type(None), "isotonic": IsotonicCurve}
    for method in ("threshold", "topic", "ordinal", "isotonic"):
        assert isinstance(fitted(method).curve, kinds.get(method, OrdinalCurve))
    two = ["no" if label == "none" else "yes" for label in LABELS]
    assert isinstance(fitted("platt", labels=two, scale=("no", "yes")).curve, OrdinalCurve)


def test_labels_that_are_not_the_judges_are_kept_with_the_correction():
    two = ["no" if label == "none" else "yes" for label in LABELS]
    correction = fitted("threshold", labels=two, scale=("no", "yes"))
    assert correction.labels == ("no", "yes")
    assert correction.cuts == (pytest.approx(0.325),)  # between 0.3 and 0.35


USELESS = {
    "all the same": [0.4] * 12,
    "falling as labels rise": SCORES[::-1],
}


@pytest.mark.parametrize("scores", USELESS.values(), ids=USELESS)
def test_cuts_that_give_every_item_one_label_are_refused(scores):
    verdicts = [Verdict("none", score) for score in scores]
    with pytest.raises(ValueError, match=r"the best cuts label all 12 items .* try another obj"):
        fitted("threshold", verdicts, objective="linear")


@pytest.mark.parametrize("method", FIT_METHODS)
def test_one_label_only_is_nothing_to_fit(method):
    with pytest.raises(ValueError, match="all 12 labels to fit on are 'full'"):
        fitted(method, labels=["full"] * 12)
