import pytest

from nuggetjudge.records import Passage, read_passages


@pytest.mark.parametrize("id_field", ["docid", "id", "_id", "docno"])
@pytest.mark.parametrize("text_field", ["text", "contents", "segment"])
def test_every_spelling_of_the_fields_is_read(id_field, text_field, write, problems):
    path = write({id_field: 7, text_field: "Tide.", "title": "T", "url": "u"})
    assert read_passages(path, problems) == {"7": Passage(id="7", text="Tide.", title="T")}


def test_only_wanted_passages_are_loaded_and_checked(write, problems):
    path = write({"id": "a", "text": "A"}, {"id": "b", "text": ""}, {"id": "c", "text": "C"})
    assert list(read_passages(path, problems, wanted={"c"})) == ["c"]
    assert len(problems) == 0


def test_one_id_with_two_texts_is_an_error_and_with_one_text_is_mentioned(write, problems, kinds):
    rows = [{"id": "a", "text": text} for text in ("A", "A", "B")]
    assert read_passages(write(*rows), problems)["a"].text == "A"
    assert kinds() == [(2, "duplicate_passage", "kept"), (3, "duplicate_passage", "error")]


def test_a_passage_without_text_is_skipped_and_listed(write, problems, kinds):
    path = write({"id": "a", "text": " "}, '{"id": "b", "text": NaN}', {"id": "c"}, {"text": "x"})
    assert read_passages(path, problems) == {}
    assert kinds() == [
        (1, "empty_passage", "skipped"),
        (2, "empty_passage", "skipped"),
        (3, "missing_field", "error"),
        (4, "missing_field", "error"),
    ]


def test_real_passage_files_are_read_whole(shared_data, problems):
    assert len(read_passages(shared_data / "rag24_e2e/passages.jsonl", problems)) == 240
    assert len(read_passages(shared_data / "crux_duc/passages.jsonl", problems)) == 1153
    assert len(problems) == 0
