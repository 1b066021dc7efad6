import json
import re
import time
import tracemalloc

import pytest
from json_lines import write_rows
from sklearn.metrics import cohen_kappa_score

from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

SUPPORT_KEY = ("topic_id", "run_id", "sentence_id", "passage_id")


def test_nugget_labels_are_keyed_by_topic_run_and_nugget(write, problems):
    nuggets = [
        {"id": "n1", "text": "a", "importance": "vital", "assignment": "support"},
        {"id": "n2", "text": "b", "importance": "vital", "assignment": None},
    ]
    row = {"query": "q", "qid": 1, "run_id": "r", "answer_text": "", "nuggets": nuggets}
    labels = read_labels(write(row), problems)
    assert labels.kind == "nuggets"
    assert labels.key_names == ("topic_id", "run_id", "nugget_id")
    assert labels.scale == ("not_support", "partial_support", "support")
    assert labels.cells == {("1", "r", "n1"): "support"}
    assert labels.n_unlabelled == 1
    assert labels.annotations == {}


def test_support_in_three_layouts_gives_the_same_cells(write, problems):
    citations = [{"docid": "s1", "label": 2}, {"docid": "s2", "label": -1}]
    sentences = [{"text": "x", "citations": []}, {"text": "y", "citations": citations}]
    cell = {"run_id": "r", "topic_id": "1"}
    nested = write({**cell, "sentences": sentences}, name="nested.jsonl")
    ours = write(
        {**cell, "sentence": 0, "citation": None, "rank": None, "label": "none"},
        {**cell, "sentence": 1, "citation": "s1", "rank": 0, "label": "full"},
        {**cell, "sentence": 1, "citation": "s2", "rank": 1, "label": None},
        name="ours.jsonl",
    )
    pairs = write(
        {**cell, "sentence_idx": 1, "citation_idx": 0, "docid": "s1", "label": 2},
        {**cell, "sentence_idx": 1, "citation_idx": 1, "docid": "s2", "label": -1},
        name="pairs.jsonl",
    )
    for path in (nested, ours, pairs):
        labels = read_labels(path, problems)
        assert (labels.kind, labels.key_names) == ("support", SUPPORT_KEY)
        assert labels.scale == ("none", "partial", "full")
        assert labels.cells == {("1", "r", "1", "s1"): "full"}
        assert labels.n_unlabelled == 1
    assert len(problems) == 0


def test_labels_that_are_cut_have_no_probabilities_of_the_labels_before(write, problems):
    chances = {"none": 0.2, "partial": 0.5, "full": 0.3}
    row = {"run_id": "r", "topic_id": "1", "sentence": 1, "citation": "s1", "rank": 0}
    path = write({**row, "label": "partial", "probabilities": chances})
    cell = ("1", "r", "1", "s1")
    assert read_labels(path, problems).probabilities == {cell: chances}
    cut = read_labels(path, problems, cut="full")
    assert (cut.cells, cut.probabilities) == ({cell: "negative"}, {})


def test_entailments_and_labels_of_people_give_the_same_cells(write, problems):
    rows = [
        {"topic_id": "1", "run_id": "r", "key_point_id": name, "label": label}
        for name, label in (("k1", "yes"), ("k2", "neutral"), ("k3", None))
    ]
    entailments = [{**row, "evidence": "Ebb.", "is_quoted": True} for row in rows]
    judged = read_labels(write(*entailments, name="entailments.jsonl"), problems)
    people = read_labels(write(*rows), problems)
    assert judged == people
    assert judged.kind == "keypoints"
    assert judged.key_names == ("topic_id", "run_id", "key_point_id")
    assert judged.scale == ("no", "neutral", "yes")
    assert judged.cells == {("1", "r", "k1"): "yes", ("1", "r", "k2"): "neutral"}
    assert judged.n_unlabelled == 1
    assert len(problems) == 0


def test_how_sure_a_judge_of_key_points_was_is_kept(write, problems):
    row = {"topic_id": "1", "run_id": "r", "key_point_id": "k", "label": "yes", "is_quoted": None,
           "score": 0.75, "probabilities": {"yes": 0.5, "neutral": 0.5}}  # fmt: skip
    labels = read_labels(write(row), problems)
    assert labels.scores == {("1", "r", "k"): 0.75}
    assert labels.probabilities == {("1", "r", "k"): {"yes": 0.5, "neutral": 0.5}}


