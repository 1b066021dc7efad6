import gzip
import json
import os

import pytest

from nuggetjudge.records.reading import fields
from nuggetjudge.records.reading.fields import LineIndex, read_lines
from nuggetjudge.records.reading.problems import InputError, Problems

ROWS = [{"k": "a", "n": 0}, {"k": "b", "n": 1}, {"k": "a", "n": 2}, {"k": "b", "n": "Wellenhöhe"}]


def index_of(*paths):
    index = LineIndex()
    for path in paths:
        for line in read_lines(path, Problems()):
            index.note(line, line.row["k"])
    return index


def lines_of(index, key):
    return [(line.path.name, line.number, line.row["n"]) for line in index.lines(key)]


def jsonl(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.jsonl"
    path.write_bytes(jsonl(ROWS))
    return path


def test_lines_come_key_by_key_in_the_order_of_files_and_lines(plain, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_bytes(jsonl(ROWS[:1]))
    index = index_of(plain, other)
    assert lines_of(index, "b") == [("plain.jsonl", 2, 1), ("plain.jsonl", 4, "Wellenhöhe")]
    assert lines_of(index, "a") == [
        ("plain.jsonl", 1, 0),
        ("plain.jsonl", 3, 2),
        ("other.jsonl", 1, 0),
    ]
    assert lines_of(index, "c") == []


def test_blank_lines_byte_order_mark_nan_and_a_missing_last_line_end_do_not_shift_places(tmp_path):
    path = tmp_path / "odd.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"k": "a", "n": 0}\r\n\n \t\n'
        b'{"k": "b", "n": NaN}\n{"k": "a", "n": "\xc3\xb6"}'
    )
    index = index_of(path)
    assert lines_of(index, "a") == [("odd.jsonl", 1, 0), ("odd.jsonl", 5, "ö")]
    assert lines_of(index, "b") == [("odd.jsonl", 4, None)]


def test_compressed_files_documents_and_envelopes_are_read_in_the_same_order(plain, tmp_path):
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(jsonl(ROWS)))
    array = tmp_path / "array.json"
    array.write_text(json.dumps(ROWS), encoding="utf-8")
    envelope = tmp_path / "envelope.jsonl"
    wrapped = {"schema_version": "castorini.cli.v1", "artifacts": [{"data": ROWS}]}
    envelope.write_bytes(jsonl([wrapped, ROWS[0]]))
    index = index_of(packed, array, plain, envelope)
    assert lines_of(index, "a") == [
        ("packed.jsonl.gz", 1, 0), ("packed.jsonl.gz", 3, 2), ("array.json", 1, 0),
        ("array.json", 1, 2), ("plain.jsonl", 1, 0), ("plain.jsonl", 3, 2),
        ("envelope.jsonl", 1, 0), ("envelope.jsonl", 1, 2), ("envelope.jsonl", 2, 0),
    ]  # fmt: skip


def test_more_files_than_may_be_open_are_read_all_the_same_and_closed_at_the_end(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(fields, "MAX_OPEN", 2)
    paths = [tmp_path / f"{name}.jsonl" for name in "uvwx"]
    for path in paths:
        path.write_bytes(jsonl(ROWS))
    before = len(os.listdir("/proc/self/fd"))
    index = index_of(*paths)
    for key, numbers in {"a": [0, 2], "b": [1, "Wellenhöhe"]}.items():
        assert [line.row["n"] for line in index.lines(key)] == numbers * 4
    assert len(os.listdir("/proc/self/fd")) == before + 3  # two of them, and the copies' file
    del index
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("change", ["shorter", "gone"])
def test_a_file_that_changed_is_an_input_error_that_names_the_line(change, plain):
    index = index_of(plain)
    plain.write_bytes(jsonl(ROWS[:2])) if change == "shorter" else plain.unlink()
    with pytest.raises(InputError, match=r"plain\.jsonl: changed .* line [13] is gone"):
        list(index.lines("a"))


def test_what_cannot_be_copied_is_an_error_at_its_line(tmp_path):
    deep = tmp_path / "deep.jsonl.gz"
    nested = "[" * 300 + "]" * 300
    deep.write_bytes(gzip.compress(f'{{"k": "a", "n": {nested}}}\n'.encode()))
    index, problems = LineIndex(), Problems()
    for line in read_lines(deep, problems):
        index.note(line, "a")
    (problem,) = problems
    assert (problem.line, problem.kind, problem.action) == (1, "bad_json", "error")
    assert lines_of(index, "a") == []
