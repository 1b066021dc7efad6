"""Labels that are on a scale which is known, such as that of a judge of one's own."""

import json
import re
import time
import tracemalloc

import pytest

from nuggetjudge.programs.analysis.agree_labels import joint_scale
from nuggetjudge.records.labels.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

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
    labels, problems = read(["yes", "No", "partly", None], OWN)
    assert labels.scale == OWN
    assert list(labels.cells.values()) == ["yes", "no", "partly"]
    assert labels.n_unlabelled == 1
    assert len(problems) == 0


def test_without_it_no_is_one_of_the_spellings_of_support(read):
    labels, _ = read(["full", "no"], None)
    assert list(labels.cells.values()) == ["full", "none"]


def test_other_spellings_of_support_are_still_known_on_its_own_scale(read):
    labels, problems = read([2, "no_support"], ("none", "partial", "full"))
    assert list(labels.cells.values()) == ["full", "none"]
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
    labels = read_labels(path, Problems())
    assert list(labels.cells.values()) == ["0", "1", "2", "3"]
    assert labels.scale == ("0", "1", "2", "3")


def read_whole(path):
    problems = Problems()
    labels = read_labels(path, problems)
    problems.raise_errors()
    return labels


TYPOS = {  # the file's name and its lines; where it is wrong, and what
    "a label": ("l.csv", ["topic_id,thing,label", "1,a,0", "1,b,900000000", "1,c,1"],
                ":3: label 900000000 is more than 100 from 0, wanted whole numbers nearer"),
    "a low one": ("l.csv", ["topic_id,thing,label", "1,a,-999999999", "1,b,3", "1,c,1"],
                  ":2: label -999999999 is more than 100 from 3"),
    "a grade": ("l.csv", ["topic_id,passage_id,label", "1,a,3", "1,b,900000000"],
                ":3: label 900000000 is more than 100 from 0"),
    "of an annotator": ("l.csv", ["topic_id,thing,label,annotator", "1,a,0,x", "1,a,900000000,y"],
                        ":3: label 900000000"),
    "of qrels": ("q.txt", ["1 0 a 1", "1 0 b 900000000"],
                 ":2: grade '900000000', wanted a whole number from -100 to 100"),
    "texts for labels": ("l.csv", ["topic_id,label", *(f"{n},because {n}" for n in range(200))],
                         ":103: label 'because 101' comes after 101 others"),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPOS)
def test_a_typo_makes_no_scale_of_a_billion_labels(name, tmp_path):
    file, lines, what = TYPOS[name]
    path = tmp_path / file
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=re.escape(f"{path}{what}")):
            read_whole(path)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


def test_a_grade_in_results_beyond_any_scale_is_not_judged_and_listed(tmp_path):
    path, problems = tmp_path / "relevance.jsonl", Problems()
    rows = [{"topic_id": "1", "passage_id": n, "grade": n} for n in ("2", "900000000")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    labels = read_labels(path, problems)
    assert (labels.scale, labels.n_unlabelled) == (("0", "1", "2", "3"), 1)
    assert [(row.line, row.kind) for row in problems] == [(2, "grade")]


def test_scales_of_two_files_that_are_far_apart_stay_two():
    scales = ("0", "1"), ("900000000", "900000001")
    assert joint_scale(*scales) == (*scales[0], *scales[1])


def test_a_percentage_is_a_scale(tmp_path):
    rows = "".join(f"{n},{label}\n" for n, label in enumerate((0, 50, 100)))
    (tmp_path / "l.csv").write_text(f"topic_id,label\n{rows}", encoding="utf-8")
    assert len(read_whole(tmp_path / "l.csv").scale) == 101


def test_a_header_of_a_million_columns_is_refused_in_a_second(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{n}" for n in range(10**6)) + ",label\n1\n", encoding="utf-8")
    began = time.process_time()
    with pytest.raises(InputError, match=r"wide\.csv:1: 1,000,001 columns, wanted 1,000 at most"):
        read_labels(path, Problems())
    assert time.process_time() - began < 1
