"""Items of JSONL and CSV files: their ids, their texts, and what is wrong with a row."""

import gzip
import json

import pytest

from nuggetjudge.records.labels import item_lines, read_items
from nuggetjudge.records.reading.problems import InputError, Problems

ROWS = [
    {"topic_id": "t1", "docid": 7, "claim": "it rains", "source": ["one", "two"], "split": "a"},
    {"topic_id": "t2", "docid": " p8 ", "claim": 3, "source": "three", "split": "b"},
]


def write(path, rows=ROWS):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def items_of(path, inputs=("claim", "source"), problems=None, partly=False, **options):
    problems = problems if problems is not None else Problems()
    return list(read_items(item_lines(path, problems, **options), inputs, partly=partly))


def test_ids_texts_and_lines_are_read_and_a_list_of_texts_is_joined(tmp_path):
    first, second = items_of(write(tmp_path / "items.jsonl"))
    assert (first.line, first.ids) == (1, {"topic_id": "t1", "passage_id": "7"})
    assert first.inputs == {"claim": "it rains", "source": "one\n\ntwo"}
    assert (second.line, second.cell) == (2, ("t2", "p8"))
    assert second.inputs == {"claim": "3", "source": "three"}


def test_a_field_may_have_another_name(tmp_path):
    path = write(tmp_path / "items.jsonl")
    items = items_of(path, ("sentence",), fields={"sentence": "claim", "run_id": "split"})
    assert [item.inputs for item in items] == [{"sentence": "it rains"}, {"sentence": "3"}]
    assert [item.ids["run_id"] for item in items] == ["a", "b"]


def test_where_goes_by_the_names_in_the_file(tmp_path):
    path = write(tmp_path / "items.jsonl")
    (item,) = items_of(path, where={"split": ["b"]}, fields={"sentence": "claim"})
    assert item.ids["topic_id"] == "t2"
    with pytest.raises(InputError, match="no row with split=c, wanted one of a, b"):
        items_of(path, where={"split": ["b", "c"]})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["items.csv", "items.csv.gz"])
def test_csv_as_spreadsheets_write_it(tmp_path, end, mark, name):
    lines = [
        "topic_id,docid,claim,source",
        't1,7,"it ""rains"", they say","one',
        'two"',
        "t2,p8,,x",
    ]
    text = mark + (end.join(lines) + end).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    problems = Problems()
    (item,) = items_of(tmp_path / name, problems=problems)
    assert item.inputs == {"claim": 'it "rains", they say', "source": f"one{end}two"}
    assert [str(problem) for problem in problems] == [
        f"{tmp_path / name}:4: field 'claim' is missing; "
        "the object has topic_id, docid, claim, source"
    ]


def test_an_input_may_be_missing_where_it_may_come_from_elsewhere(tmp_path):
    path = write(tmp_path / "items.jsonl", [{"topic_id": "t1", "claim": None, "source": "x"}])
    problems = Problems()
    (item,) = items_of(path, problems=problems, partly=True)
    assert item.inputs == {"source": "x"}
    assert not len(problems)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"claim": "a", "source": "b"}, "field 'topic_id' or 'run_id' or"),
        ({"topic_id": "t1", "claim": "a"}, "field 'source' is missing"),
        ({"topic_id": "t1", "claim": {}, "source": "b"}, "field 'claim' is {}, wanted text"),
        ({"topic_id": "t1", "claim": True, "source": "b"}, "field 'claim' is True, wanted text"),
        ({"topic_id": "t1", "claim": ["a", 1], "source": "b"}, "'claim' is ['a', 1], wanted text"),
        ({"topic_id": [], "claim": "a", "source": "b"}, "field 'topic_id' is [], wanted an id"),
    ],
)
def test_a_row_that_is_no_item_is_an_error_with_its_line(tmp_path, row, what):
    path = write(tmp_path / "items.jsonl", [ROWS[0], row])
    problems = Problems()
    assert len(items_of(path, problems=problems)) == 1
    problem = str(next(iter(problems)))
    assert problem.startswith(f"{path}:2: ")
    assert what in problem
    with pytest.raises(InputError):
        problems.raise_errors()
