"""The figures of a paper: the numbers of the commands, in files that a paper can take."""

import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from json_lines import write_rows
from scipy.stats import kendalltau

import nuggetjudge as nj
from nuggetjudge.plugins.figures.drawing import find_leading_runs, write_figure
from nuggetjudge.plugins.figures.panels import CorrectedMean, draw_forest, draw_heat_map
from nuggetjudge.programs.analysis.compare_runs import compare_scores
from nuggetjudge.programs.analysis.leaderboards import leaderboards
from nuggetjudge.programs.scoring.topic_scores import topic_scores
from nuggetjudge.records.reading.problems import InputError, Problems

pytest.importorskip("matplotlib")
COLLECTION = Path(__file__).resolve().parents[1] / "collection"
LABELS = COLLECTION / "labels" / "nuggets.jsonl"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    home = tmp_path_factory.mktemp("figures")
    shutil.copytree(COLLECTION, home / "in")
    config = home / "in" / "judge.yaml"
    return nj.run(config, nuggets=home / "in" / "nuggets.jsonl", out=home / "demo")


def draw(kind, results, out, **options):
    return write_figure(kind, results, out, Problems(), **options)


def texts(path):
    tree = ElementTree.parse(path)
    return [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]


def scores(path, table, measure="A"):
    rows = [
        {"run_id": run, "topic_id": f"t{i}", "measure": measure, "value": value}
        for run, values in table.items()
        for i, value in enumerate(values)
    ]
    write_rows(path, rows)
    return path


@pytest.mark.parametrize("kind", ["leaderboard", "topics", "length", "tau"])
def test_each_figure_is_written_in_each_format_and_alike_twice(demo, tmp_path, kind):
    options = {"labels": LABELS} if kind == "tau" else {}
    starts = {"pdf": b"%PDF-", "svg": b"<?xml", "png": b"\x89PNG"}
    for ending, start in starts.items():
        for name in ("one", "two"):
            caption = draw(kind, [demo.folder], tmp_path / f"{name}.{ending}", **options)
        one, two = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
        assert one.startswith(start)
        assert one == two
    assert "V_strict" in caption
    assert b"/FontFile2" in (tmp_path / "one.pdf").read_bytes()  # letters, and no outlines of them


@pytest.mark.parametrize(("width", "inches"), [("column", 3.3), ("page", 6.9)])
def test_a_figure_is_as_wide_as_it_is_printed(demo, tmp_path, width, inches):
    draw("leaderboard", [demo.folder], tmp_path / "f.pdf", width=width)
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", (tmp_path / "f.pdf").read_bytes())
    assert float(box[1]) == pytest.approx(72 * inches)


def test_the_leaderboard_has_the_order_the_means_and_the_group_of_the_terminal(demo, tmp_path):
    caption = draw("leaderboard", [demo.folder], tmp_path / "f.svg")
    board = next(b for b in leaderboards(demo.scores, demo.folder) if b.title == "Nuggets")
    shown = texts(tmp_path / "f.svg")
    names = [line.run_id for line in board.lines]
    assert [text for text in shown if text in names] == names
    means = [text for text in shown if re.fullmatch(r"\.\d{3}", text)]
    assert means == [f"{line.value('V_strict'):.3f}".lstrip("0") for line in board.lines]
    compared = compare_scores(topic_scores(demo.folder, Problems()), "V_strict")
    assert find_leading_runs(compared) == list(board.leading)
    assert "significantly lower than the first run (HSD, p < .05)" in caption


def test_the_dashed_line_is_below_the_tied_group_and_diamonds_are_the_corrected_means():
    rows = [
        {"run_id": run, "mean": mean, "low": mean - 0.1, "high": mean + 0.1}
        for run, mean in (("a", 0.8), ("b", 0.7), ("c", 0.2))
    ]
    corrected = {"b": CorrectedMean(0.6, 0.5, 0.7)}
    axes = draw_forest(rows, ["a", "b"], corrected, "A", 3.3).axes[0]
    (dashed,) = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert list(dashed.get_ydata()) == [1.5, 1.5]  # rows are at 0, 1 and 2
    marks = {line.get_xdata()[0]: line for line in axes.lines if line.get_marker() in ("o", "D")}
    assert {x: mark.get_marker() for x, mark in marks.items()} == {
        0.8: "o", 0.7: "o", 0.2: "o", 0.6: "D",
    }  # fmt: skip
    filled = {x for x, mark in marks.items() if mark.get_markerfacecolor() != "white"}
    assert filled == {0.8, 0.7}  # the group shows without colours, too


def test_where_topics_are_too_few_no_group_is_drawn(tmp_path):
    path = scores(tmp_path / "s.jsonl", {"a": [0.9, 0.8], "b": [0.1, 0.2]})
    caption = draw("leaderboard", [path], tmp_path / "f.svg")
    assert "Too few shared topics to test the order: at least 6 are needed" in caption


