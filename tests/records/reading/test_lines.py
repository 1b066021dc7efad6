import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import InputError, Problems
from nuggetjudge.records.reading.fields import as_int, read_lines
from nuggetjudge.records.reading.lines import has_lines, json_lines, json_records, text_lines
from nuggetjudge.records.reading.problems import need


def test_a_byte_that_is_not_utf8_is_placed_in_its_line_and_not_in_its_block(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\n" * 49 + b"caf\xe9\n" + b"one\n" * 3)
    with pytest.raises(InputError, match=r"a\.txt:50: not UTF-8"):
        list(text_lines(path))


def test_blank_lines_and_a_byte_order_mark_are_no_content_but_count_as_lines(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\r\n \t\ntwo")
    assert list(text_lines(path)) == [(1, "one"), (4, "two")]


def test_a_line_separator_inside_a_line_does_not_end_it(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a\u2028b\x0cc\nd\n", encoding="utf-8")
    assert [number for number, _ in text_lines(path)] == [1, 2]


def test_gzip_is_known_by_what_the_file_holds_whatever_its_name(tmp_path):
    packed, plain = tmp_path / "topics.tsv", tmp_path / "topics.tsv.gz"
    packed.write_bytes(gzip.compress(b"1\twhy\n"))
    plain.write_bytes(b"1\twhy\n")
    assert list(text_lines(packed)) == list(text_lines(plain)) == [(1, "1\twhy")]
    assert not has_lines(packed)


def test_gzip_is_read_and_a_torn_gzip_file_is_an_input_error(tmp_path):
    whole = tmp_path / "a.jsonl.gz"
    whole.write_bytes(gzip.compress(b"one\ntwo\n"))
    assert [line for _, line in text_lines(whole)] == ["one", "two"]
    torn = tmp_path / "b.jsonl.gz"
    torn.write_bytes(gzip.compress(b"line\n" * 10_000)[:-20])
    with pytest.raises(InputError, match=r"b\.jsonl\.gz"):
        list(text_lines(torn))
    damaged = bytearray(gzip.compress(bytes(range(256)) * 99))
    damaged[40:60] = b"\xff" * 20
    torn.write_bytes(bytes(damaged))
    with pytest.raises(InputError, match=r"b\.jsonl\.gz"):
        list(text_lines(torn))


def test_a_missing_file_and_a_folder_are_input_errors(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            list(text_lines(path))


def test_nan_is_null_and_other_broken_json_is_an_error_at_its_line(write, problems, kinds):
    deep = "[" * 100_000
    path = write(
        '{"a": NaN, "b": "NaN"}', "{torn", '["list"]', '{"a": "\\ud800"}', deep, '{"a": 1}'
    )
    assert list(json_lines(path, problems)) == [(1, {"a": None, "b": "NaN"}), (6, {"a": 1})]
    assert kinds() == [(number, "bad_json", "error") for number in (2, 3, 4, 5)]


@pytest.mark.parametrize("text", ['{\n "a": 1\n}', '[{"a": 1}]', '[\n {"a":\n 1}\n]'])
def test_one_document_over_several_lines_is_read_whole(text, write, problems):
    assert list(json_records(write(text), problems)) == [(1, {"a": 1})]
    assert len(problems) == 0


def test_a_document_that_is_no_list_of_objects_is_an_error(write, problems, kinds):
    assert list(json_records(write('[{"a": 1}, 2]'), problems)) == [(1, {"a": 1})]
    assert list(json_records(write("[1"), problems)) == []
    assert kinds() == [(1, "bad_json", "error"), (1, "bad_json", "error")]


def test_a_broken_line_is_told_once_though_the_file_was_read_twice(tmp_path):
    path, problems = tmp_path / "a.jsonl", Problems()
    path.write_text("{\n", encoding="utf-8")
    for _ in range(2):
        assert list(json_lines(path, problems)) == []
    with pytest.raises(InputError) as error:
        problems.raise_errors()
    assert str(error.value).count(f"{path}:1") == 1


def test_a_document_that_is_no_json_says_which_of_its_lines(tmp_path):
    path = tmp_path / "topics.json"
    path.write_text('[\n{"a": 1,}\n]\n', encoding="utf-8")
    problems = Problems()
    assert list(json_records(path, problems)) == []
    assert "at line 2 column 8)" in problems.rows[0].what


@given(st.integers(-(10**12), 10**12))
def test_a_whole_number_is_the_same_however_it_is_written(number):
    for written in (number, float(number), str(number), f" {number}.0 "):
        assert as_int(written) == number


@pytest.mark.parametrize(
    "value", [True, 1.5, "1.5", "1_000", "", "three", None, [], float("inf"), float("nan")]
)
def test_what_is_no_whole_number_is_none(value):
    assert as_int(value) is None


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


def test_a_name_with_control_characters_is_told_on_one_line_without_them(write, problems):
    path = write({"answ\ner\x1b[2J": 1, "é\u202e": 2})
    for line in read_lines(path, problems):
        line.missing("answer")
    [problem] = problems
    assert str(problem).isprintable()
    assert "answ\\ner\\x1b[2J" in problem.what
    assert "é\\u202e" in problem.what


def test_what_is_not_installed_is_named_with_the_extra_that_brings_it():
    with pytest.raises(InputError) as caught:
        need("no_such_library.part", "dense")
    assert str(caught.value) == (
        "no_such_library is not installed: "
        "pip install '.[dense]' in the folder of nuggetjudge's source"
    )


def test_a_library_that_lacks_one_of_its_own_is_told_by_the_one_that_is_missing(
    tmp_path, monkeypatch
):
    (tmp_path / "half_installed.py").write_text("import its_missing_half\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"its_missing_half is not installed: .*\[lucene\]"):
        need("half_installed", "lucene")
