"""The figures of a paper: the numbers of the commands, in files that a paper can take."""

import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from json_lines import read_rows, write_rows
from scipy.stats import kendalltau

import nuggetjudge as nj
from nuggetjudge.plugins.figures import levels
from nuggetjudge.plugins.figures.drawing import find_leading_runs, write_figure
from nuggetjudge.plugins.figures.panels import (
    CorrectedMean,
    draw_forest,
    draw_heat_map,
    draw_scatter,
)
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


@pytest.fixture(scope="module")
def real(shared_data, tmp_path_factory):
    """The 45 runs of the TREC 2024 RAG track, judged without a model."""
    data = shared_data / "rag24_e2e"
    return nj.run(
        program="nuggets", topics=data / "topics.tsv", nuggets=data / "nuggets_nist.jsonl",
        runs=[str(data / "runs")], model="lexical", out=tmp_path_factory.mktemp("real") / "out",
    )  # fmt: skip


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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["leaderboard", "topics", "length", "tau", "labels", "confusion"])
def test_each_figure_is_written_in_each_format_and_alike_twice(demo, tmp_path, kind):
    options = {"labels": LABELS} if kind in ("tau", "confusion") else {}
    starts = {"pdf": b"%PDF-", "svg": b"<?xml", "png": b"\x89PNG"}
    for ending, start in starts.items():
        for name in ("one", "two"):
            caption = draw(kind, [demo.folder], tmp_path / f"{name}.{ending}", **options)
        one, two = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
        assert one.startswith(start)
        assert one == two
    assert "V_strict" in caption or kind in ("labels", "confusion")
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


def test_levels_have_scipys_taus_and_a_shape_for_each_group(
    real, shared_data, tmp_path, monkeypatch
):
    """Figures 6 and 7 of arXiv:2411.09607: runs, topics and cells of RAG and AG."""
    people = shared_data / "rag24_nuggets"
    drawn = []
    monkeypatch.setattr(
        levels, "draw_scatter", lambda *a, **k: drawn.append(a) or draw_scatter(*a, **k)
    )
    groups = tmp_path / "groups.jsonl"
    groups.write_text((people / "published_run_scores.jsonl").read_text("utf-8"), "utf-8")
    caption = draw(
        "tau", [real.folder], tmp_path / "f.svg", levels="runs,topics,cells", run_groups=groups,
        labels=people / "nugget_assignments.jsonl",
    )  # fmt: skip
    truth = {  # an independent implementation's; runs are named without their team there
        (row["run_id"], row["qid"]): row["V_strict"]
        for row in read_rows(people / "expected_cell_scores.jsonl")
    }
    ours = {
        (row.run_id.partition(".")[2], row.topic_id): row.value
        for row in real.scores
        if row.measure == "V_strict" and row.topic_id != "all"
    }
    names = {run for run, _ in ours} & {run for run, _ in truth}
    cells = sorted(cell for cell in ours.keys() & truth.keys() if cell[0] in names)
    topics = sorted({topic for _, topic in cells})
    sides = [[side[cell] for cell in cells] for side in (truth, ours)]
    means = [[sum(side.get((run, t), 0) for t in topics) for run in sorted(names)]
             for side in (truth, ours)]  # fmt: skip
    of_topics = [
        kendalltau(*([side[c] for c in cells if c[1] == t] for side in (truth, ours))).statistic
        for t in topics
    ]
    expected = (kendalltau(*np.round(means, 9)), np.mean(of_topics), kendalltau(*sides))
    taus = [float(t) for t in re.findall(r"(?:runs|per topic|all cells) (\.\d+)", caption)]
    assert taus == pytest.approx(
        [expected[0].statistic, expected[1], expected[2].statistic], abs=0.005
    )
    assert f"all cells {taus[2]:.2f} (n = {len(cells)})".replace(" 0.", " .") in caption
    by_level = {level.name: level.points for level in drawn[0][0]}
    assert {name: len(points) for name, points in by_level.items()} == {
        "runs": len(names), "topics": len(topics), "cells": len(cells),
    }  # fmt: skip
    assert sorted(point[0] for point in by_level["cells"]) == pytest.approx(
        sorted(sides[0]), abs=1e-6
    )
    shown = set(texts(tmp_path / "f.svg"))
    assert {"RAG runs", "AG runs", "topics", "RAG cells", "AG cells"} <= shown
    draw("length", [real.folder], tmp_path / "g.svg", levels="runs,cells", run_groups=groups)
    assert [len(level.points) for level in drawn[1][0]] == [45, len(ours)]