def test_python_draws_the_figure_of_the_command(demo, tmp_path):
    caption = demo.figure("leaderboard", tmp_path / "a.pdf", width="page")
    assert caption == draw("leaderboard", [demo.folder], tmp_path / "b.pdf", width="page")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
    assert "tau-b 1.00" in demo.figure("tau", tmp_path / "c.pdf", other=demo)


def test_tau_is_scipys_of_the_runs_scores_by_labels_or_of_two_results(demo, tmp_path):
    draw("tau", [demo.folder], tmp_path / "f.svg", labels=LABELS, measure="A")
    (text,) = [text for text in texts(tmp_path / "f.svg") if text.startswith("Kendall")]
    ranking = nj.compare(LABELS, demo.folder)["ranking"]["A"]["scores"]
    tau = kendalltau(*zip(*((r["score"], r["other_score"]) for r in ranking), strict=True))
    assert text == f"Kendall's tau-b {tau.statistic:.2f}"
    values = {"a": [0.1, 0.2], "b": [0.3, 0.5], "c": [0.4, 0.1], "d": [0.9, 0.9]}
    one = scores(tmp_path / "one.jsonl", values)
    two = scores(tmp_path / "two.jsonl", values | {"c": [0.9, 1.0]})
    caption = draw("tau", [one, two], tmp_path / "g.svg")
    means = [[sum(v) / 2 for v in of.values()] for of in (values, values | {"c": [0.9, 1.0]})]
    assert f"tau-b {kendalltau(*means).statistic:.2f}".replace("0.", ".") in caption
    assert {"A, one", "A, two", *"abcd"} <= set(texts(tmp_path / "g.svg"))


def test_topics_stand_from_easy_to_hard_and_what_was_not_judged_is_hatched():
    table = np.array([[0.2, 1.0, np.nan], [0.0, 0.8, 0.5]])
    answered = [[True, True, True], [False, True, True]]
    axes = draw_heat_map(["a", "b"], ["hard", "easy", "mid"], table, answered, "A", 6.9).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["easy", "mid", "hard"]
    assert axes.patch.get_hatch()
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    assert shown[0.5, 0.5] == "1.00"
    assert shown[2.5, 1.5] == "–"  # no answer, which scores 0
    assert (1.5, 0.5) not in shown


def test_names_are_shown_as_they_are(tmp_path):
    path = scores(tmp_path / "s.jsonl", {"a$x^2$_<b>&": [0.9, 0.8], "\x1b[2J": [0.1, 0.2]})
    draw("leaderboard", [path], tmp_path / "f.svg")
    assert {"a$x^2$_<b>&", "?[2J"} <= set(texts(tmp_path / "f.svg"))


def test_forty_five_real_runs_fit_a_page(shared_data, tmp_path):
    data = shared_data / "rag24_e2e"
    result = nj.run(
        program="nuggets", topics=data / "topics.tsv", nuggets=data / "nuggets_nist.jsonl",
        runs=[str(data / "runs")], model="lexical", out=tmp_path / "out",
    )  # fmt: skip
    for kind in ("leaderboard", "topics", "length"):
        draw(kind, [result.folder], tmp_path / f"{kind}.svg")
        height = ElementTree.parse(tmp_path / f"{kind}.svg").getroot().get("height")
        assert float(height.removesuffix("pt")) < 72 * 9
    assert len(set(texts(tmp_path / "leaderboard.svg"))) > 45


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            "leaderboard",
            {"measure": "V_strickt"},
            "no measure 'V_strickt'; there is .*did you mean",
        ),
        ("topics", {"labels": LABELS}, "judge figure topics takes none"),
        ("tau", {}, "wanted two, or one and --labels; got 1"),
    ],
)
def test_what_cannot_be_drawn_says_why_and_writes_nothing(demo, tmp_path, kind, options, message):
    with pytest.raises(InputError, match=message):
        draw(kind, [demo.folder], tmp_path / "f.pdf", **options)
    with pytest.raises(InputError, match=r"f\.gif: pictures are written as svg, png, pdf"):
        draw(kind, [demo.folder], tmp_path / "f.gif", **options)
    assert not list(tmp_path.iterdir())


def test_without_lengths_it_says_which_tasks_count_them(tmp_path):
    path = scores(tmp_path / "s.jsonl", {"a": [0.9, 0.8], "b": [0.1, 0.2]})
    with pytest.raises(InputError, match="no length of answers, which judge run nuggets"):
        draw("length", [path], tmp_path / "f.pdf")


def test_without_matplotlib_it_says_what_to_install(demo, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"need matplotlib: pip install '.\[plots\]'") as error:
        draw("leaderboard", [demo.folder], tmp_path / "f.pdf")
    assert "\n" not in str(error.value)
