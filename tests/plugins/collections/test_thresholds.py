"""The threshold of the key point filter: false positives as counted by hand, and a fitted cut."""

import json

import pytest
from json_lines import write_rows
from typer.testing import CliRunner

from nuggetjudge.cli import app
from nuggetjudge.judges import KeyPointFilter
from nuggetjudge.judges.fitted import JudgeFile
from nuggetjudge.plugins.collections.thresholds import list_thresholds, make_threshold_table
from nuggetjudge.plugins.figures.filtering import draw_filter
from nuggetjudge.records.kinds import LabelFile

SCORES = {("t", name): score for name, score in [("a", 0.95), ("b", 0.8), ("c", 0.7), ("d", 0.2)]}
LABELS = {"a": ("agree", "agree"), "b": ("neutral", "agree"), "c": ("agree", ""), "d": ("disagree", "disagree")}  # fmt: skip # noqa: E501


def test_false_positives_are_averaged_over_annotators_of_what_is_kept():
    people = {
        ("t", name): {who: label for who, label in zip(("ann", "ben"), of, strict=True) if label}
        for name, of in LABELS.items()
    }
    cells = {("t", "a"): "yes", ("t", "c"): "yes", ("t", "d"): "no"}  # b: one against one
    labels = LabelFile("other", ("disagree", "neutral", "agree"), cells, ("topic_id",))
    labels.annotations.update(people)
    rows = {row["threshold"]: row for row in list_thresholds(SCORES, labels)}
    assert [rows[t]["kept"] for t in (0.0, 0.7, 0.8, 0.9)] == [4, 3, 2, 1]
    assert rows[0.7]["false_positives"] == pytest.approx((1 / 3 + 0 / 2) / 2)  # ann 3, ben 2
    assert rows[0.8]["false_positives"] == pytest.approx((1 / 2 + 0 / 2) / 2)
    assert rows[0.0]["false_positives"] == pytest.approx((2 / 4 + 1 / 3) / 2)
    assert [rows[t]["key_points"] for t in (0.7, 0.8)] == [1, 0.5]
    notes = make_threshold_table(list(rows.values()), 0.7).notes
    assert "keypoints.threshold=0" in notes[-1]
    assert len(make_threshold_table(list(rows.values()), 0.0).notes) == 1


def test_a_cut_that_is_fitted_to_labels_takes_the_place_of_the_threshold(tmp_path):
    words = ["dam", "flood", "wall", "river", "harvest"]
    rows = [
        {"topic_id": f"t{t}", "key_point_id": f"k{n}", "question": f"Why {' '.join(words)}?",
         "key_point": " ".join([*words[:n], *["zzz"] * (5 - n)]), "label": "yes" if n > 2 else "no"}
        for t in range(6) for n in range(6)
    ]  # fmt: skip
    labels, out = write_rows(tmp_path / "labels.jsonl", rows), tmp_path / "filter.json"
    arguments = ["calibrate", labels, "--judge", "keypoint_filter", "--model", "lexical"]
    arguments += ["--method", "threshold", "--out", out]
    ran = CliRunner().invoke(app.app, list(map(str, arguments)))
    assert ran.exit_code == 0, ran.output
    assert json.loads(out.read_text())["correction"]
    plain = KeyPointFilter("lexical")
    fitted = plain.copy_with_fit(JudgeFile.model_validate_json(out.read_text()))
    asked = [{"question": row["question"], "key_point": row["key_point"]} for row in rows[:6]]
    assert [fitted(**one).verdict for one in asked] == [row["label"] for row in rows[:6]]
    assert [plain(**one).verdict for one in asked] != [row["label"] for row in rows[:6]]


def test_the_figure_has_every_score_and_the_rates_of_people(tmp_path):
    pytest.importorskip("matplotlib")
    points = [{"id": str(i), "text": "t", "score": i / 10} for i in range(5, 10)]
    write_rows(tmp_path / "keypoints.jsonl", [{"qid": "t", "query": "?", "key_points": points}])
    dropped = [{"qid": "t", "text": "t", "score": 0.25, "why": "filter"}]
    dropped += [{"qid": "t", "text": "t", "why": "no_span"}]
    write_rows(tmp_path / "rejected_keypoints.jsonl", dropped)
    rates = [
        {"threshold": 0.7, "false_positives": 0.5},
        {"threshold": 0.9, "false_positives": None},
    ]
    statistics = {"verification": {"thresholds": rates}}
    (tmp_path / "statistics.json").write_text(json.dumps(statistics))
    figure, caption = draw_filter([tmp_path], 3.3)
    below, people = figure.axes[0].lines
    assert "6 key points" in caption
    up_to = dict(zip(below.get_xdata().round(3), below.get_ydata(), strict=True))
    assert (up_to[0.25], up_to[0.6], up_to[1.0]) == (1 / 6, 3 / 6, 1)
    assert list(zip(*people.get_data(), strict=True)) == [(0.7, 0.5)]
