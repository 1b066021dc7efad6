"""Labels that are on a scale which is known, such as that of a judge of one's own."""

import json

import pytest

from nuggetjudge.records.labels.labels import read_labels
from nuggetjudge.records.reading.problems import Problems

OWN = ("no", "partly", "yes")
IDS = {"topic_id": "t", "run_id": "r", "sentence_id": 0}


@pytest.fixture
def read(tmp_path):
    def labels(given, scale):
        path = tmp_path / "labels.jsonl"
        rows = [{**IDS, "passage_id": i, "label": label} for i, label in enumerate(given)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        problems = Problems()
        return read_labels(path, problems, scale=scale), problems

    return labels


def test_its_order_is_kept_and_its_words_are_not_read_as_support(read):
    found, problems = read(["yes", "No", "partly", None], OWN)
    assert found.scale == OWN
    assert list(found.cells.values()) == ["yes", "no", "partly"]
    assert found.n_unlabelled == 1
    assert len(problems) == 0


def test_without_it_no_is_one_of_the_spellings_of_support(read):
    found, _ = read(["full", "no"], None)
    assert list(found.cells.values()) == ["full", "none"]


def test_other_spellings_of_support_are_still_known_on_its_own_scale(read):
    found, problems = read([2, "no_support"], ("none", "partial", "full"))
    assert list(found.cells.values()) == ["full", "none"]
    assert len(problems) == 0


def test_a_label_that_is_not_on_it_is_an_error_in_its_line(read):
    _, problems = read(["yes", "maybe"], OWN)
    (problem,) = problems
    assert (problem.line, problem.action) == (2, "error")
    assert "'maybe', wanted one of no, partly, yes" in problem.what


def test_grades_of_citations_that_are_no_support_labels_stay_as_they_are(tmp_path):
    """0 and 1 alone would be none and partial; with a 3 in the file they are grades."""
    path = tmp_path / "grades.jsonl"
    ids = '"topic_id": "t", "run_id": "r", "passage_id": "p"'
    rows = [f'{{{ids}, "sentence_id": {i}, "label": {i}}}' for i in range(4)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = read_labels(path, Problems())
    assert (list(found.cells.values()), found.scale) == (["0", "1", "2", "3"], ("0", "1", "2", "3"))
