"""Sections that set runs against each other: their numbers are those of the commands, by hand."""

import base64
import json
import shutil
from array import array

import pytest
from undigested import forget_digests

import nuggetjudge as nj
from nuggetjudge.plugins.report.packing import UNANSWERED, UNDEFINED, UNJUDGED, pack_cells
from nuggetjudge.plugins.report.runs import (
    make_leaderboard,
    make_length,
    make_pairs,
    make_scale,
    make_topics,
)
from nuggetjudge.plugins.report.source import Source
from nuggetjudge.programs.analysis.compare_runs import compare_runs, front
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import Problems

MOON, KELP, OTHER = "The moon pulls the sea.", "Kelp bends with the tide.", "Nothing of that kind."
# What each run says on t1 to t5; nobody asks for a fact on t5, and `gone` cites a text not there.
ANSWERS = {
    "both": ([MOON, KELP], [MOON, KELP], [MOON, KELP], None, [MOON]),
    "moon": ([MOON, KELP], [MOON], [MOON], [MOON], [MOON]),
    "gone": ([MOON], [OTHER], [OTHER], [OTHER], [OTHER]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two vital facts on each of four topics, and three runs; one has no judged citation."""
    home = tmp_path_factory.mktemp("runs")

    def put(name, rows):
        (home / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return home / name

    facts = [{"text": text, "importance": "vital"} for text in (MOON, KELP)]
    named = [f"t{i}" for i in range(1, 6)]
    runs = [
        put(f"{run}.jsonl", (
            {"run_id": run, "topic_id": topic, "references": ["q" if run == "gone" else "p"],
             "answer": [{"text": text, "citations": [0]} for text in texts]}
            for topic, texts in zip(named, answered, strict=True) if texts
        ))
        for run, answered in ANSWERS.items()
    ]  # fmt: skip
    (home / "topics.tsv").write_text("".join(f"{topic}\twhy tides\n" for topic in named))
    return nj.run(
        program="nuggets,support",
        model="lexical",
        topics=home / "topics.tsv",
        runs=runs,
        passages=put("passages.jsonl", [{"docid": "p", "text": f"{MOON} {KELP}"}]),
        nuggets=put("nuggets.jsonl", ({"qid": t, "query": "why tides", "nuggets": facts}
                                      for t in named[:4])),
        out=home / "out",
    ).folder  # fmt: skip


def of(*folders, labels=()):
    return Source(folders, Problems(), labels=labels)


def rows_of(section, measure):
    return {row["run_id"]: row for row in section["measures"][measure]["rows"]}


def cell(source, measure, run, topic):
    """A value, or less the code of why there is none."""
    packed = pack_cells(source)[measure]
    numbers = array("B" if packed["bytes"] == 1 else "H", base64.b64decode(packed["cells"]))
    at = source.runs.index(run) * len(source.topics) + source.topics.index(topic)
    top, number = 256 ** packed["bytes"], numbers[at]
    return packed["values"][number] if number < len(packed["values"]) else number - top


def test_means_are_those_counted_by_hand_with_what_they_rest_on(folder):
    rows = rows_of(make_leaderboard(of(folder)), "V_strict")
    assert [(run, row["mean"]) for run, row in rows.items()] == [
        ("both", 0.75), ("moon", 0.625), ("gone", 0.125),
    ]  # fmt: skip
    assert [row["n_unanswered"] for row in rows.values()] == [1, 0, 0]
    assert [row["n"] for row in rows.values()] == [6, 8, 8]  # nuggets of the topics it answered
    assert all(row["bounds"] is None for row in rows.values())


def test_what_is_unjudged_widens_bounds_and_is_no_score(folder):
    row = rows_of(make_leaderboard(of(folder)), "support_precision")["gone"]
    assert (row["mean"], row["n"], row["n_unjudged"], row["bounds"]) == (None, 0, 5, [0.0, 1.0])


def test_intervals_and_tests_are_those_of_judge_compare(folder):
    source = of(folder)
    board, tested = make_leaderboard(source), make_pairs(source)["measures"]
    assert tested.keys() == set(source.measures) - {"length"}
    for measure in tested:
        comparison = compare_runs([folder], Problems(), measures=[measure])["measures"][measure]
        rows = rows_of(board, measure)
        for run in comparison["runs"]:
            assert {name: rows[run["run_id"]][name] for name in run} == run
        marks = {True: "1", False: "0", None: "?"}
        apart = "".join(marks[pair["is_significant"]] for pair in comparison["pairs"])
        assert tested[measure]["is_significant"] == board["measures"][measure]["apart"] == apart
        for name in ("difference", "p", "p_holm", "p_hsd"):
            expected = [pair[name] for pair in comparison["pairs"]]
            assert tested[measure][name] == pytest.approx(expected, abs=5e-5), (measure, name)


def test_means_of_all_rows_are_those_of_judge_score(folder):
    board = make_leaderboard(of(folder))
    for row in score_path(folder, Problems()):
        if row.topic_id == "all":
            shown = rows_of(board, row.measure)[row.run_id]
            assert shown["mean"] == pytest.approx(row.value), row
            assert (shown["n"], shown["n_unjudged"]) == (row.n, row.n_unjudged), row


def test_a_pair_counts_topics_won_tied_and_lost(folder):
    compared = make_pairs(of(folder))["measures"]["V_strict"]
    assert compared["runs"] == ["both", "moon", "gone"]
    # On t1 equal, on t2 and t3 the first, on t4, which it did not answer, the second.
    assert [compared[name][0] for name in ("wins", "ties", "losses")] == [2, 1, 1]
    assert compared["difference"][0] == 0.125


def test_no_answer_no_judgement_and_no_meaning_are_three_things(folder):
    source = of(folder)
    assert cell(source, "V_strict", "both", "t1") == 1.0
    assert cell(source, "V_strict", "moon", "t2") == 0.5
    assert cell(source, "V_strict", "gone", "t2") == 0.0
    assert cell(source, "V_strict", "both", "t4") == -UNANSWERED
    assert cell(source, "support_precision", "gone", "t1") == -UNJUDGED
    assert cell(source, "V_strict", "both", "t5") == -UNDEFINED
    assert make_topics(source)["unjudged"]["support_precision"] == dict.fromkeys(source.topics, 1)
    assert make_topics(source)["questions"]["t1"] == "why tides"


def test_many_distinct_values_are_packed_without_loss(folder):
    source = of(folder)
    rows = source.scores.rows["A"]["moon"]
    many = {f"x{i}": rows["t1"].model_copy(update={"value": i / 999}) for i in range(1000)}
    source.scores.rows["A"]["moon"] = rows | many
    source.scores.topics["A"] += many
    source.topics = [*source.topics, *many]
    assert pack_cells(source)["A"]["bytes"] == 2
    assert cell(source, "A", "moon", "x7") == round(7 / 999, 6)
    assert cell(source, "A", "both", "x7") == -UNANSWERED


def test_a_longer_run_that_is_no_better_is_not_on_the_line(folder):
    plotted = make_length(of(folder))["measures"]["A"]
    points = {point["run"]: point for point in plotted["points"]}
    assert points["gone"]["words"] == (5 + 3 * 4) / 4  # t5 has no nuggets
    assert points["both"]["words"] == 10  # of what it answered
    assert [plotted["points"][i]["run"] for i in plotted["front"]] == ["gone", "moon", "both"]
    assert plotted["spearman"] == pytest.approx(1.0)
    assert front([(5, 0.5), (5, 0.7), (9, 0.7), (4, 0.1)]) == [3, 1]


def test_three_folders_stand_side_by_side_under_names_of_their_own(folder, tmp_path):
    for name in ("one", "two"):
        shutil.copytree(folder, tmp_path / name)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["judges"]["support"]["version"] = "other"
    (tmp_path / "two" / "manifest.json").write_text(json.dumps(manifest))
    source = of(folder, tmp_path / "one", tmp_path / "two")
    rows = rows_of(make_leaderboard(source), "V_strict")
    assert len(rows) == 9
    assert rows["both@out"]["mean"] == rows["both@one"]["mean"] == rows["both@two"]["mean"] == 0.75
    assert rows["both@two"]["n"] == 6
    row = rows_of(make_leaderboard(source), "support_precision")["gone@one"]
    assert (row["n_unjudged"], row["bounds"]) == (5, [0.0, 1.0])
    listed = [(p.kind, p.file) for p in source.problems.rows]
    assert listed == [("other_judge", str(tmp_path / "two"))]  # once, for the one that differs


def test_one_run_alone_has_a_leaderboard_and_no_pairs(folder, tmp_path):
    alone = tmp_path / "alone"
    forget_digests(shutil.copytree(folder, alone))
    kept = [row for row in (alone / "scores.jsonl").read_text().splitlines() if '"moon"' in row]
    (alone / "scores.jsonl").write_text("\n".join(kept) + "\n")
    source = of(alone)
    assert rows_of(make_leaderboard(source), "V_strict")["moon"]["mean"] == 0.625
    assert make_pairs(source) is None
    assert make_length(source) is None


def test_only_what_leaderboards_go_by_is_tested_where_all_would_take_minutes(folder, monkeypatch):
    monkeypatch.setattr("nuggetjudge.plugins.report.source._FEW", 10)
    source = of(folder)
    measures = make_leaderboard(source)["measures"]
    assert make_pairs(source)["measures"].keys() == {"V_strict", "support_precision"}
    assert measures["A"]["apart"] == ""
    assert measures["V_strict"]["apart"]
    expected = compare_runs([folder], Problems(), measures=["A"])["measures"]["A"]["runs"]
    assert [row["low"] for row in measures["A"]["rows"]] == [row["low"] for row in expected]


def test_a_measure_beyond_one_has_a_scale_of_its_own():
    def row(mean, low=None, high=None):
        return {"mean": mean, "low": low, "high": high, "bounds": None}

    assert make_scale([row(0.2), row(None)]) == [0.0, 1.0]
    assert make_scale([row(1.04, 0.9, 1.23)]) == [0.0, 1.3]
    assert make_scale([row(279, 250, 376.2)]) == [0.0, 400.0]
