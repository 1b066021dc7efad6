"""An export has each person's last label of a cell, once, and nothing that is no label of it."""

import csv
import json

import pytest
from given_labels import cell, clear, flag, keep, label, undo, verdict

from nuggetjudge.plugins.annotate.out.exporting import export, summary
from nuggetjudge.plugins.annotate.store.events import Span
from nuggetjudge.programs.scoring.human_labels import RANDOM
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems


def exported(labels, name="out.jsonl", **options):
    """What was said of the export, and its rows."""
    out = labels.parent / name
    report = export(labels, out, Problems(), **options)
    if out.suffix == ".csv":
        with out.open(encoding="utf-8-sig", newline="") as stream:
            return report, list(csv.DictReader(stream))
    return report, [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def by_sentence(rows):
    return {(row["sentence_id"], row.get("annotator")): row["label"] for row in rows}


def test_the_last_label_counts_and_a_cleared_or_undone_one_is_none(labels):
    keep(labels, "ann", label("none", cell(0)), label("full", cell(0)),
         label("none", cell(1)), clear(cell(1)),
         label("partial", cell(2)), undo(),
         label(None, cell(3)))  # fmt: skip
    report, rows = exported(labels)
    assert by_sentence(rows) == {("0", "ann"): "full", ("3", "ann"): None}
    assert (report.n_rows, report.n_cells, report.n_cannot_tell) == (2, 2, 1)


def test_cannot_tell_is_read_back_as_no_label_of_that_person(labels):
    keep(labels, "ann", label(None, cell(0)), label(None, cell(1)), label("full", cell(2)))
    keep(labels, "bo", label("none", cell(0)))
    for name in ("out.csv", "out.jsonl"):
        exported(labels, name)
        problems = Problems()
        read = read_labels(labels.parent / name, problems)
        assert read.annotations == {cell(0): {"bo": "none"}, cell(1): {}, cell(2): {"ann": "full"}}
        assert read.n_unlabelled == 1
        assert not list(problems)


def test_a_row_says_how_the_label_came_about(labels):
    spans = (Span(of="passage", start=3, end=9, sha256="0123456789abcdef"),)
    given = label("full", cell(0), rationale="=as it says", probability=0.25, active_ms=7400,
                  spans=spans, chosen_by="margin")  # fmt: skip
    keep(labels, "ann", given, flag("", cell(0)))
    _, (row,) = exported(labels)
    assert row == {
        "topic_id": "t1",
        "run_id": "run1",
        "sentence_id": "0",
        "passage_id": "p1",
        "label": "full",
        "annotator": "ann",
        "rationale": "=as it says",
        "condition": "from_scratch",
        "chosen_by": "margin",
        "probability": 0.25,
        "seconds": 7.4,
        "spans": [{"of": "passage", "start": 3, "end": 9, "sha256": "0123456789abcdef"}],
        "flag": "flagged",
    }
    _, (in_csv,) = exported(labels, "out.csv")
    assert json.loads(in_csv["spans"]) == row["spans"]
    assert in_csv["rationale"] == "'=as it says"  # no formula in a spreadsheet


def test_labels_of_two_conditions_are_never_mixed(labels):
    keep(labels, "ann", label("full", cell(0)), label("none", cell(1)))
    keep(labels, "bo", label("none", cell(0), condition="post_edit", shown="none"))
    with pytest.raises(InputError, match=r"1 post_edit .*--condition") as raised:
        exported(labels)
    assert "2 from_scratch" in str(raised.value)
    _, rows = exported(labels, condition="from_scratch")
    assert by_sentence(rows) == {("0", "ann"): "full", ("1", "ann"): "none"}
    _, rows = exported(labels, condition="post_edit")
    assert [(row["annotator"], row["shown"]) for row in rows] == [("bo", "none")]
    with pytest.raises(InputError, match="no labels of nuggets"):
        exported(labels, kind="nuggets")


def test_repeats_and_controls_stand_in_a_file_of_their_own(labels):
    post = {"condition": "post_edit"}
    keep(labels, "ann", label("full", cell(0), shown="full", **post),
         label("none", cell(0), shown="full", repeat=1, **post),
         label("none", cell(1), shown="none", is_control=True, **post))  # fmt: skip
    report, rows = exported(labels)
    assert by_sentence(rows) == {("0", "ann"): "full"}
    assert report.n_checks == 3
    checks = [json.loads(line) for line in report.checks.read_text("utf-8").splitlines()]
    assert [(r["sentence_id"], r["repeat"], r["is_control"], r["label"]) for r in checks] == [
        ("0", 0, False, "full"),
        ("0", 1, False, "none"),
        ("1", 0, True, "none"),
    ]
    assert any("out.checks.jsonl: 3 rows" in line for line in summary(report))


def test_checks_of_an_earlier_export_do_not_stay_beside_labels_they_are_not_of(labels):
    keep(labels, "ann", label("full", cell(0)), label("none", cell(0), repeat=1))
    report, _ = exported(labels, "out.csv")
    keep(labels, "ann", clear(cell(0), repeat=1))
    problems = Problems()
    export(labels, report.path, problems)
    assert not report.checks.exists()
    assert [(row.kind, row.file) for row in problems] == [("earlier_checks", str(report.checks))]
    report.checks.write_text("mine\n", "utf-8")
    exported(labels, "out.csv")
    assert report.checks.read_text("utf-8") == "mine\n"


def test_a_verdict_decides_about_labels_of_its_condition_alone(labels):
    """Who post-edited and who did not are never adjudicated together, nor by one verdict."""
    for name, value in (("ann", "full"), ("bo", "none")):
        keep(labels, name, label(value, cell(0)))
    post = {"condition": "post_edit"}
    for name in ("cy", "di"):
        keep(labels, name, label("full", cell(0), shown="full", **post))
    keep(labels, "judy", verdict("none", cell(0), **post))
    _, rows = exported(labels, labels_as="adjudicated", condition="from_scratch")
    assert [(row["label"], row["decided_by"]) for row in rows] == [(None, "open")]
    _, rows = exported(labels, labels_as="adjudicated", condition="post_edit")
    assert [(row["label"], row["condition"]) for row in rows] == [("none", "post_edit")]


def test_adjudicated_is_one_row_a_cell_the_verdict_before_the_majority(labels):
    say = {  # sentence -> labels of ann, bo and cy
        0: ("full", "full", "full"),
        1: ("full", "full", "none"),
        2: ("full", "none", None),
        3: ("full", "none", None),
        4: ("none", None, None),
        5: (None, None, None),
        6: ("full", "full", "full"),
    }
    for at, name in enumerate(("ann", "bo", "cy")):
        keep(labels, name, *(label(of[at], cell(n)) for n, of in say.items()))
    keep(labels, "dee", verdict("partial", cell(3), rationale="only part"),
         verdict("none", cell(6)), verdict(None, cell(1)), undo())  # fmt: skip
    report, rows = exported(labels, labels_as="adjudicated")
    assert {int(r["sentence_id"]): (r["label"], r["decided_by"]) for r in rows} == {
        0: ("full", "unanimous"),
        1: ("full", "majority"),
        2: (None, "open"),
        3: ("partial", "verdict"),
        4: ("none", "one"),
        5: (None, "cannot_tell"),
        6: ("none", "verdict"),
    }
    assert report.n_open == 1
    assert any(
        line.startswith("1 of the items without a label") for line in summary(report, "adjudicated")
    )
    assert rows[3]["rationale"] == "only part"
    read = read_labels(report.path, Problems())
    assert not read.annotations
    assert (len(read.cells), read.n_unlabelled) == (5, 2)


def test_the_later_of_two_verdicts_holds(labels):
    keep(labels, "ann", label("full", cell(0)))
    keep(labels, "dee", verdict("none", cell(0)))
    keep(labels, "cy", verdict("partial", cell(0)))  # before dee by name, after by time
    _, rows = exported(labels, labels_as="adjudicated")
    assert [row["label"] for row in rows] == ["partial"]


def test_a_cell_is_of_the_draw_where_it_was_drawn_for_one_person(labels):
    keep(labels, "ann", label("full", cell(0), chosen_by="margin"), label("none", cell(1)))
    keep(labels, "bo", label("full", cell(0)), label("none", cell(2), chosen_by="margin"))
    _, rows = exported(labels, labels_as="adjudicated")
    assert [row["chosen_by"] for row in rows] == [RANDOM, RANDOM, "margin"]


def test_a_file_that_is_no_export_is_not_overwritten_and_an_export_is(labels):
    keep(labels, "ann", label("full", cell(0)))
    for name in ("out.csv", "out.jsonl"):
        exported(labels, name)
        exported(labels, name)
    other = labels.parent / "other.csv"
    other.write_text("topic_id,label\nt1,full\n")
    with pytest.raises(InputError, match="is no export"):
        exported(labels, "other.csv")
    with pytest.raises(InputError, match="is no export"):
        export(labels, labels / "ann.events.jsonl", Problems())
    assert other.read_text() == "topic_id,label\nt1,full\n"


def test_what_cannot_be_exported_is_refused_in_words(labels):
    with pytest.raises(InputError, match="is no folder"):
        exported(labels)
    labels.mkdir()
    with pytest.raises(InputError, match=r"no \*\.events\.jsonl in it"):
        exported(labels)
    keep(labels, "ann", label("full", cell(0)), clear(cell(0)))
    with pytest.raises(InputError, match="nobody has labelled anything yet"):
        exported(labels)
    keep(labels, "ann", label("yes", ("t1", "n1"), kind="items"))
    with pytest.raises(InputError, match="give --results"):
        exported(labels)
    keep(labels, "ann", label("full", cell(0)))
    with pytest.raises(InputError, match=r"items, support; --kind chooses one"):
        exported(labels)


def test_an_export_is_there_while_somebody_labels(labels):
    from nuggetjudge.plugins.annotate.store.journal import Journal

    journal = Journal(labels, "ann")
    journal.add(label("full", cell(0)))
    assert exported(labels)[0].n_rows == 1
    journal.close()
