"""`agree --by` says first what the judge is biased to."""

import pytest

from nuggetjudge.programs.analysis.tables.bias import bias_view

from .conftest import estimate


def slope(by, value, low, high, *, unit=100.0, together=None):
    groups = ["up to 150", "over 150"] if unit else ["gpt*", "other runs"]
    return {
        "by": by, "what": "words of the answer", "unit": unit, "n": 40, "n_unknown": 2,
        "alone": estimate(value, low, high), "together": together,
        "groups": [{"group": name, "n": 20, "error": estimate(0.1)} for name in groups],
    }  # fmt: skip


def errors(*by, overall=(-0.006, -0.085, 0.073), is_told_apart=None):
    return {
        "gains": {"no": 0.0, "yes": 1.0}, "n": 42, "n_topics": 6, "n_unjudged": 1, "level": 0.95,
        "error": estimate(*overall), "is_told_apart": is_told_apart, "by": list(by),
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
    notes = " ".join(bias_view(errors(slope("length", 0.1, 0, 0.2), is_told_apart=False)).notes)
    assert "unknown for 2 items" in notes
    assert "1 item that people labelled were not judged" in notes
    assert "cannot be separated" in notes