def test_people_who_say_only_yes_or_no_of_key_points_are_on_the_scale_of_the_judge(write, problems):
    rows = [f"1,r,k{i},{label}" for i, label in enumerate(("Yes", "no"))]
    labels = read_labels(write("topic_id,run_id,key_point_id,label", *rows), problems)
    assert (labels.kind, labels.scale) == ("keypoints", ("no", "neutral", "yes"))


def test_qrels_and_relevance_rows_give_the_same_cells(write, problems):
    qrels = write("1 0 a 3", "1 0 b 0", name="q.txt")
    rows = write(
        {"topic_id": 1, "passage_id": "a", "grade": 3}, {"qid": "1", "docid": "b", "grade": 0}
    )
    assert read_labels(qrels, problems) == read_labels(rows, problems)
    assert read_labels(qrels, problems).scale == ("0", "1", "2", "3")


def test_a_passage_cited_twice_by_a_sentence_is_one_cell_unless_the_labels_differ(
    write, problems, kinds
):
    def row(topic, *labels):
        citations = [{"docid": "s1", "label": label} for label in labels]
        sentence = {"text": "x", "citations": citations}
        return {"run_id": "r", "topic_id": topic, "sentences": [sentence]}

    labels = read_labels(write(row("1", 2, 2), row("2", 2, 0)), problems)
    assert len(labels.cells) == 2
    assert kinds() == [(1, "duplicate_cell", "kept"), (2, "duplicate_cell", "error")]
    assert "item 2 r 0 s1 has 'none' here and 'full' before" in str(problems.rows[1])


def test_annotators_are_kept_and_their_majority_is_the_label(write, problems, kinds):
    given = {"a": ["yes", "Yes", "no"], "b": ["yes", "no"], "c": [None]}
    rows = [
        {"topic_id": "1", "question_id": q, "annotator": f"p{n}", "label": label, "rationale": "r"}
        for q, labels in given.items()
        for n, label in enumerate(labels)
    ]
    labels = read_labels(write(*rows), problems)
    assert labels.kind == "other"
    assert labels.scale == ("no", "yes")
    assert labels.cells == {("1", "a"): "yes"}
    assert labels.annotations["1", "a"] == {"p0": "yes", "p1": "yes", "p2": "no"}
    assert labels.n_unlabelled == 2
    assert kinds() == [(4, "no_majority", "kept")]


def test_csv_and_jsonl_label_files_are_the_same(write, problems):
    csv = write(
        "topic_id,run_id,nugget_id,label,rationale",
        '1,r,n1,support,"says so, twice\nin two lines"',
        "1,r,n2,,",
        name="labels.csv",
    )
    rows = [
        {"topic_id": 1, "run_id": "r", "nugget_id": "n1", "label": "support"},
        {"topic_id": 1, "run_id": "r", "nugget_id": "n2", "label": None},
    ]
    assert read_labels(csv, problems) == read_labels(write(*rows), problems)
    assert len(problems) == 0


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("topic_id;passage_id;label;passage_id", "column 'passage_id' is in the header twice"),
        ("topic_id,passage_id,label,passage_id", "column 'passage_id' is in the header twice"),
    ],
)
def test_a_csv_header_that_cannot_be_used_is_named(header, message, write, problems):
    path = write(header, "1;a;2", name="labels.csv")
    with pytest.raises(InputError, match=f":1: .*{re.escape(message)}"):
        read_labels(path, problems)


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path, problems):
    path = tmp_path / "labels.csv"
    path.write_text("topic_id,passage_id,label\n1,a,2\n", encoding="utf-8-sig")
    assert read_labels(path, problems).cells == {("1", "a"): "2"}
    assert len(problems) == 0


