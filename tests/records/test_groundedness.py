"""Rows of groundedness.jsonl: what is written is read, and what is wrong is named."""

import orjson
import pytest

from nuggetjudge.records.groundedness import (
    Statement,
    claim_ids,
    join_context,
    read_statements,
    statement_row,
)
from nuggetjudge.records.kinds import file_kind
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

SENTENCE = Statement(
    run_id="r", topic_id="t", statement_id="0", sentence=0, text="Tides turn.", label="supported"
)
CLAIM = SENTENCE.model_copy(update={"statement_id": "c1", "sentence": None, "label": None})


@pytest.fixture
def write(tmp_path):
    def write(*rows):
        path = tmp_path / "groundedness.jsonl"
        path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
        return path

    return write


def test_what_is_written_is_read(write):
    path = write(statement_row(SENTENCE), statement_row(CLAIM))
    assert [*read_statements(path, Problems())] == [SENTENCE, CLAIM]
    assert file_kind(path) == "statements"


def test_an_unknown_label_is_not_judged_and_listed(write):
    problems = Problems()
    [row] = read_statements(write(statement_row(SENTENCE) | {"label": "maybe"}), problems)
    assert row.label is None
    assert [one.kind for one in problems.rows] == ["label"]


def test_a_statement_twice_is_an_error_that_names_both_lines(write):
    problems = Problems()
    list(read_statements(write(statement_row(SENTENCE), statement_row(SENTENCE)), problems))
    with pytest.raises(InputError, match=r":2: .* is already in line 1"):
        problems.raise_errors()


def test_labels_of_people_are_read_by_statement(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("topic_id,run_id,statement_id,label\nt,r,0,contradicted\n", encoding="utf-8")
    labels = read_labels(path, Problems())
    assert (labels.kind, labels.cells) == ("groundedness", {("t", "r", "0"): "contradicted"})


def test_claims_that_could_not_be_found_are_no_labels(write):
    unknown = SENTENCE.model_copy(update={"statement_id": None, "sentence": None, "label": None})
    labels = read_labels(write(statement_row(SENTENCE), statement_row(unknown)), Problems())
    assert list(labels.cells) == [("t", "r", "0")]


def test_the_same_claim_has_the_same_id_whoever_found_it():
    assert claim_ids(["Tides turn.", "Boats wait."])[1] == claim_ids(["Boats wait."])[0]


def test_blank_lines_stand_only_between_passages():
    assert join_context(["a\n\n b", "", "c"]) == "a\n b\n\nc"
