"""How a command ends: what it says on stderr, and its exit code."""

import pytest
import typer

from nuggetjudge.cli.stopping import INCOMPLETE, is_whole, report_end

SPENT = {"requests": 1200, "cache_hits": 3, "tokens": 45, "cost": 0.5, "seconds": 2.06}
MANIFEST = {"this_time": SPENT, "limit_reached": None, "share_missing": 0.0}


def test_an_end_says_what_is_missing_what_it_took_and_where_things_are(capsys):
    report_end(
        MANIFEST,
        first=["2 topics were left out"],
        counted={"sentences \x1b[2J": 1234},
        partial="of no matter",
        last=["Results: r"],
        is_complete=True,
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "2 topics were left out\n"
        "    1,234 sentences \\x1b[2J\n"
        "1,200 requests, 3 from the cache, 45 tokens, cost $0.5000, 2.1 s\n"
        "Results: r\n"
    )


def test_a_limit_is_told_and_ends_with_3(capsys):
    manifest = {**MANIFEST, "limit_reached": "max_cost"}
    with pytest.raises(typer.Exit) as end:
        report_end(manifest, counted={}, took="no time", partial="it is half", is_complete=False)
    assert end.value.exit_code == INCOMPLETE
    assert capsys.readouterr().err == "no time\nStopped at max_cost: it is half.\n"


@pytest.mark.parametrize(
    ("share", "limit", "whole"),
    [(0.02, None, True), (0.0201, None, False), (0.0, "max_calls", False)],
)
def test_a_share_may_be_missing_and_no_limit_reached(share, limit, whole):
    manifest = {**MANIFEST, "share_missing": share, "limit_reached": limit}
    assert is_whole(manifest, 0.02) is whole
