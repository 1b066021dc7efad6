"""`judge drift` says first whether the judge moved or the systems, and how much is of each."""

import pytest

from nuggetjudge.programs.analysis.tables.drift import drift_view


def change(value, low, high):
    return {"value": value, "low": low, "high": high}


def split(instrument, systems, *, is_same=False):
    return {
        "measure": "A", "instrument": instrument, "systems": systems, "are_same_items": is_same,
        "margin": 0.05, "level": 0.95, "runs": [["v1"], ["v2"]], "n_topics": 6,
        "n_judged": [30, 30], "n_unjudged": [0, 2], "n_anchors": 25, "n_anchor_topics": 5,
        "n_other_texts": 1, "has_labels": False, "changed": 0.2, "equal_to_human": None,
        "score": {"old": 0.5, "new": 0.6, "change": change(0.1, 0.05, 0.15)},
        "judge_less_human": {"old": None, "new": None},
        "instrument_change": change(0.08, 0.02, 0.14), "systems_change": change(0.02, -0.1, 0.14),
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
def test_the_verdict_splits_the_change(instrument, systems, first, check_fits):
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
