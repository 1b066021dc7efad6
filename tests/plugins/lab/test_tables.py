"""What the lab shows begins with a verdict and fits every window."""

import pytest

from nuggetjudge.plugins.lab.audit import audit_view
from nuggetjudge.plugins.lab.bias import bias_view
from nuggetjudge.plugins.lab.drift import drift_view
from nuggetjudge.plugins.lab.evidence import evidence_view
from nuggetjudge.views.terminal import Terminal, view_text


@pytest.fixture
def check_fits():
    """No line is longer than the window, and every word of the verdict and of heads is whole."""

    def check(view):
        for width in (60, 80, 120):
            lines = view_text(view, Terminal(width)).splitlines()
            assert max(map(len, lines)) <= width, (width, max(lines, key=len))
            words = {word for line in lines for word in line.split()}
            assert set(view.verdict.split()) <= words
        assert view.verdict.endswith(".")

    return check


def estimate(value, low=None, high=None, **more):
    return {"value": value, "low": low, "high": high, **more}


def slope(by, value, low, high, *, unit=100.0, together=None):
    groups = ["up to 150", "over 150"] if unit else ["gpt*", "other runs"]
    return {
        "by": by, "what": "words of the answer", "unit": unit, "n": 40, "n_unknown": 2,
        "alone": estimate(value, low, high), "together": together,
        "groups": [{"group": name, "n": 20, "error": estimate(0.1)} for name in groups],
    }  # fmt: skip


def errors(*by, overall=(-0.006, -0.085, 0.073), is_separable=None):
    return {
        "gains": {"no": 0.0, "yes": 1.0}, "n": 42, "n_topics": 6, "n_unjudged": 1, "level": 0.95,
        "error": estimate(*overall), "is_separable": is_separable, "by": list(by),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("view", "verdict"),
    [
        (errors(slope("length", 0.042, 0.011, 0.072)),
         "The judge is biased to longer texts (+.04 [+.01, +.07] per 100 words); on the whole the "
         "judge is not shown to label higher or lower than people: -.01 [-.09, +.07]."),
        (errors(slope("length", -0.042, -0.072, -0.011), overall=(0.2, 0.1, 0.3)),
         "The judge is biased to shorter texts (-.04 [-.07, -.01] per 100 words); on the whole the "
         "judge labels higher than people: +.20 [+.10, +.30]."),
        # Beside the others the effect of length is gone: it was that of the runs.
        (errors(slope("length", 0.04, 0.01, 0.07, together=estimate(0.01, -0.02, 0.04)),
                slope("run:gpt*", 0.1, 0.05, 0.15, unit=None,
                      together=estimate(0.1, 0.04, 0.16)), overall=(-0.2, -0.3, -0.1)),
         "The judge is biased to gpt* (+.10 [+.04, +.16]); on the whole the judge labels lower "
         "than people: -.20 [-.30, -.10]."),
        (errors(slope("rank", 0.04, -0.01, 0.07, unit=1.0), overall=(-0.2, -0.3, -0.1)),
         "No bias by rank is shown; on the whole the judge labels lower than people: "
         "-.20 [-.30, -.10]."),
    ],
)  # fmt: skip
def test_the_verdict_names_what_the_judge_is_biased_to(view, verdict, check_fits):
    shown = bias_view(view)
    assert shown.verdict == verdict
    check_fits(shown)


def test_what_is_unknown_or_unjudged_is_said():
    notes = " ".join(bias_view(errors(slope("length", 0.1, 0, 0.2), is_separable=False)).notes)
    assert "unknown for 2 items" in notes
    assert "1 item that people labelled were not judged" in notes
    assert "cannot be separated" in notes


def split(instrument, systems, *, is_same=False):
    return {
        "measure": "A", "instrument": instrument, "systems": systems, "are_same_items": is_same,
        "margin": 0.05, "level": 0.95, "runs": [["v1"], ["v2"]], "n_topics": 6,
        "n_judged": [30, 30], "n_unjudged": [0, 2], "n_anchors": 25, "n_anchor_topics": 5,
        "n_other_texts": 1, "has_labels": False, "changed": 0.2, "equal_to_human": None,
        "score": {"old": 0.5, "new": 0.6, "change": estimate(0.1, 0.05, 0.15)},
        "judge_less_human": {"old": None, "new": None},
        "instrument_change": estimate(0.08, 0.02, 0.14),
        "systems_change": estimate(0.02, -0.1, 0.14),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("instrument", "systems", "first"),
    [
        ("moved", "held", "The judge moved, the systems did not:"),
        ("held", "moved", "The judge did not move, the systems did:"),
        ("moved", "cannot tell", "The judge moved; whether the systems did is not known:"),
        ("cannot tell", "cannot tell", "Whether the judge or the systems moved is not known:"),
    ],
)
def test_the_verdict_splits_the_estimate(instrument, systems, first, check_fits):
    view = drift_view([split(instrument, systems)])
    assert view.verdict == (
        f"{first} A changed by +.10 [+.05, +.15], of which +.08 [+.02, +.14] is of the judge and "
        "+.02 [-.10, +.14] of the systems."
    )
    check_fits(view)


def test_answers_that_are_the_same_leave_nothing_to_the_systems(check_fits):
    view = drift_view([split("moved", "held", is_same=True)])
    assert view.verdict.endswith(": A of the same answers changed by +.10 [+.05, +.15].")
    check_fits(view)


def test_the_verdict_counts_suggestions_and_what_is_found_again(check_fits):
    precision = [
        {"chosen": "used", "n": 20, "full": estimate(0.75, 0.5, 0.9), "partly": estimate(0.9)}
    ]
    search = [{"what": "in the best 1", "n": 8, "n_unjudged": 1, **estimate(0.5, 0.2, 0.8)}]
    view = evidence_view(precision, search, [])
    assert view.verdict == (
        "15 of 20 labelled suggestions (.75 [.50, .90]) that the run uses fully support their "
        "sentence; the search finds 4 of 8 confirmed citations (.50 [.20, .80]) again."
    )
    check_fits(view)
    assert evidence_view([], search, []).verdict.startswith("The search finds 4 of 8 confirmed")


def test_an_audit_says_how_alike_the_orders_are(check_fits):
    run = {
        "run_id": "a-run-with-a-long-name", "rank": 1, "other_rank": 3, "mean": 0.5, "low": 0.4,
        "high": 0.6, "other_mean": 0.4, "other_low": None, "other_high": None, "n": 40,
        "accuracy": 0.8, "kappa": 0.5,
    }  # fmt: skip
    top = {"k": 2, "leave": [], "most_places": 2, "n_pairs": 1, "n_swapped": 1,
           "n_beyond_chance": 1, "beyond_chance": [["a", "b"]]}  # fmt: skip
    agreed = {"n": 80, "accuracy": 0.9,
              "intervals": {"cohen_kappa": {"unweighted": estimate(0.6, 0.5, 0.7)}}}  # fmt: skip
    audited = {"program": "support", "measure": "support_precision", "tau_b": 0.67, "n_topics": 5,
               "runs": [run], "top": [top], "agreement": agreed, "cost": None}  # fmt: skip
    view = audit_view([audited], (["Qwen"], ["Llama"]), 12, 0.95)
    assert view.verdict == (
        "The other judge (Llama) orders the runs by support_precision partly as the first does: "
        "tau-b .67 over 1 run; 1 of 1 pair change order, 1 significantly."
    )
    check_fits(view)
