"""An export finds what was labelled again, and goes without texts rather than without labels."""

import csv
import json

import pytest
from given_labels import cell, keep, label

from nuggetjudge.calibration.examples import item_lines
from nuggetjudge.plugins.annotate.out.exporting import export
from nuggetjudge.plugins.annotate.out.importing import import_labels
from nuggetjudge.plugins.annotate.store.events import Clear, Label, Span
from nuggetjudge.plugins.annotate.store.journal import Journal, read_state
from nuggetjudge.plugins.annotate.store.sources import SOURCES, keep_source, sources
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.plugins.collections.verification import read_verification
from nuggetjudge.records.judgements import text_hash
from nuggetjudge.records.labels import read_items
from nuggetjudge.records.reading.problems import InputError, Problems

NAMES = ("topic_id", "run_id", "sentence_id", "passage_id")
# As texts of an item: markup, a formula, control and bidi characters, NUL, quotes, half a pair.
HOSTILE = [
    "<script>alert(1)</script>",
    '=HYPERLINK("http://x")',
    'a "quoted", cell\r\nof two lines',
    "null \x00 bell \x07 escape \x1b[31m",
    "rtl \u202e and line \u2028 end",
    "__proto__",
    "'already quoted",
    "x" * 31_000,
]


def judged_file(path, texts):
    rows = [
        dict(zip(NAMES, cell(n), strict=True))
        | {"question": "q", "sentence": text, "passage": text, "label": "full"}
        for n, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def sourced_task(labels, results, kind="support"):
    labels.mkdir(exist_ok=True)
    task = read_task([results], kind, Problems())
    keep_source(labels, kind, task.fingerprint, task.results)
    return task


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_hostile_texts_are_read_back_as_they_were(suffix, labels, tmp_path):
    sourced_task(labels, judged_file(tmp_path / "judged.jsonl", HOSTILE))
    keep(labels, "ann", *(label("none", cell(n), rationale=HOSTILE[n][:90]) for n in range(7)),
         label("full", cell(7)))  # fmt: skip
    out = tmp_path / f"human.{suffix}"
    problems = Problems()
    export(labels, out, problems)
    assert not [row for row in problems if row.kind != "spreadsheet_id"]
    read = list(read_items(item_lines(out, Problems()), ("sentence", "passage")))
    for item, text in zip(read, HOSTILE, strict=True):
        assert item.inputs == {"sentence": text, "passage": text}


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_places_of_words_are_exact_in_texts_that_would_be_formulas(suffix, labels, tmp_path):
    """A guard against spreadsheets that moved each place by one would mark other words."""
    whole, words = "=SUM of \U0001f30d all", "of \U0001f30d all"
    start = whole.index(words)
    span = Span(of="sentence", start=start, end=start + len(words), sha256=text_hash(whole))
    sourced_task(labels, judged_file(tmp_path / "judged.jsonl", [whole, "'=quoted", "'tis"]))
    keep(labels, "ann", label("none", cell(0), spans=(span,)), label("full", cell(1)),
         label("full", cell(2)))  # fmt: skip
    out = tmp_path / f"human.{suffix}"
    export(labels, out, Problems())
    if suffix == "csv":
        with out.open(newline="", encoding="utf-8-sig") as stream:
            cells = [row["sentence"] for row in csv.DictReader(stream)]
        assert cells == [f"'{whole}", "''=quoted", "'tis"]  # no formula for a spreadsheet
    first, *others = item_lines(out, Problems())
    assert [line.row["sentence"] for line in others] == ["'=quoted", "'tis"]
    spans = first.row["spans"]
    (marked,) = json.loads(spans) if isinstance(spans, str) else spans
    assert first.row["sentence"][marked["start"] : marked["end"]] == words
    assert marked["sha256"] == text_hash(first.row["sentence"])
    import_labels([out], tmp_path / "theirs", Problems())
    (again, *_) = read_state(tmp_path / "theirs" / "imported" / "ann.events.jsonl").labels()
    assert again.spans == (span,)


def test_results_that_changed_or_went_are_said_and_the_labels_stand_alone(labels, tmp_path):
    results = judged_file(tmp_path / "judged.jsonl", ["a", "b"])
    sourced_task(labels, results)
    keep(labels, "ann", label("none", cell(0)))
    for change in (lambda: judged_file(results, ["a", "c"]), results.unlink):
        change()
        problems = Problems()
        out = tmp_path / "human.jsonl"
        assert export(labels, out, problems).n_rows == 1
        assert [row.kind for row in problems] == ["no_texts"]
        assert "sentence" not in json.loads(out.read_text("utf-8"))


def test_results_that_are_named_are_used_wherever_they_were(labels, tmp_path):
    keep(labels, "ann", label("none", cell(0)), label("none", cell(9)))
    results = judged_file(tmp_path / "judged.jsonl", ["a", "b"])
    out, problems = tmp_path / "human.jsonl", Problems()
    export(labels, out, problems, results=[results])
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["sentence"] for row in rows] == ["a", ""]
    assert [row.kind for row in problems] == ["other_items"]
    sourced_task(labels, judged_file(tmp_path / "others.jsonl", ["x"]))
    problems = Problems()
    export(labels, out, problems, results=[results])
    assert "other_results" in problems.counts()
    with pytest.raises(InputError):
        export(labels, out, Problems(), results=[tmp_path / "none.jsonl"])


