"""In a notebook: a verdict first, tables, short reprs, and a typo that is one line."""

import traceback

import pytest

from nuggetjudge.records.reading.problems import InputError

from .conftest import DEMO

TYPOS = {
    "show run": (lambda result: result.show("complte"), "complete"),
    "show topic": (lambda result: result.show("complete", "demo-bee"), "demo-bees"),
    "show measure": (lambda result: result.show("thin", measure="V_strit"), "V_strict"),
    "compare runs": (lambda result: result.compare("complete", "thn"), "thin"),
    "compare run": (lambda result: result.compare("complte"), "complete"),
    "compare measure": (lambda result: result.compare(measures=["V_strit"]), "V_strict"),
    "rows run": (lambda result: result.rows("complte"), "complete"),
    "rows measure": (lambda result: result.rows("V_strit"), "V_strict"),
    "frame": (lambda result: result.frame(runs="thn"), "thin"),
    "agree": (lambda result: result.agree(DEMO / "labels/nuggets.csv"), "nuggets.csv"),
    "figure kind": (lambda result: result.figure("leaderboad", "x.svg"), "leaderboard"),
    "figure": (lambda result: result.figure("topics", "x.svg", measure="V_strit"), "V_strict"),
}


WHOLE = {"figure kind", "figure"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.whole] * (n in WHOLE)) for n in TYPOS]
)
def test_a_typo_is_one_line_with_the_nearest_name_and_no_traceback_of_ours(result, name):
    call, meant = TYPOS[name]
    with pytest.raises(InputError) as raised:
        call(result)
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert "\n" not in str(raised.value)
    assert meant in str(raised.value)
    ours = [frame for frame in frames if "/tests/" not in frame.filename]
    assert len(ours) <= 1, ours
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


def test_two_runs_are_compared_by_name_and_a_runs_rows_are_had_by_it(result):
    assert result.compare("complete", "thin") == result.compare(runs=["complete", "thin"])
    with pytest.raises(InputError, match="complete is one run; name the other one too"):
        result.compare("complete")
    assert {row.run_id for row in result.rows("complete")} == {"complete"}
    assert result.rows("complete") == result.rows(runs="complete")


def test_reprs_are_short_however_much_there_is(result):
    shown = repr(result.judgements)
    assert shown.splitlines()[0] == 'nuggets: 5 rows; ["nuggets"] gives them'
    for rows in (result.judgements["nuggets"], result.scores, result.rows()):
        lines = repr(rows).splitlines()
        assert lines[0].startswith(f"{len(rows):,} rows; a loop or list(...) gives all, the first")
        assert len(lines) == 4
        assert max(map(len, lines)) <= 170
    assert isinstance(result.judgements["nuggets"], list)
    assert repr(result.unjudged) == "0 rows"


def test_a_notebook_draws_intervals_beside_their_numbers(result):
    for shown in (
        result.compare("complete", "thin"),
        result.agree(DEMO / "labels/nuggets.jsonl"),
    ):
        assert "<svg" in shown._repr_html_()
