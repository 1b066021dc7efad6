"""What a user sees of a result in a notebook: tables, pages, comparisons; from any folder."""

import html
import json
import re
import shutil
import sys
import traceback
from pathlib import Path
from statistics import mean

import orjson
import pytest
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.evaluation import result as results
from nuggetjudge.evaluation.comparing import Text
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.views.numbers import format_bounds

from .conftest import DEMO

RESULT_DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"


def cells(shown):
    """The texts of a table's rows, by row, as a browser would show them."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", shown, re.S)
    return [[html.unescape(c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t", r)] for r in rows]


def test_a_notebook_shows_each_run_with_its_interval_and_what_it_rests_on(result):
    header, *rows = cells(result._repr_html_())[:5]
    row = dict(zip(header, rows[0], strict=True))
    assert [r[1] for r in rows] == ["complete", "miscited", "factdump", "thin"]
    assert row["V_strict"] == f"{result.score('complete', 'V_strict'):.3f}"[1:]
    assert (row["answered"], rows[3][header.index("answered")]) == ("5/5", "4/5")


def test_intervals_are_those_of_compare(result):
    runs = result.compare(measures=["V_strict"])["measures"]["V_strict"]["runs"]
    drawn = re.findall(r"<title>(\[.*?\])</title>", result._repr_html_())
    assert drawn[: len(runs)] == [format_bounds(r["low"], r["high"]) for r in runs]


def changed(result, folder, change):
    """A copy of the results with other score rows."""
    forget_digests(shutil.copytree(result.folder, folder))
    rows = [orjson.loads(line) for line in (folder / "scores.jsonl").read_bytes().splitlines()]
    rows = [row for row in map(change, rows) if row is not None]
    (folder / "scores.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return nj.Result(folder)


def test_missing_judgements_stand_beside_the_score_with_its_bounds(result, tmp_path):
    def lacking(row):
        is_one = (row["run_id"], row["topic_id"]) == ("complete", "all")
        return row | {"n_unjudged": 7, "low": 0.1, "high": 0.9} if is_one else row

    header, row, *_ = cells(changed(result, tmp_path / "lacking", lacking)._repr_html_())
    assert row[1] == "complete"
    assert row[header.index("unjudged")] == "7/42"
    assert row[header.index("if all were judged")] == "[.100, .900]"


def test_a_run_that_is_named_like_markup_is_text(result, tmp_path):
    name = "<script>alert(1)</script>\x1b[2J"

    def hostile(row):
        return row | {"run_id": name} if row["run_id"] == "thin" else row

    hostile_result = changed(result, tmp_path / "hostile", hostile)
    for shown in (
        hostile_result._repr_html_(),
        hostile_result.compare(measures=["A"])._repr_html_(),
    ):
        assert "<script" not in shown
        assert "&lt;script&gt;" in shown
        assert "\x1b" not in shown
    assert "\x1b" not in str(hostile_result)
    assert "<b>" not in Text("<b>")._repr_html_()


def test_a_folder_stays_the_same_one_when_the_working_directory_changes(
    result, tmp_path, monkeypatch
):
    monkeypatch.chdir(result.folder.parent)
    same = nj.Result(result.folder.name)
    monkeypatch.chdir(tmp_path)
    assert same.judgements.keys() == result.judgements.keys()
    assert same._repr_html_() == result._repr_html_()


def test_an_answer_is_shown_as_by_the_command(result, judge, tmp_path, monkeypatch):
    """From another working directory than the one in which it was judged."""
    monkeypatch.chdir(tmp_path)
    answer = result.show("complete", "demo-bees")
    assert answer + "\nAdd --passages to print the cited passages.\n" == judge(
        "show", result.folder, "complete", "demo-bees"
    )
    assert repr(answer) == answer
    assert answer._repr_html_().startswith("<pre>complete, topic demo-bees")
    assert len(result.show("complete", "demo-bees", passages=True)) > len(answer)
    for names in ((), ("thin",), (None, "demo-bees")):
        options = ("--topic", names[1]) if len(names) > 1 else names
        assert result.show(*names) == judge("show", result.folder, *options)
    with pytest.raises(ValueError, match="give its run and topic"):
        result.show("complete", passages=True)


@pytest.mark.whole
def test_the_page_is_written_and_opened_in_a_browser(result, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(results.webbrowser, "open", opened.append)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    path = result.report(tmp_path / "a b.html")
    assert path.read_text("utf-8").startswith("<!doctype html>")
    assert opened == [(tmp_path / "a b.html").as_uri()]
    result.report(path, open=False)
    assert len(opened) == 1


@pytest.fixture
def stopped(result, tmp_path):
    """The folder of a run that was killed: journals, the last of them cut, and no results."""
    folder = tmp_path / "my run"
    (folder / "journal").mkdir(parents=True)
    for path in (result.folder / "journal").iterdir():
        lines = path.read_bytes().splitlines(keepends=True)
        n_kept = 10 if path.name.startswith("support") else len(lines)
        (folder / "journal" / path.name).write_bytes(b"".join(lines[:n_kept]))
    return folder


def test_a_stopped_run_is_shown_as_far_as_it_came(stopped, result, tmp_path):
    with pytest.warns(UserWarning, match="my run: stopped run, partial"):
        partial = nj.Result(stopped)
    assert (partial.manifest["partial"], partial.is_complete) == (True, False)
    assert partial.score("thin", "V_strict") == result.score("thin", "V_strict")
    assert partial.n_unjudged > 0
    assert partial.n_judged + partial.n_unjudged == result.n_judged
    assert "V_strict" in str(partial)
    assert f"judge show '{stopped}' " in partial.show()
    made = partial.folder
    del partial
    assert not made.exists()


def test_stopped_runs_are_compared_and_held_against_people(stopped, result):
    with pytest.warns(UserWarning, match="my run: stopped run, partial"):
        comparison = nj.compare(stopped, runs=["complete", "thin"], measures=["V_strict"])
    whole = nj.compare(result, runs=["complete", "thin"], measures=["V_strict"])
    assert comparison["measures"] == whole["measures"]
    labels = RESULT_DEMO / "labels" / "support.jsonl"
    with pytest.warns(UserWarning, match="my run: stopped run, partial"):
        part = nj.agree(labels, stopped)
    assert 0 < part["n"] < nj.agree(labels, result)["n"]
    with (
        pytest.warns(UserWarning, match="stopped"),
        pytest.raises(InputError, match=r"my run.*no run 'nobody'"),
    ):
        nj.compare(stopped, runs=["nobody", "thin"])


# `nuggetjudge.compare` and `nuggetjudge.agree`: the numbers of the commands, by topic.
def test_two_runs_are_tested_as_by_the_command(result, judge):
    comparison = nj.compare(result, runs=["complete", "thin"], measures=["V_strict", "length"])
    names = ("--runs", "complete,thin", "--measure", "V_strict", "--measure", "length")
    printed = json.loads(judge("compare", result.folder, *names, "--json"))
    assert json.loads(orjson.dumps(comparison)) == printed
    assert comparison == result.compare(runs=["complete", "thin"], measures=["V_strict", "length"])


def test_scores_by_topic_explain_the_means(result):
    comparison = result.compare(runs=["complete", "thin"], measures=["V_strict"])
    by_topic = comparison.by_topic["V_strict"]
    assert len(by_topic) == 5
    assert sum("thin" in cells for cells in by_topic.values()) == 4  # it did not answer one
    (one, other), (pair,) = (comparison["measures"]["V_strict"][name] for name in ("runs", "pairs"))
    for run in (one, other):
        scores = [cells.get(run["run_id"], 0) for cells in by_topic.values()]
        assert mean(scores) == pytest.approx(run["mean"])
    differences = [cells["complete"] - cells.get("thin", 0) for cells in by_topic.values()]
    assert mean(differences) == pytest.approx(pair["difference"])


def test_a_comparison_shows_itself_as_tables_and_is_short_otherwise(result):
    pair = result.compare(runs=["complete", "thin"], measures=["V_strict"])
    for shown in (pair._repr_html_(), str(pair)):
        assert "complete minus thin" in shown
        assert "complete is not shown to be better than thin" in shown
        assert "5 questions are too few" in shown.replace("\n", " ")
    assert repr(pair) == "Comparison(runs, measures=['V_strict'])"
    turned = str(result.compare(runs=["thin", "complete"], measures=["V_strict"]))
    assert "thin is not shown to be worse than complete: V_strict -" in turned  # as in the table
    assert "thin minus complete" in turned
    board = result.compare(measures=["V_strict"])
    assert board._repr_html_().count("<tr>") == 1 + 4


def test_two_judges_of_the_same_answers_are_held_against_each_other(result, other):
    comparison = result.compare(other, kind="nuggets")
    assert comparison["compared"] == "judges"
    assert comparison.by_topic == {}
    assert f"0 of {comparison['agreement']['n']:,} items another label" in str(comparison)
    assert repr(comparison).startswith("Comparison(judges, n=258,")


def test_people_are_held_against_a_result_as_by_the_command(result, tmp_path, judge):
    rows = result.judgements["assignments"]
    people = tmp_path / "people.jsonl"
    people.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    agreement = result.agree(people)
    assert agreement["accuracy"] == 1
    assert agreement == nj.agree(people, result.folder)
    assert str(agreement) == judge("agree", people, result.folder)
    assert "<td" in agreement._repr_html_()
    assert str(agreement).startswith("The judge agrees with people almost perfectly: ")
    n = agreement["n"]
    assert repr(agreement).startswith(f"Agreement(nuggets, n={n}, share of equal labels 1.00 [")


def test_an_unknown_run_is_named_with_those_there_are(result):
    with pytest.raises(InputError, match="no run 'best'; runs: complete"):
        result.compare(runs=["best", "thin"])


def test_rows_that_are_left_out_are_warned_of(result, tmp_path):
    scores = tmp_path / "scores.jsonl"
    only_mean = {"run_id": "x", "topic_id": "all", "measure": "A", "value": 0.5}
    scores.write_bytes((result.folder / "scores.jsonl").read_bytes() + orjson.dumps(only_mean))
    with pytest.warns(UserWarning, match="1 no_topics"):
        nj.compare(scores, measures=["A"])


# In a notebook: a verdict first, tables, short reprs, and a typo that is one line.
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
    with pytest.raises(InputError, match="complete is one run; name the other run too"):
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


def test_a_comparison_is_a_frame_and_has_its_measures_by_name(result):
    pytest.importorskip("pandas")
    pair = result.compare("complete", "thin")
    frame = pair.frame()
    row = frame[frame.measure == "V_strict"].iloc[0]
    assert (row.run_id, row.other_run_id, len(frame)) == ("complete", "thin", len(pair["measures"]))
    assert row.difference == pytest.approx(row["mean"] - row.other_mean)
    assert row.p == pair["V_strict"]["pairs"][0]["p"]
    assert pair["V_strict"] is pair["measures"]["V_strict"]
    with pytest.raises(KeyError, match=r"no 'V_strit'; there is .*did you mean V_strict"):
        pair["V_strit"]
    judges = nj.compare(result, result)
    assert judges["compared"] != "judges" or len(judges.frame()) == judges["n_flips"]


def test_a_result_says_who_judged_for_how_much_and_how_long(result):
    assert (result.judged_by, result.cost) == (["lexical"], 0)
    assert result.seconds == result.manifest["this_time"]["seconds"] > 0
    n = result.n_judged
    assert re.search(rf"{n:,} judgements by lexical, \$0, [\d.]+ s", str(result))