def test_ratings_and_label_rows_of_questions_give_the_same_cells(write, problems):
    ratings = write({"id": "7", "docid": "a", "rating": [5, 0]}, name="ratings.jsonl")
    spelled = [
        ("passage_id", "question_id"),
        ("docid", "question_idx"),
        ("report_id", "question_id"),
    ]
    for text_id, question_id in spelled:
        rows = [{"qid": 7, text_id: "a", question_id: c, "label": r} for c, r in enumerate([5, 0])]
        assert read_labels(write(*rows), problems) == read_labels(ratings, problems)
    csv = write("qid,report_id,question_idx,label", "7,a,0,5", "7,a,1,0", name="labels.csv")
    assert read_labels(csv, problems) == read_labels(ratings, problems)
    assert len(problems) == 0


def test_rows_that_only_say_answered_or_not_have_two_labels(write, problems):
    row = {"qid": "7", "report_id": "a", "question_idx": 0}
    rows = [
        {**row, "annotator": name, "label": label} for name, label in [("x", 1), ("y", 0), ("z", 1)]
    ]
    labels = read_labels(write(*rows), problems)
    assert (labels.kind, labels.scale) == ("ratings", ("0", "1"))
    rows[0]["label"] = 2
    assert read_labels(write(*rows), problems).scale == ("0", "1", "2", "3", "4", "5")


def test_rows_with_a_further_id_are_no_ratings(write, problems):
    row = {"topic_id": "1", "run_id": "r", "report_id": "a", "question_id": 0, "label": 1}
    assert read_labels(write(row), problems).kind == "other"


def test_where_and_scale_work_on_ratings_as_on_other_labels(write, problems):
    row = {"id": "7", "docid": "a", "rating": [5], "judge": "x"}
    path = write(row, {**row, "docid": "b", "judge": "y"})
    assert list(read_labels(path, problems, {"judge": ["y"]}).cells) == [("7", "b", "0")]
    with pytest.raises(InputError, match="no row with judge=z, wanted one of x, y"):
        read_labels(path, problems, {"judge": ["z"]})
    rows = write({"qid": "7", "docid": "a", "question_idx": 0, "label": 1})
    assert read_labels(rows, problems, scale=("0", "1")).scale == ("0", "1")


def test_malformed_label_rows_are_errors_with_their_place(write, problems, kinds):
    row = {"topic_id": "1", "passage_id": "p", "label": 1}
    path = write(
        row, {**row, "label": 2}, {"topic_id": "1", "label": 1},
        {"topic_id": "1", "passage_id": "q"}, {**row, "passage_id": "s", "label": [1]},
        *[{**row, "passage_id": "z", "annotator": "a"}] * 2,
    )  # fmt: skip
    assert read_labels(path, problems).cells == {("1", "p"): "1", ("1", "z"): "1"}
    assert kinds() == [
        (2, "duplicate_cell", "error"),
        (3, "missing_field", "error"),
        (4, "missing_field", "error"),
        (5, "bad_field", "error"),
        (7, "duplicate_annotation", "error"),
    ]


def test_csv_rows_of_the_wrong_width_are_errors(write, problems, kinds):
    path = write("topic_id,passage_id,label", "1,a", "1,b,2,9", "1,c,2", name="labels.csv")
    assert list(read_labels(path, problems).cells) == [("1", "c")]
    assert kinds() == [(2, "bad_csv", "error"), (3, "bad_csv", "error")]


def test_labels_of_no_known_scale_are_ordered_by_name_and_that_is_said(write, problems, kinds):
    rows = [{"topic_id": str(n), "label": label} for n, label in enumerate(["Red", "blue"])]
    labels = read_labels(write(*rows), problems)
    assert (labels.kind, labels.scale) == ("other", ("blue", "red"))
    assert kinds() == [(1, "unknown_scale", "kept")]


def test_labels_given_with_and_without_a_label_in_sight_are_not_mixed_unsaid(write, problems):
    """People agree with what they see: together the labels measure neither condition."""
    row = (
        '{"topic_id": "t", "nugget_id": "%s", "run_id": "r", "label": "support", "condition": "%s"}'
    )
    rows = [row % pair for pair in (("a", "from_scratch"), ("b", "post_edit"), ("c", "post_edit"))]
    path = write("\n".join(rows))
    assert len(read_labels(path, problems, {"condition": ["post_edit"]}).cells) == 2
    assert len(problems) == 0
    assert len(read_labels(path, problems).cells) == 3
    (problem,) = problems
    assert problem.kind == "mixed_conditions"
    assert problem.what.startswith("1 from_scratch and 2 post_edit labels are used together")


