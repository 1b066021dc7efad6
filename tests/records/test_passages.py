import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import Passage, natural_order, read_passages


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


def test_digits_in_passage_ids_are_compared_as_numbers():
    ids = ["t9:0#0", "t10:0#0", "t:0#0", "t:2#9", "t:2#10", "t:10#1", "t:10#2", "u"]
    shuffled = random.Random(0).sample(ids, len(ids))
    assert sorted(shuffled, key=natural_order) == ids


@given(st.lists(st.text("a0129#:", max_size=5), unique=True), st.randoms())
def test_the_natural_order_is_one_order_whatever_comes_first(ids, rng):
    shuffled = rng.sample(ids, len(ids))
    assert sorted(shuffled, key=natural_order) == sorted(ids, key=natural_order)


def test_the_natural_order_of_plain_numbers_is_theirs():
    numbers = [*map(str, range(25)), "099", "100", "1" + "0" * 5000]  # longer than int() takes
    assert sorted(sorted(numbers), key=natural_order) == numbers


def test_real_passage_files_are_read_whole(shared_data, problems):
    assert len(read_passages(shared_data / "rag24_e2e/passages.jsonl", problems)) == 240
    assert len(read_passages(shared_data / "crux_duc/passages.jsonl", problems)) == 1153
    assert len(problems) == 0
