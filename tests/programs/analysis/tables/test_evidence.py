"""`judge evidence` says first how many suggestions support their sentence."""

from nuggetjudge.programs.analysis.tables.evidence import evidence_view


def share(value, low=None, high=None):
    return {"value": value, "low": low, "high": high}


def test_the_verdict_counts_suggestions_and_what_is_found_again(check_fits):
    precision = [{"chosen": "used", "n": 20, "full": share(0.75, 0.5, 0.9), "partly": share(0.9)}]
    search = [{"what": "in the best 1", "n": 8, "n_unjudged": 1, **share(0.5, 0.2, 0.8)}]
    view = evidence_view(precision, search, [])
    assert view.verdict == (
        "15 of 20 labelled suggestions (.75 [.50, .90]) that the run uses fully support their "
        "sentence; the search finds 4 of 8 confirmed citations (.50 [.20, .80]) again."
    )
    check_fits(view)
    assert evidence_view([], search, []).verdict.startswith("The search finds 4 of 8 confirmed")