def test_where_chooses_rows_and_says_when_there_are_none(write, problems):
    row = {"topic_id": "1", "passage_id": "p", "label": 1}
    path = write({**row, "half": 1}, {**row, "passage_id": "q", "half": 2})
    assert list(read_labels(path, problems, {"half": ["2"]}).cells) == [("1", "q")]
    with pytest.raises(InputError, match="no row with half=3, wanted one of 1, 2"):
        read_labels(path, problems, {"half": ["3"]})
    with pytest.raises(InputError, match="qrels have no field 'half'"):
        read_labels(write("1 0 a 3", name="q.txt"), problems, {"half": ["1"]})


def test_a_file_without_labels_is_an_input_error(write, problems):
    with pytest.raises(InputError, match="it holds topics, wanted labels"):
        read_labels(write("1\tquestion", name="t.tsv"), problems)


def test_real_label_files_have_the_published_numbers_of_cells(shared_data, problems):
    nuggets = read_labels(shared_data / "rag24_nuggets/nugget_assignments.jsonl", problems)
    assert len(nuggets.cells) == 7468
    pairs = read_labels(shared_data / "rag24_support/pairs.jsonl", problems)
    assert len(pairs.cells) == 3550
    answers = read_labels(shared_data / "rag24_support/answers.jsonl", problems)
    assert {cell: answers.cells[cell] for cell in pairs.cells} == pairs.cells
    post_edited = read_labels(
        shared_data / "rag24_support/pairs.jsonl", problems, {"condition": ["post_edited"]}
    )
    rows = (shared_data / "rag24_support/pairs.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(post_edited.cells) == sum(
        json.loads(row)["condition"] == "post_edited" for row in rows
    )


def test_two_real_files_joined_cell_by_cell_give_the_published_kappa(shared_data, problems):
    folder = shared_data / "rag25_relevance_labels"
    human, model = (
        read_labels(folder / name, problems).cells
        for name in ("qrels_nist.txt", "qrels_umbrela2.txt")
    )
    assert set(human) == set(model)
    kappa = cohen_kappa_score([human[cell] for cell in human], [model[cell] for cell in human])
    assert kappa == pytest.approx(0.234, abs=5e-4)


OWN = ("no", "partly", "yes")
IDS = {"topic_id": "t", "run_id": "r", "sentence_id": 0}


@pytest.fixture
def read(tmp_path):
    def labels(given, scale):
        path = tmp_path / "labels.jsonl"
        rows = [{**IDS, "passage_id": i, "label": label} for i, label in enumerate(given)]
        write_rows(path, rows)
        problems = Problems()
        return read_labels(path, problems, scale=scale), problems

    return labels


def test_its_order_is_kept_and_its_words_are_not_read_as_support(read):
    labels, problems = read(["yes", "No", "partly", None], OWN)
    assert labels.scale == OWN
    assert list(labels.cells.values()) == ["yes", "no", "partly"]
    assert labels.n_unlabelled == 1
    assert len(problems) == 0


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
                ":3: label 900000000 is more than 100 from 0, wanted whole numbers closer"),
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
    write_rows(path, rows)
    labels = read_labels(path, problems)
    assert (labels.scale, labels.n_unlabelled) == (("0", "1", "2", "3"), 1)
    assert [(row.line, row.kind) for row in problems] == [(2, "grade")]


def test_a_header_of_a_million_columns_is_refused_in_time_that_grows_with_its_length(tmp_path):
    path = tmp_path / "wide.csv"

    def refuse(n):
        path.write_text(",".join(f"c{i}" for i in range(n)) + ",label\n1\n", encoding="utf-8")
        began = time.process_time()
        with pytest.raises(InputError, match=rf"wide\.csv:1: {n + 1:,} columns, wanted 1,000 at"):
            read_labels(path, Problems())
        return time.process_time() - began

    assert refuse(10**6) < 40 * max(refuse(10**5), 0.001)
