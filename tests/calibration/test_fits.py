"""From a judge's verdicts and people's labels to a correction, by the method's name."""

import pytest

from nuggetjudge.calibration.fits import FIT_METHODS, fit
from nuggetjudge.judges import Verdict
from nuggetjudge.judges.fitted import IsotonicCurve, OrdinalCurve

SCALE = ("none", "partial", "full")
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
    with pytest.raises(ValueError, match=r"the best cuts label all 12 items .* take another obj"):
        fitted("threshold", verdicts, objective="linear")


@pytest.mark.parametrize("method", FIT_METHODS)
def test_one_label_only_is_nothing_to_fit(method):
    with pytest.raises(ValueError, match="all 12 labels to fit on are 'full'"):
        fitted(method, labels=["full"] * 12)
