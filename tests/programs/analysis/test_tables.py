"""`judge calibrate` and `jury` fit every window, and begin with a sentence."""

import re
from pathlib import Path

import pytest

from nuggetjudge.programs.analysis.tables import words
from nuggetjudge.programs.analysis.tables.fits import make_calibration_view, make_jury_view


def row(value, low=None, high=None):
    return {"value": value, "low": low, "high": high}


def figures(*names, difference=(0.1, 0.02, 0.18)):
    sides = {"before": row(0.5, 0.4, 0.6), "after": row(0.6, 0.5, 0.7)}
    return {name: {**sides, "difference": row(*difference)} for name in names}


def fit_report(**more):
    return {
        "judge": "support", "model": "openai/some-long-model-name", "method": "threshold",
        "objective": "linear", "main_figure": "linear", "verdict": "better", "n_labels": 72,
        "n_test": 24, "n_test_topics": 6, "n_unjudged": 0,
        "figures": figures("linear", "kappa", "accuracy", "best_vs_rest"),
        "scale": ["none", "partial", "full"],
        "topics": [{"train": ["a", "b"], "dev": ["c"], "test": ["d"]}], **more,
    }  # fmt: skip


def test_a_fit_that_helped_says_by_how_much(check_fits):
    view = make_calibration_view(
        fit_report(), has_all=True, may_fold=True, missing="labels without"
    )
    assert view.verdict == (
        "The fit helped: linear kappa rose from .50 to .60 on topics that the fit never saw: "
        "+.10 [+.02, +.18]."
    )
    check_fits(view)


def test_without_a_value_before_the_verdict_claims_nothing(check_fits):
    report = fit_report()
    report["figures"]["linear"] |= {"before": None, "difference": None}
    view = make_calibration_view(report, has_all=False, may_fold=True, missing="")
    assert view.verdict.startswith("After the fit linear kappa is .60 [.50, .70] on topics")
    check_fits(view)


def jury_report(**difference):
    way = {"uses": "none", "n_unlabelled": 0, "kappa": 0.4, "why_not": ""}
    member = {
        "member": "a-team-with-a-long-name-1", "n": 1200, "n_unjudged": 3, "kappa": 0.4,
        "value": 0.46, "differs": 0.2, "changes": 0.01, "cost": 1.25,
    }  # fmt: skip
    chosen = {"name": "single, chosen on other topics", "value": row(0.46, 0.4, 0.5)}
    return {
        "worth": {"value": 1.4, "correlation": 0.6},
        "by_people": True,
        "members": [member, {**member, "member": "a-team-with-a-long-name-2"}],
        "n_items": 1200,
        "n_topics": 15,
        "n_labelled": 1200,
        "n_off_scale": 0,
        "n_adjudicated": 0,
        "method": "median",
        "objective": "quadratic",
        "methods": [
            {**way, **chosen, "minus_chosen": None},
            {**way, "name": "median", "value": row(0.45, 0.41, 0.49), "minus_chosen": difference},
        ],
    }


def test_a_jury_is_better_or_worse_than_its_best_member_only_where_the_interval_says_so(
    check_fits,
):
    for low, high, word in ((-0.02, 0.01, "as well as"), (0.01, 0.05, "better than"),
                            (-0.1, -0.01, "worse than")):  # fmt: skip
        view = make_jury_view(jury_report(value=0.0, low=low, high=high), has_all=True)
        assert view.verdict == (
            f"The jury agrees with people {word} its best member: quadratic kappa .45 [.41, .49] "
            "against .46; its 2 members are worth 1.4 independent judges (errors correlate .60)."
        )
        check_fits(view)


# The words of verdicts: their page lists every threshold, and no other.
PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "verdicts.md"


def test_the_page_has_every_threshold_of_a_verdict():
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:up to|from) (-?\d?\.\d\d) \| (.+) \|$", text, re.MULTILINE)
    declared = [*words.KAPPA_WORDS, *((n, f"{w} people do") for n, w in words.TAU_WORDS)]
    assert [(float(number), word) for number, word in rows] == declared
    assert f"fewer than {words.FEW_TOPICS} tested topics" in text
    assert f"fewer than {words.FEW_AUDITED_TOPICS} topics" in text
    assert f"fewer than {words.FEW_SCORED_TOPICS} topics (`report`)" in text
    assert f"kappa of at most {words.WEAK_KAPPA:.2f}".replace("0.", ".") in text
    assert all(f"\n| {word} | " in text for word in words.ORDER_WORDS)
    assert f"correlate above .{words.MAX_TOGETHER * 10:.0f}" in text


@pytest.mark.parametrize(
    ("low", "high", "side"),
    [(0.01, 0.2, 1), (-0.2, -0.01, -1), (-0.1, 0.1, 0), (0.0, 0.2, 0), (None, None, 0)],
)
def test_a_difference_is_one_where_its_interval_leaves_out_0(low, high, side):
    assert words.compare_with_zero({"value": 0.1, "low": low, "high": high}) == side
