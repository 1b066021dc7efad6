import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import (
    ASSIGNMENT_LABELS,
    AssignedNugget,
    Assignment,
    Importance,
    Nugget,
    NuggetBank,
    NuggetSource,
    Problems,
    assignment_row,
    bank_row,
    count_words,
    nugget_ids,
    read_assignments,
    read_nugget_banks,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(texts=st.lists(TEXTS, min_size=1, max_size=5, unique=True), query=TEXTS, data=st.data())
def test_a_bank_is_read_as_it_was_written(texts, query, data, tmp_path_factory):
    nuggets = tuple(
        Nugget(
            id=f"n{i}",
            text=text,
            importance=data.draw(st.sampled_from(Importance)),
            sources=tuple(data.draw(st.sampled_from([(), ("s1", "s2")]))),
        )
        for i, text in enumerate(texts)
    )
    bank = NuggetBank(topic_id="12", query=query, nuggets=nuggets)
    path = tmp_path_factory.mktemp("banks") / "bank.jsonl"
    path.write_text(json.dumps(bank_row(bank)) + "\n", encoding="utf-8")
    problems = Problems()
    assert read_nugget_banks(path, problems) == {"12": bank}
    assert len(problems) == 0


def test_the_layout_of_nuggetizer_and_its_envelope_give_the_same_bank(write, problems):
    nuggets = [{"text": "tides turn turbines", "importance": "vital", "reasoning": "r"}]
    row = {"query": "tidal power", "qid": 12, "nuggets": nuggets}
    envelope = {
        "schema_version": "castorini.cli.v1",
        "command": "create",
        "artifacts": [{"name": "create-result", "kind": "data", "data": row}],
    }
    plain = read_nugget_banks(write(row), problems)
    assert plain == read_nugget_banks(write(json.dumps(envelope, indent=1)), problems)
    (nugget,) = plain["12"].nuggets
    assert (nugget.text, nugget.importance) == ("tides turn turbines", Importance.VITAL)
    assert nugget.id == nugget_ids(["tides turn turbines"])[0]
    assert len(problems) == 0


def test_claims_of_an_auto_judge_bank_are_read_and_its_questions_listed(write, problems, kinds):
    row = {
        "query_id": "12",
        "title_query": "tidal power",
        "format_version": "v3",
        "nugget_bank": {"How?": {"question": "How?"}, "Why?": {"question": "Why?"}},
        "claim_bank": {
            "tides turn turbines": {
                "claim": "tides turn turbines",
                "claim_id": "c1",
                "query_id": "12",
                "importance": "okay",
                "references": ["s1", {"doc_id": "s2"}],
            }
        },
    }
    assert read_nugget_banks(write(row), problems)["12"].nuggets == (
        Nugget(
            id="c1", text="tides turn turbines", importance=Importance.OKAY, sources=("s1", "s2")
        ),
    )
    assert kinds() == [(1, "question_nuggets", "skipped")]


def test_an_importance_that_is_none_of_the_two_is_listed_and_counts_as_neither(
    write, problems, kinds
):
    values = ["failed", "free text", None, 2, "Vital "]
    nuggets = [{"text": f"t{n}", "importance": value} for n, value in enumerate(values)]
    bank = read_nugget_banks(write({"query": "q", "qid": "1", "nuggets": nuggets}), problems)["1"]
    assert [n.importance for n in bank.nuggets] == [None] * 4 + [Importance.VITAL]
    assert kinds() == [(1, "importance", "kept")] * 4


def test_dirty_banks_are_reported(write, problems, kinds):
    vital = {"importance": "vital"}
    path = write(
        {"qid": "1", "nuggets": [{"text": "a", **vital}, {"text": "a", **vital}, {"text": " "}]},
        {"query": "q", "qid": "1", "nuggets": [{"text": "a", **vital}]},
        {"query": "q", "qid": "2", "nuggets": [{"id": "x", "text": t, **vital} for t in "ab"]},
        {"query": "q", "nuggets": []},
        {"query": "q", "qid": "3"},
        {"query": "q", "qid": "4", "nuggets": ["a"]},
    )
    banks = read_nugget_banks(path, problems)
    assert [nugget.id[-2:] for nugget in banks["1"].nuggets][1] == "-2"
    assert kinds() == [
        (1, "no_query", "kept"),
        (1, "empty_nugget", "skipped"),
        (1, "duplicate_nugget", "kept"),
        (2, "duplicate_bank", "error"),
        (3, "duplicate_id", "error"),
        (4, "missing_field", "error"),
        (5, "missing_field", "error"),
        (6, "bad_field", "error"),
        (6, "empty_bank", "kept"),
    ]


@pytest.mark.parametrize(
    "spelled",
    [
        "\uff46\uff49\uff56\uff45 of 25 m2",  # full width
        "\ufb01ve of 25 m\u00b2",  # a ligature and a superscript
        "five\u00a0of\u2003 25  m2\n",
    ],
)
def test_texts_that_differ_in_compatible_characters_or_white_space_have_one_id(spelled):
    assert nugget_ids([spelled]) == nugget_ids(["five of 25 m2"])
    assert nugget_ids([spelled, "five of 25 m2"])[1].endswith("-2")
    assert nugget_ids([spelled]) != nugget_ids(["five of 25 m3"])


def test_sources_with_the_words_that_state_a_nugget_are_read_as_they_were_written(write, problems):
    placed = {"docid": "d1", "start": 3, "end": 9, "query": "tides", "round": 2}
    broken = [
        {"docid": name, "start": start, "end": 3}
        for name, start in (("d2", 9), ("d3", "x"), ("d4", 3))  # the last is of no words
    ]
    old = ["s1", {"doc_id": "s2"}]
    nugget = {"id": "n", "text": "t", "importance": "vital", "sources": [placed, *broken, *old]}
    row = {"qid": "1", "query": "q", "nuggets": [nugget]}
    bank = read_nugget_banks(write(json.dumps(row)), problems)["1"]
    assert bank.nuggets[0].sources == (NuggetSource(**placed), "d2", "d3", "d4", "s1", "s2")
    assert bank_row(bank)["nuggets"][0]["sources"] == [placed, "d2", "d3", "d4", "s1", "s2"]
    assert [problem.kind for problem in problems] == ["bad_sources"] * 3


ROW = {
    "query": "tidal power", "qid": "12", "answer_text": "Tides drive turbines.",
    "response_length": 3, "run_id": "sys2",
    "nuggets": [{"text": "tides turn turbines", "importance": "vital", "assignment": "support"}],
}  # fmt: skip
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
        ROW, ROW, {**ROW, "qid": None}, {**ROW, "run_id": "b", "nuggets": {}},
        {"qid": "1", "text": "q", "candidate_text": "c", "docid": "d", "nuggets": []},
    )  # fmt: skip
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