def test_groups_are_matched_by_name_and_levels_by_theirs(tmp_path):
    values = {"a": [0.1, 0.2], "b": [0.3, 0.5], "team.c": [0.4, 0.1]}
    one, two = (scores(tmp_path / f"{name}.jsonl", values) for name in ("one", "two"))
    groups = tmp_path / "groups.tsv"
    groups.write_text("a\tAG\nc\tRAG\n", encoding="utf-8")
    out = tmp_path / "f.svg"
    caption = draw("tau", [one, two], out, run_groups=groups)
    assert "Shapes and colours: AG, RAG, other." in caption
    assert {"AG runs", "RAG runs", "other runs"} <= set(texts(out))
    cases = [
        ({"levels": "rums"}, "--levels rums: wanted some of runs,topics,cells; did you mean"),
        (
            {"run_groups": scores(tmp_path / "x.jsonl", values)},
            "field 'group' or 'task' is missing",
        ),
    ]
    groups.write_text("z\tAG\n", encoding="utf-8")
    cases.append(({"run_groups": groups}, "names no run of the results, such as a"))
    for options, message in cases:
        with pytest.raises(InputError, match=message):
            draw("tau", [one, two], out, **options)
    with pytest.raises(InputError, match="--levels cells: judge figure topics does not take it"):
        draw("topics", [one], out, levels="cells")


def test_labels_and_pairs_of_labels_are_drawn_in_percent(tmp_path):
    """The pairs are those of the first matrix of arXiv:2504.15205, in tenths of a percent."""
    pairs = {("none", "none"): 137, ("partial", "partial"): 119, ("full", "full"): 304,
             ("none", "partial"): 151, ("partial", "full"): 289}  # fmt: skip
    given = [pair for pair, n in pairs.items() for _ in range(n)]
    ids = [{"topic_id": "t", "run_id": "r", "sentence_id": i, "passage_id": "p"}
           for i in range(len(given))]  # fmt: skip
    for at, name in enumerate(("people", "model")):
        rows = [key | {"label": pair[at]} for key, pair in zip(ids, given, strict=True)]
        write_rows(tmp_path / f"{name}.jsonl", rows)
    people, model = tmp_path / "people.jsonl", tmp_path / "model.jsonl"
    caption = draw("confusion", [model], tmp_path / "f.svg", labels=people)
    assert "Share of equal labels .56" in caption
    assert {"13.7", "11.9", "30.4", "15.1", "28.9"} <= set(texts(tmp_path / "f.svg"))
    draw("labels", [people, model], tmp_path / "g.svg")
    assert {"people", "model", "29", "41", "30", "14", "27", "59"} <= set(texts(tmp_path / "g.svg"))
    with pytest.raises(InputError, match="second set of labels by people"):
        draw("labels", [people, people], tmp_path / "g.svg")


def test_names_are_shown_as_they_are(tmp_path):
    path = scores(tmp_path / "s.jsonl", {"a$x^2$_<b>&": [0.9, 0.8], "\x1b[2J": [0.1, 0.2]})
    draw("leaderboard", [path], tmp_path / "f.svg")
    assert {"a$x^2$_<b>&", "?[2J"} <= set(texts(tmp_path / "f.svg"))


@pytest.mark.slow
def test_forty_five_real_runs_fit_a_page(real, tmp_path):
    for kind in ("leaderboard", "topics", "length"):
        draw(kind, [real.folder], tmp_path / f"{kind}.svg")
        height = ElementTree.parse(tmp_path / f"{kind}.svg").getroot().get("height")
        assert float(height.removesuffix("pt")) < 72 * 9
    assert len(set(texts(tmp_path / "leaderboard.svg"))) > 45


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            "leaderboard",
            {"measure": "V_strickt"},
            "no measure 'V_strickt', wanted one of .*did you mean",
        ),
        ("topics", {"labels": LABELS}, "judge figure topics does not take it"),
        ("tau", {}, "wanted two results, or one and --labels; got 1"),
    ],
)
def test_what_cannot_be_drawn_says_why_and_writes_nothing(demo, tmp_path, kind, options, message):
    with pytest.raises(InputError, match=message):
        draw(kind, [demo.folder], tmp_path / "f.pdf", **options)
    with pytest.raises(InputError, match=r"f\.gif: wanted a name that ends in one of \.svg"):
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
