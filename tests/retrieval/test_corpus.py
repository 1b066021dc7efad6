import gzip
import json

import pytest

from nuggetjudge.records import Passage, Problems, read_passages
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval.corpus import passage_text, stream_passages


@pytest.fixture
def write(tmp_path):
    def write_file(name, *rows):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def problems():
    return Problems()


def test_a_passage_is_found_by_its_title_too():
    assert passage_text(Passage(id="a", text="Low tide.", title="Harbour")) == "Harbour\nLow tide."
    assert passage_text(Passage(id="a", text="Low tide.")) == "Low tide."


def test_files_are_read_one_after_the_other(write, problems, tmp_path):
    one = write("one.jsonl", {"id": "b", "text": "B", "title": "T"}, {"docid": 7, "contents": "S"})
    two = tmp_path / "two.jsonl.gz"
    with gzip.open(two, "wt") as stream:
        stream.write('{"_id": "a", "segment": "A"}\n')
    assert list(stream_passages([one, two], problems)) == [
        Passage(id="b", text="B", title="T"),
        Passage(id="7", text="S"),
        Passage(id="a", text="A"),
    ]
    assert len(problems) == 0


def test_the_passages_and_problems_are_those_of_read_passages(write, problems):
    rows = [{"id": "a", "text": "A"}, {"id": "b", "text": " "}, {"id": "c", "text": "C"}]
    path = write("p.jsonl", *rows, rows[0])
    whole = Problems()
    assert {p.id: p for p in stream_passages([path], problems)} == read_passages(path, whole)
    reported = [(row.line, row.kind, row.action) for row in problems]
    assert reported == [(2, "empty_passage", "skipped"), (4, "duplicate_passage", "kept")]
    assert reported == [(row.line, row.kind, row.action) for row in whole]


def test_a_passage_that_another_file_repeats_is_left_out_and_mentioned(write, problems):
    paths = [write(name, {"id": "a", "text": "A"}) for name in ("one.jsonl", "two.jsonl")]
    assert [passage.id for passage in stream_passages(paths, problems)] == ["a"]
    assert [str(row) for row in problems] == [
        f"{paths[1]}:1: passage 'a' occurs again with the same text; left out"
    ]


def test_one_id_with_two_texts_ends_the_reading_with_the_line(write, problems):
    path = write("p.jsonl", {"id": "a", "text": "A"}, {"id": "a", "text": "B"})
    with pytest.raises(InputError) as caught:
        list(stream_passages([path], problems))
    what = "passage 'a' has another text than before, wanted one text per id"
    assert str(caught.value) == f"{path}:2: {what}"


@pytest.mark.parametrize("name", ["a b", "a\tb", "a\u00a0b", "a\u0000b", "a\u0085b"])
def test_an_id_that_no_run_can_hold_is_an_error_with_its_line(write, problems, name):
    path = write("p.jsonl", {"id": "a", "text": "A"}, {"id": name, "text": "B"})
    with pytest.raises(InputError) as caught:
        list(stream_passages([path], problems))
    what = "has an id that no TREC run can hold, wanted no white space and no control characters"
    assert str(caught.value) == f"{path}:2: passage {name!r} {what}"


def test_a_file_with_errors_is_told_before_the_next_is_read(write, problems, tmp_path):
    path = write("p.jsonl", {"id": "a", "text": "A"}, {"text": "B"})
    with pytest.raises(InputError, match=r"p\.jsonl:2: field 'docid' or"):
        list(stream_passages([path, tmp_path / "missing.jsonl"], problems))


def test_no_passage_at_all_is_an_error(write, problems):
    path = write("p.jsonl", {"id": "a", "text": ""})
    with pytest.raises(InputError, match=r"p\.jsonl: no passage with text"):
        list(stream_passages([path], problems))
    with pytest.raises(InputError, match="no files: no passage"):
        list(stream_passages([], problems))
