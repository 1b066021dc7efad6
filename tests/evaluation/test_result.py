"""What a user sees of a result in a notebook: tables, pages, comparisons; from any folder."""

import html
import re
import shutil
import sys
from pathlib import Path

import orjson
import pytest
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.evaluation import result as results
from nuggetjudge.evaluation.comparing import Text
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.views.numbers import format_bounds

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"


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
    assert answer + "\n--passages prints the cited passages.\n" == judge(
        "show", result.folder, "complete", "demo-bees"
    )
    assert repr(answer) == answer
    assert answer._repr_html_().startswith("<pre>complete, topic demo-bees")
    assert len(result.show("complete", "demo-bees", passages=True)) > len(answer)
    for names in ((), ("thin",), (None, "demo-bees")):
        options = ("--topic", names[1]) if len(names) > 1 else names
        assert result.show(*names) == judge("show", result.folder, *options)
    with pytest.raises(ValueError, match="name its run and topic"):
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
    labels = DEMO / "labels" / "support.jsonl"
    with pytest.warns(UserWarning, match="my run: stopped run, partial"):
        part = nj.agree(labels, stopped)
    assert 0 < part["n"] < nj.agree(labels, result)["n"]
    with (
        pytest.warns(UserWarning, match="stopped"),
        pytest.raises(InputError, match=r"my run.*no run 'nobody'"),
    ):
        nj.compare(stopped, runs=["nobody", "thin"])
