"""Which rows of a file of labels correct scores: a random draw, and nothing chosen for its look."""

import csv
import json
import random

import pytest

from nuggetjudge.programs.engine.label_sheet import write_sheet
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.programs.scoring.human_labels import human_labels
from nuggetjudge.records.reading.problems import InputError, Problems

IDS = ("topic_id", "run_id", "sentence_id", "passage_id")
LABELS = ("none", "partial", "full")


@pytest.fixture
def judged(tmp_path):
    """Support labels of 3 runs on 8 topics, with scores, so that some stand near a cut."""
    rng = random.Random(1)
    path = tmp_path / "judged.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for topic in range(8):
            for run in ("a", "b", "c"):
                sentences = []
                for i in range(12):
                    score = rng.random()
                    cited = {"docid": f"d{i}", "label": LABELS[int(3 * score)], "score": score}
                    sentences.append({"text": f"s{i}", "citations": [cited]})
                row = {"topic_id": f"t{topic}", "run_id": run, "sentences": sentences}
                stream.write(json.dumps(row) + "\n")
    return path


def cells_of(judged):
    """The ids of each judged citation."""
    answers = [json.loads(line) for line in judged.read_text(encoding="utf-8").splitlines()]
    for answer in answers:
        for i, sentence in enumerate(answer["sentences"]):
            ids = answer["topic_id"], answer["run_id"], str(i), sentence["citations"][0]["docid"]
            yield dict(zip(IDS, ids, strict=True))


@pytest.fixture(params=["csv", "jsonl"])
def sheet(judged, tmp_path, request):
    """A sheet of `judge next` of which all 120 rows have a label, and (random rows, others)."""
    path = tmp_path / f"sheet.{request.param}"
    rng = random.Random(2)
    why = ("random", "influence", "random", "margin")
    write_sheet(
        path,
        [
            cell | {"label": rng.choice(LABELS), "chosen_by": why[i % 4]}
            for i, cell in zip(range(120), list(cells_of(judged))[::2], strict=False)
        ],
        Problems(),
    )
    return path


def test_of_a_sheet_only_the_random_rows_correct_scores_and_the_others_are_counted(judged, sheet):
    problems = Problems()
    _, labels = human_labels(judged, sheet, problems, {})
    assert sum(label is not None for label in labels) == 60
    assert problems.counts()["not_random"] == 1
    (problem,) = (row for row in problems if row.kind == "not_random")
    assert problem.action == "skipped"
    assert "60 of 120 labels are no random draw (chosen_by influence: " in problem.what
    chosen = {"chosen_by": ["random"]}
    assert labels == human_labels(judged, sheet, Problems(), chosen)[1]
    options = {"measures": ["support_precision"]}
    corrected = correct_scores(judged, sheet, Problems(), where=chosen, **options)
    assert correct_scores(judged, sheet, Problems(), **options) == corrected


def test_what_a_flag_names_is_used(judged, sheet):
    problems = Problems()
    chosen = {"chosen_by": ["random", "margin"]}
    _, labels = human_labels(judged, sheet, problems, chosen)
    assert sum(label is not None for label in labels) > 60
    assert "not_random" not in problems.counts()


def rows_of(judged, chosen_by):
    """A labelled row for each of these, on cells one after the other."""
    return [
        cell | {"label": LABELS[i % 3]} | ({"chosen_by": name} if name is not None else {})
        for i, (cell, name) in enumerate(zip(cells_of(judged), chosen_by, strict=False))
    ]


def used(judged, path, rows, where=None):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    problems = Problems()
    _, labels = human_labels(judged, path, problems, where or {})
    return sum(label is not None for label in labels), problems.counts().get("not_random", 0)


def test_rows_that_do_not_say_how_they_were_chosen_count_unless_others_do(judged, tmp_path):
    path = tmp_path / "l.jsonl"
    assert used(judged, path, rows_of(judged, [None] * 9)) == (9, 0)
    assert used(judged, path, rows_of(judged, ["random"] * 9)) == (9, 0)
    assert used(judged, path, rows_of(judged, ["random"] * 6 + ["margin", None, None])) == (6, 1)
    with pytest.raises(InputError, match="no row with chosen_by=random, wanted one of margin"):
        used(judged, path, rows_of(judged, ["margin"] * 9))


def test_rows_without_a_label_are_not_among_those_left_out(judged, tmp_path):
    rows = rows_of(judged, ["random"] * 6 + ["margin"] * 3)
    for row in rows[6:]:
        row["label"] = None
    assert used(judged, tmp_path / "l.jsonl", rows) == (6, 0)
    path = tmp_path / "l.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    problems = Problems()
    human_labels(judged, path, problems, {})
    assert "not_random" not in problems.counts()


def test_labels_of_citations_that_were_not_judged_are_left_out_and_counted(judged, tmp_path):
    sheet = tmp_path / "labels.jsonl"
    rows = rows_of(judged, [None] * 30)
    later = [{**row, "passage_id": "later"} for row in rows[:2]]
    sheet.write_text("".join(json.dumps(row) + "\n" for row in rows + later), encoding="utf-8")
    problems = Problems()
    _, labels = human_labels(judged, sheet, problems, {})
    assert sum(label is not None for label in labels) == 30
    (problem,) = (row for row in problems if row.kind == "other_citations")
    assert "2 labels of citations that were not judged" in problem.what


@pytest.mark.parametrize(("n", "is_doubted"), [(49, False), (50, True)])
def test_a_label_that_the_judge_gave_fifty_times_and_people_never_is_doubted(
    n, is_doubted, tmp_path
):
    rows = [{"topic_id": f"t{i % 5}", "run_id": "a", "sentence_id": str(i), "passage_id": "p"}
            for i in range(3 * n)]  # fmt: skip
    for name, of_judge in (("judged", LABELS), ("labels", ("none", "full", "full"))):
        lines = [json.dumps({**row, "label": of_judge[i % 3]}) for i, row in enumerate(rows)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    problems = Problems()
    human_labels(tmp_path / "judged.jsonl", tmp_path / "labels.jsonl", problems, {})
    assert problems.counts().get("label_never_given", 0) == is_doubted
