"""How a fitted correction turns scores into labels, and what it refuses to be."""

import math

import pytest
from pydantic import ValidationError

from nuggetjudge.judges.fitted import Correction, IsotonicCurve, OrdinalCurve
from nuggetjudge.judges.verdicts import Verdict

SCALE = ("none", "partial", "full")


@pytest.mark.parametrize(
    ("score", "label"), [(0.0, "none"), (0.3, "partial"), (0.59, "partial"), (0.6, "full")]
)
def test_a_label_is_given_from_its_cut_on(score, label):
    corrected = Correction(cuts=(0.3, 0.6)).verdict(Verdict("none", score), SCALE, None)
    assert corrected == Verdict(label, score)


def test_a_judge_without_scores_is_cut_by_the_place_of_its_label():
    correction = Correction(cuts=(0.5, 0.5))  # partial is as good as full
    assert correction.verdict(Verdict("partial"), SCALE, None).label == "full"
    assert correction.verdict(Verdict("none"), SCALE, None).label == "none"


def test_grades_become_the_two_labels_of_people():
    correction = Correction(cuts=(0.5,), labels=("no", "yes"))  # eta = 3 of 0-5 lies at 0.6
    grades = ("0", "1", "2", "3", "4", "5")
    given = [correction.verdict(Verdict(grade), grades, None).label for grade in grades]
    assert given == ["no", "no", "no", "yes", "yes", "yes"]


def test_a_topics_shift_moves_its_items_alone():
    correction = Correction(cuts=(0.3, 0.6), topics={"t1": 0.2})
    labels = [correction.verdict(Verdict("none", 0.45), SCALE, t).label for t in ("t1", "t2", None)]
    assert labels == ["full", "partial", "partial"]


def test_a_curve_gives_probabilities_and_the_median_label():
    curve = OrdinalCurve(slope=2.0, thresholds=(0.0, 1.0))
    corrected = Correction(curve=curve).verdict(Verdict("none", 0.5), SCALE, None)
    full = 0.5  # 2 * 0.5 - 1 = 0
    some = 1 / (1 + math.exp(-1.0))
    assert corrected.probabilities == pytest.approx(
        {"none": 1 - some, "partial": some - full, "full": full}
    )
    assert corrected.label == "full"
    assert corrected.score == pytest.approx((some + full) / 2)


def test_cuts_decide_the_label_where_both_are_known():
    curve = OrdinalCurve(slope=2.0, thresholds=(0.0, 1.0))
    corrected = Correction(curve=curve, cuts=(0.6, 0.9)).verdict(Verdict("none", 0.5), SCALE, None)
    assert corrected.label == "none"


def test_isotonic_curves_are_straight_between_knots_and_level_outside():
    curve = IsotonicCurve(places=(0.2, 0.6), shares=((0.4, 0.8), (0.0, 0.4)))
    assert curve.at_least(0.0) == [0.4, 0.0]
    assert curve.at_least(0.3) == pytest.approx([0.5, 0.1])
    assert curve.at_least(0.6) == curve.at_least(1.0) == [0.8, 0.4]


def test_log_odds_are_taken_of_scores_kept_off_0_and_1():
    correction = Correction(cuts=(0.0,), log_odds=True, topics={"t": 1.0})
    assert correction.position(0.5) == 0
    assert correction.position(0.5, "t") == 1
    assert correction.position(0.0) == pytest.approx(math.log(0.001 / 0.999))
    assert correction.position(1.0) == pytest.approx(-correction.position(0.0))


def test_an_empty_correction_changes_nothing():
    verdict = Verdict("partial", 0.4, {"none": 0.2, "partial": 0.6, "full": 0.2})
    assert Correction().verdict(verdict, SCALE, "t") == verdict


@pytest.mark.parametrize("score", [0.0, 0.37, 1.0, None])
def test_json_holds_all_of_it(score):
    for curve in (
        OrdinalCurve(slope=1 / 3, thresholds=(0.1, 0.1)),
        IsotonicCurve(places=(0.0, 1 / 3), shares=((0.1, 1.0), (0.1, 0.2))),
    ):
        one = Correction(
            cuts=(0.1, 0.7), curve=curve, log_odds=True, topics={"a": -0.25}, spread=0.3
        )
        other = Correction.model_validate_json(one.model_dump_json())
        assert other == one
        verdict = Verdict("partial", score)
        assert other.verdict(verdict, SCALE, "a") == one.verdict(verdict, SCALE, "a")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cuts": (0.6, 0.3)}, "cuts must ascend, got 0.3 after 0.6 at 1"),
        ({"cuts": ()}, "at least 1"),
        ({"cuts": (float("nan"),)}, "finite"),
        ({"cuts": (0.5,), "labels": ("a", "b", "c")}, "cuts for 2, labels for 3"),
        (
            {"cuts": (0.5,), "curve": {"kind": "ordinal", "slope": 1, "thresholds": (0, 1)}},
            "cuts for 2, the curve for 3",
        ),
        ({"curve": {"kind": "ordinal", "slope": 1, "thresholds": (1, 0)}}, "thresholds must"),
        (
            {"curve": {"kind": "isotonic", "places": (0, 1), "shares": ((0.5, 0.2),)}},
            "shares of label 1 must ascend",
        ),
        (
            {"curve": {"kind": "isotonic", "places": (0,), "shares": ((0.2,), (0.3,))}},
            "last label first must ascend",
        ),
        (
            {"curve": {"kind": "isotonic", "places": (0, 1), "shares": ((0.2,),)}},
            "1 for 2 places",
        ),
        ({"curve": {"kind": "pickle"}}, "kind"),
        ({"topics": {"t": 0.1}}, "without cuts or a curve"),
        ({"code": "import os"}, "Extra inputs"),
    ],
)
def test_a_correction_that_means_nothing_is_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        Correction.model_validate(fields)


def test_a_correction_for_another_scale_is_refused():
    curve = OrdinalCurve(slope=1.0, thresholds=(0.0,))
    for correction in (Correction(cuts=(0.5,)), Correction(curve=curve)):
        with pytest.raises(ValueError, match="full"):
            correction.verdict(Verdict("none", 0.5), SCALE, None)
