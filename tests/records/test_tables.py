"""Tables as people have them: nothing has to be saved anew before it can be read."""

import gzip
import json

import openpyxl
import pandas as pd
import polars as pl
import pytest
from messy import ANNOTATORS, COLUMNS, N, make_rows, n_missing, write_messy

from nuggetjudge.records.columns import guess_columns, map_lines
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.tables import is_missing, make_table, read_table

ROWS = [{"Q": "1", "L": "café, yes"}, {"Q": "2", "L": None}]
WANTED = (
    *("topic_id", "run_id", "sentence_id", "passage_id", "label", "annotator", "judge"),
    *("rationale", "question", "sentence", "passage"),
)
TEXT = 'Q,L\n1,"café, yes"\n2,\n'


def write_bytes(tmp_path, data, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def read(path, **how):
    problems = Problems()
    table = read_table(path, problems, **how)
    problems.raise_errors()
    return table


TEXTS = {
    "UTF-8": (TEXT.encode(), ()),
    "a byte order mark": (TEXT.encode("utf-8-sig"), ()),
    "UTF-16": (TEXT.encode("utf-16"), ("utf-16",)),
    "UTF-16 without a mark": (TEXT.encode("utf-16-le"), ("utf-16-le",)),
    "cp1252": (TEXT.encode("cp1252"), ("cp1252",)),
    "lines of Windows": (TEXT.replace("\n", "\r\n").encode(), ()),
    "lines of an old Mac": (TEXT.replace("\n", "\r").encode(), ()),
    "gzip": (gzip.compress(TEXT.encode()), ()),
    "semicolons": ("Q;L\n1;café, yes\n2;\n".encode(), ("semicolons",)),
    "tabs": ("Q\tL\n1\tcafé, yes\n2\t\n".encode(), ("tabs",)),
    "bars": ("Q|L\n1|café, yes\n2|\n".encode(), ("'|'",)),
    "a line for Excel": ("sep=;\nQ;L\n1;café, yes\n2;\n".encode(), ("semicolons",)),
    "a title": (b"Round 2\n\n" + TEXT.encode(), ("header in row 3",)),
    "JSONL": (b'{"Q": "1", "L": "caf\\u00e9, yes"}\n{"Q": "2", "L": null}\n', ()),
    "JSON": (b'[{"Q": "1", "L": "caf\\u00e9, yes"}, {"Q": "2", "L": null}]', ()),
    "JSONL in UTF-16": (
        '{"Q": "1", "L": "café, yes"}\n{"Q": "2", "L": null}\n'.encode("utf-16"),
        ("utf-16",),
    ),
}


@pytest.mark.parametrize("layout", TEXTS)
def test_a_text_table_of_any_kind_is_read_and_what_was_recognised_is_said(layout, tmp_path):
    data, notes = TEXTS[layout]
    table = read(write_bytes(tmp_path, data))
    assert (table.columns, table.notes) == (("Q", "L"), notes)
    assert [dict(line.row) for line in table.rows] == ROWS


def test_row_numbers_are_those_that_an_editor_and_a_spreadsheet_show(tmp_path):
    text = write_bytes(tmp_path, b'Q,L\n\n1,"two\nlines"\n2,yes\n')
    assert [line.number for line in read(text).rows] == [3, 5]
    book = openpyxl.Workbook()
    sheet = book.active
    for at, value in {"B3": "Q", "C3": "L", "B4": 1, "C4": "yes", "B7": 2.5, "C7": True}.items():
        sheet[at] = value
    book.save(tmp_path / "t.xlsx")
    rows = read(tmp_path / "t.xlsx").rows
    assert [(line.number, dict(line.row)) for line in rows] == [
        (4, {"Q": 1, "L": "yes"}),
        (7, {"Q": 2.5, "L": True}),
    ]


def test_the_sheet_with_rows_is_read_and_merged_ids_are_those_of_each_row(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "About"
    for name in ("Labels", "Old"):
        sheet = book.create_sheet(name)
        for row in (["Q", "L"], [name, "yes"], [None, "no"]):
            sheet.append(row)
        sheet.merge_cells("A2:A3")
    path = tmp_path / "t.xlsx"
    book.save(path)
    table = read(path)
    assert [line.row["Q"] for line in table.rows] == ["Labels", "Labels"]
    assert table.notes == ("sheet 'Labels' (Old not read; choose one with --sheet)",)
    assert [line.row["Q"] for line in read(path, sheet="Old").rows] == ["Old", "Old"]
    with pytest.raises(InputError, match="no such sheet; did you mean Labels"):
        read(path, sheet="Lables")


def test_parquet_and_frames_are_read_as_the_file_they_came_from(tmp_path):
    frame = pd.DataFrame({"Q": [1, 2], "L": ["yes", None], "x": [0.5, float("nan")]})
    frame.to_parquet(tmp_path / "t.parquet")
    rows = [{"Q": 1, "L": "yes", "x": 0.5}, {"Q": 2, "L": None, "x": None}]
    assert [dict(line.row) for line in read(tmp_path / "t.parquet").rows] == rows
    for table in (frame, pl.DataFrame(rows), rows):
        made = make_table(table)
        assert made.columns == ("Q", "L", "x")
        assert [(line.number, dict(line.row)) for line in made.rows] == list(enumerate(rows, 1))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "t.csv:1: the file is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not a table in UTF-8, UTF-16 or cp1252"),
        ('{"Q": 1}\n{"Q": 2}\n{'.encode("utf-16-le") + b"\0", "t.csv:3: not a table in UTF-8"),
        (b"PK\x03\x04 no zip", "not a workbook that can be read"),
        (b"PAR1 no parquet", "not a Parquet file that can be read"),
        (b"Q,L,Q\n1,2,3\n", "t.csv:1: column 'Q' is in the header twice"),
        (b"Q,L\n1,2,3\n", "t.csv:2: cells in the row: 3, in the header: 2"),
        (b"Q,L\n1\n", "t.csv:2: cells in the row: 1, in the header: 2"),
        (b'Q,L\n1,"open\n2,3\n', "t.csv:3: not CSV"),
    ],
)
def test_what_is_no_table_is_said_with_its_row(data, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(write_bytes(tmp_path, data))


def test_a_missing_value_has_many_spellings_and_a_label_is_none_of_them():
    assert all(map(is_missing, ("", "N/A", " nan ", "None", None, float("nan"), "?", "-", "–")))
    assert not any(map(is_missing, ("no", 0, False, "unsupported", "none of it")))
    assert is_missing("skip", {"skip"})


def test_the_columns_of_a_messy_file_are_recognised_with_every_annotator(tmp_path):
    table = read(write_messy(tmp_path / "messy.csv"))
    assert table.notes == ("cp1252", "semicolons")
    columns = guess_columns(table, WANTED)
    assert {name: columns[name] for name in COLUMNS} == COLUMNS
    assert columns.columns["label"] == tuple(f"Rater {name}" for name in ANNOTATORS)
    assert (columns["judge"], columns["rationale"]) == ("LLM verdict", "Comments")
    lines = list(map_lines(table.rows, columns))
    assert len(lines) == N * len(ANNOTATORS)
    assert sum(is_missing(line.row["label"]) for line in lines) == n_missing(make_rows())
    assert lines[4].number == 3
    again = guess_columns(table, WANTED, columns.fields)
    assert (again.columns, again.options) == (columns.columns, "")


HEADERS = {
    "id,verdict,note": (
        {"label": "verdict", "rationale": "note"},
        ["1,yes,a b", "2,no,", "3,yes,"],
    ),
    "qid,run_id,Ann,Bo,lang": (
        {"topic_id": "qid", "run_id": "run_id", "label": "Ann,Bo"},
        ["1,a,yes,no,en", "2,b,no,no,de", "3,b,no,yes,de"],
    ),
    "Topic ID,Run,Annotator,Label": (
        {"topic_id": "Topic ID", "run_id": "Run", "annotator": "Annotator", "label": "Label"},
        ["1,a,x,yes", "1,a,y,no"],
    ),
    "queryId,system,human1,human2,majority": (
        {"topic_id": "queryId", "run_id": "system", "label": "human1,human2"},
        ["1,a,1,0,1", "2,b,1,1,1", "3,b,0,1,0"],
    ),
    "query,output,human_label,gpt-4o": (
        {"question": "query", "label": "human_label", "judge": "gpt-4o"},
        ["why is it so,as it is,yes,no", "how is it so,it is,no,no", "what is so big,it,no,no"],
    ),
    "topic,system,score": (
        {"topic_id": "topic", "run_id": "system", "label": "score"},
        ["1,a,0.5", "2,b,0.7"],
    ),
    "name,colour": ({}, ["x,y", "z,w", "v,u", "t,s"]),
}


@pytest.mark.parametrize("header", HEADERS)
def test_columns_are_guessed_by_names_of_other_tools_and_by_values(header, tmp_path):
    fields, rows = HEADERS[header]
    table = read(write_bytes(tmp_path, "\n".join([header, *rows]).encode()))
    assert guess_columns(table, WANTED).fields == fields


def test_a_named_column_goes_before_a_guess_and_one_that_is_not_there_is_said(tmp_path):
    rows = [{"Topic": n, "Verdict": "yes", "gold": "no"} for n in range(5)]
    path = write_bytes(tmp_path, json.dumps(rows).encode(), "t.json")
    table = read(path)
    columns = guess_columns(table, WANTED, {"label": "GOLD", "topic": "Topic"})
    assert columns.fields == {"topic_id": "Topic", "label": "gold"}
    with pytest.raises(InputError, match="no column 'Vredict'; did you mean Verdict"):
        guess_columns(table, WANTED, {"label": "Vredict"})
    with pytest.raises(InputError, match="no field 'lable'; did you mean label"):
        guess_columns(table, WANTED, {"lable": "Verdict"})
