import json
from collections import Counter
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import (
    ASSIGNMENT_LABELS,
    AssignedNugget,
    Assignment,
    Importance,
    Nugget,
    Problems,
    assignment_row,
    count_words,
    read_assignments,
)

ROW = {
    "query": "tidal power",
    "qid": "12",
    "answer_text": "Tides drive turbines.",
    "response_length": 3,
    "run_id": "sys2",
    "nuggets": [{"text": "tides turn turbines", "importance": "vital", "assignment": "support"}],
}
LABELS = st.sampled_from([*ASSIGNMENT_LABELS, None])


@given(labels=st.lists(LABELS, max_size=5), text=st.text(st.characters(exclude_categories=["Cs"])))
def test_an_assignment_is_read_as_it_was_written(labels, text, tmp_path_factory):
    nuggets = [
        Nugget(id=f"n{n}", text=f"fact {n}", importance=Importance.OKAY) for n in range(len(labels))
    ]
    assignment = Assignment(
        run_id="r",
        topic_id="t",
        query="q",
        answer_text=text,
        response_length=count_words(text),
        nuggets=tuple(
            AssignedNugget(nugget=nugget, label=label)
            for nugget, label in zip(nuggets, labels, strict=True)
        ),
    )
    path = tmp_path_factory.mktemp("assigned") / "a.jsonl"
    path.write_text(json.dumps(assignment_row(assignment)) + "\n", encoding="utf-8")
    problems = Problems()
    assert list(read_assignments(path, problems)) == [assignment]
    assert len(problems) == 0


def test_a_failed_label_is_not_judged_and_never_not_support(write, problems, kinds):
    labels = ["failed", "the answer supports it", 1, "Not_Support", None]
    nuggets = [
        {"text": f"t{n}", "importance": "okay", "assignment": label}
        for n, label in enumerate(labels)
    ]
    nuggets.append({"text": "t9", "importance": "okay"})
    (assignment,) = read_assignments(write({**ROW, "nuggets": nuggets}), problems)
    assert [nugget.label for nugget in assignment.nuggets] == [
        None, None, None, "not_support", None, None,
    ]  # fmt: skip
    assert kinds() == [(1, "label", "kept")] * 4  # null is how we write what is not judged
    assert "nuggets[0].assignment is 'failed', wanted support, partial_support" in str(
        problems.rows[0]
    )


def test_a_wrong_length_is_counted_again_and_a_missing_text_leaves_the_declared_one(
    write, problems, kinds
):
    without_text = {key: ROW[key] for key in ROW if key != "answer_text"}
    path = write(
        {**ROW, "response_length": 9},
        {**without_text, "run_id": "b", "response_length": 7},
        {**without_text, "run_id": "c", "response_length": None},
    )
    assert [one.response_length for one in read_assignments(path, problems)] == [3, 7, None]
    assert kinds() == [(1, "response_length", "kept")]


def test_malformed_records_are_errors(write, problems, kinds):
    path = write(
        ROW,
        ROW,
        {**ROW, "qid": None},
        {**ROW, "run_id": "b", "nuggets": {}},
        {"qid": "1", "text": "q", "candidate_text": "c", "docid": "d", "nuggets": []},
    )
    assert len(list(read_assignments(path, problems))) == 1
    assert kinds() == [
        (2, "duplicate_assignment", "error"),
        (3, "missing_field", "error"),
        (4, "bad_field", "error"),
        (5, "retrieval_assignment", "error"),
    ]


def test_the_nist_file_has_the_published_labels_and_vital_strict_scores(shared_data, problems):
    folder = shared_data / "rag24_nuggets"
    assignments = {
        (a.topic_id, a.run_id): a
        for a in read_assignments(folder / "nugget_assignments.jsonl", problems)
    }
    labels = Counter(n.label for a in assignments.values() for n in a.nuggets)
    assert (len(assignments), labels.total()) == (530, 7468)
    assert None not in labels
    for line in (folder / "expected_cell_scores.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        assignment = assignments[row["qid"], row["run_id"]]
        vital = [n.label for n in assignment.nuggets if n.nugget.importance == "vital"]
        assert vital.count("support") / len(vital) == pytest.approx(row["V_strict"], abs=1e-6)
        assert assignment.response_length == row["answer_words"]
    assert len(problems) == 0


def test_model_made_labels_give_the_published_all_scores_where_unjudged_counts_as_none(
    shared_data, problems
):
    # The published file counts a label outside the set as not_support; here it is None.
    name = "baseline_rag24.test_gpt-4o_top20.jsonl"
    folder = shared_data / "rag24_auto_nuggets"
    published = {
        row["qid"]: row
        for row in map(
            json.loads, (folder / "metrics" / name).read_text(encoding="utf-8").splitlines()
        )
    }
    gain = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0, None: 0.0}
    n_unjudged = 0
    for assignment in read_assignments(folder / "assignments" / name, problems):
        labels = [nugget.label for nugget in assignment.nuggets]
        n_unjudged += labels.count(None)
        row = published.pop(assignment.topic_id)
        mean = fsum(gain[label] for label in labels) / len(labels)
        assert mean == pytest.approx(row["all_score"], abs=1e-9)
        assert labels.count("support") / len(labels) == pytest.approx(row["strict_all_score"])
    assert published == {}
    assert problems.counts()["label"] == n_unjudged > 0
