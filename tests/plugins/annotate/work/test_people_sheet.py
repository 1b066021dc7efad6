"""What a cascade left to people as a sheet, and scores that are right with its labels."""

import json

import numpy as np
import pytest

from nuggetjudge.plugins.annotate.work.next_labels import make_people_sheet
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.records.reading.problems import InputError, Problems

TOPICS, ITEMS = 10, 40


@pytest.fixture
def judged(tmp_path):
    """Of each topic half is kept, nearly all grade 3, of which people say so to 9 in 10; of what is
    left to people they say so to 1 in 10."""
    path, truth = tmp_path / "judged.jsonl", {}
    with path.open("w", encoding="utf-8") as file:
        for i in range(TOPICS * ITEMS):
            topic, number = f"t{i % TOPICS}", i // TOPICS
            is_kept = number % 2 == 0
            says = number % 20 not in (4, 5) if is_kept else number % 20 == 5
            truth[topic, f"p{i}"] = "3" if says else "0"
            grade = (3 if number % 20 != 8 else 0) if is_kept else None
            row = {"topic_id": topic, "passage_id": f"p{i}", "grade": grade}
            file.write(json.dumps({**row, "question": "q", "passage": "p"}) + "\n")
    return path, truth


def filled(path, rows, truth, which=("cascade", "random")):
    labelled = [
        {**row, "label": truth[row["topic_id"], row["passage_id"]]}
        for row in rows
        if row["chosen_by"] in which
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in labelled), encoding="utf-8")
    return path


def test_the_sheet_has_all_that_was_left_and_a_random_part_of_what_was_kept(judged):
    path, _ = judged
    sheet = make_people_sheet(path, Problems(), kind="relevance", n_kept=50)
    assert sheet.n_by == {"cascade": 200, "random": 50}
    by = {name: [r for r in sheet.rows if r["chosen_by"] == name] for name in sheet.n_by}
    assert {row["probability"] for row in by["cascade"]} == {1.0}
    assert {row["probability"] for row in by["random"]} == {5 / 20}
    assert {row["label"] for row in sheet.rows} == {None}
    few = make_people_sheet(path, Problems(), kind="relevance", n=40, n_kept=0)
    assert few.n_by == {"cascade": 40, "random": 0}
    assert {row["probability"] for row in few.rows} == {4 / 20}


def test_each_part_counts_as_much_as_there_is_of_it(judged, tmp_path):
    """All left items are labelled and half of the kept: taken alike, they would say 0.37."""
    path, truth = judged
    share = np.mean([label == "3" for label in truth.values()])
    corrected = []
    for seed in range(12):
        sheet = make_people_sheet(path, Problems(), kind="relevance", n_kept=100, seed=seed)
        labels = filled(tmp_path / "people.jsonl", sheet.rows, truth)
        (score, *_) = correct_scores(path, labels, Problems()).scores
        corrected.append(score.corrected)
    assert np.mean([figure.value for figure in corrected]) == pytest.approx(share, abs=0.012)
    inside = [figure.of_these.low <= share <= figure.of_these.high for figure in corrected]
    assert np.mean(inside) >= 0.8


def test_without_a_random_part_no_score_is_corrected(judged, tmp_path):
    path, truth = judged
    sheet = make_people_sheet(path, Problems(), kind="relevance", n_kept=50)
    labels = filled(tmp_path / "people.jsonl", sheet.rows, truth, which=("cascade",))
    with pytest.raises(InputError, match="cannot be corrected without a random part"):
        correct_scores(path, labels, Problems())


def test_what_cannot_be_a_sheet_is_refused(judged, tmp_path):
    path, _ = judged
    with pytest.raises(InputError, match="wanted one of each of the 10 topics at least"):
        make_people_sheet(path, Problems(), kind="relevance", n_kept=3)
    whole = tmp_path / "whole.jsonl"
    lines = [line for line in path.open(encoding="utf-8") if "null" not in line]
    whole.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="every item has a label"):
        make_people_sheet(whole, Problems(), kind="relevance")