def test_what_is_noted_is_of_each_kind_and_a_bad_note_is_named(labels, tmp_path):
    labels.mkdir()
    keep_source(labels, "support", "f1", [tmp_path])
    keep_source(labels, "nuggets", "f2", [tmp_path])
    keep_source(labels, "support", "f3", [tmp_path])
    assert {kind: one.fingerprint for kind, one in sources(labels).items()} == {
        "support": "f3",
        "nuggets": "f2",
    }
    (labels / SOURCES).write_text('{"kind": "stars"}\n')
    with pytest.raises(InputError, match=rf"{SOURCES}:1"):
        sources(labels)


def test_labels_of_items_are_named_by_the_ids_of_their_results(labels, tmp_path):
    path = tmp_path / "labels.jsonl"
    rows = [{"topic_id": "t", "nugget_id": f"n{n}", "label": "-1"} for n in range(2)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sourced_task(labels, path, "items")
    keep(labels, "ann", label("-1", ("t", "n0"), kind="items"))
    for name in ("out.csv", "out.jsonl"):
        export(labels, tmp_path / name, Problems())
        (read,) = item_lines(tmp_path / name, Problems())
        assert (read.row["topic_id"], read.row["nugget_id"]) == ("t", "n0")
        assert str(read.row["label"]) == "-1"  # and no text with an apostrophe


def test_verified_key_points_are_read_by_the_build(labels, tmp_path):
    points = [{"text": f"point {n}", "spans": [f"span {n}"]} for n in range(3)]
    path = tmp_path / "keypoints.jsonl"
    path.write_text(json.dumps({"qid": "t", "query": "q", "key_points": points}) + "\n", "utf-8")
    task = sourced_task(labels, path, "verify")
    known = list(task.points)
    for name, replies in (("ann", ("yes", "yes", "no")), ("bo", ("yes", "no", "no"))):
        answers = [label(value, (*point, "grounded"), kind="verify", chosen_by="")
                   for point, value in zip(known, replies, strict=True)]  # fmt: skip
        keep(labels, name, *answers, label("yes", (*known[0], "key_point"), kind="verify"))
    out = tmp_path / "verification.csv"
    assert export(labels, out, Problems()).n_rows == 6
    verified = read_verification([out], known, Problems())
    assert verified["grounded"].annotations[known[1]] == {"ann": "yes", "bo": "no"}
    assert verified["key_point"].cells == {known[0]: "yes"}
    with pytest.raises(InputError, match="is there already"):
        export(labels, out, Problems())  # it may have been filled in by hand
    one = tmp_path / "one.csv"
    export(labels, one, Problems(), labels_as="adjudicated")
    verified = read_verification([one], known, Problems())
    assert verified["grounded"].cells == {known[0]: "yes", known[2]: "no"}
    assert not any(verified["grounded"].annotations.values())


def test_labels_added_at_once_are_on_the_disk_and_follow_from_those_before(labels):
    journal = Journal(labels, "ann")
    journal.add(label("full", cell(0)))
    assert journal.add_labels([label("full", cell(0)), label("none", cell(1))]) == 1
    journal.add(Clear(id="clear-001", kind="support", cell=cell(1)))
    assert journal.add_labels([label("none", cell(1))]) == 1
    journal.close()
    again = Journal(labels, "ann")
    assert again.state == journal.state
    assert {one.cell: one.label for one in again.state.labels() if isinstance(one, Label)} == {
        cell(0): "full",
        cell(1): "none",
    }
    again.close()
