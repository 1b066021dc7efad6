import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records.reading.fields import as_id, as_int, read_lines, stem


@given(st.integers(-(10**12), 10**12))
def test_a_whole_number_is_the_same_however_it_is_written(number):
    for written in (number, float(number), str(number), f" {number}.0 "):
        assert as_int(written) == number


@pytest.mark.parametrize(
    "value", [True, 1.5, "1.5", "1_000", "", "three", None, [], float("inf"), float("nan")]
)
def test_what_is_no_whole_number_is_none(value):
    assert as_int(value) is None


def test_ids_are_compared_as_text():
    assert as_id(12) == as_id("12") == as_id(" 12 ") == "12"
    assert [as_id(value) for value in (True, 1.5, "", "  ", None, [], {})] == [None] * 7


def test_where_compares_top_level_fields_as_text(write, problems):
    path = write({"n": 1, "c": "x"}, {"n": 2, "c": "x"}, {"n": 1})
    assert [line.number for line in read_lines(path, problems, {"n": "1"})] == [1, 3]
    assert [line.number for line in read_lines(path, problems, {"n": "1", "c": "x"})] == [1]


def test_an_envelope_gives_its_data_and_reports_what_stands_in_other_files(write, problems, kinds):
    row = {
        "schema_version": "castorini.cli.v1",
        "status": "failed",
        "artifacts": [
            {"name": "create-result", "kind": "data", "data": [{"qid": "1"}, {"qid": "2"}, 3]},
            {"name": "create-result", "kind": "data", "value": {"qid": "4"}},
            {"name": "create-result", "kind": "file", "path": "elsewhere.jsonl"},
        ],
    }
    assert [line.row["qid"] for line in read_lines(write(row), problems)] == ["1", "2", "4"]
    assert kinds() == [
        (1, "envelope_status", "kept"),
        (1, "bad_field", "error"),
        (1, "envelope_file", "skipped"),
    ]


def test_the_name_of_last_resort_has_no_folder_and_no_format(tmp_path):
    assert stem(tmp_path / "team.run-1.5.jsonl.gz") == "team.run-1.5"


def test_a_name_with_control_characters_is_told_on_one_line_without_them(write, problems):
    path = write({"answ\ner\x1b[2J": 1, "é\u202e": 2})
    for line in read_lines(path, problems):
        line.missing("answer")
    [problem] = problems
    assert str(problem).isprintable()
    assert "answ\\ner\\x1b[2J" in problem.what
    assert "é\\u202e" in problem.what
