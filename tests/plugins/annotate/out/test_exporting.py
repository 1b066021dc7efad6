"""An export has each person's last label of a cell, once, and nothing that is no label of it."""

import csv
import json

import pytest
from given_labels import cell, clear, flag, keep, label, undo, verdict
from json_lines import read_rows, write_rows

from nuggetjudge.plugins.annotate.out.exporting import export, summary
from nuggetjudge.plugins.annotate.out.importing import import_labels
from nuggetjudge.plugins.annotate.store.events import Clear, Label, Span
from nuggetjudge.plugins.annotate.store.journal import Journal, read_state
from nuggetjudge.plugins.annotate.store.sources import SOURCES, keep_source, sources
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.plugins.collections.verification import read_verification
from nuggetjudge.programs.scoring.human_labels import RANDOM
from nuggetjudge.records.judgements import text_hash
from nuggetjudge.records.labels import item_lines, read_items, read_labels
from nuggetjudge.records.reading.problems import InputError, Problems


def exported(labels, name="out.jsonl", **options):
    """What was said of the export, and its rows."""
    out = labels.parent / name
    report = export(labels, out, Problems(), **options)
    if out.suffix == ".csv":
        with out.open(encoding="utf-8-sig", newline="") as stream:
            return report, list(csv.DictReader(stream))
    return report, read_rows(out)


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
        "topic_id": "t1", "run_id": "run1", "sentence_id": "0", "passage_id": "p1",
        "label": "full", "annotator": "ann", "rationale": "=as it says",
        "condition": "from_scratch", "chosen_by": "margin", "probability": 0.25, "seconds": 7.4,
        "spans": [{"of": "passage", "start": 3, "end": 9, "sha256": "0123456789abcdef"}],
        "flag": "flagged",
    }  # fmt: skip
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
    checks = read_rows(report.checks)
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
        0: ("full", "unanimous"), 1: ("full", "majority"), 2: (None, "open"),
        3: ("partial", "verdict"), 4: ("none", "one"), 5: (None, "cannot_tell"),
        6: ("none", "verdict"),
    }  # fmt: skip
    assert report.n_open == 1
    assert any(
        line.startswith("1 item without a majority label")
        for line in summary(report, "adjudicated")
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
    with pytest.raises(InputError, match="is not an export"):
        exported(labels, "other.csv")
    with pytest.raises(InputError, match="is not an export"):
        export(labels, labels / "ann.events.jsonl", Problems())
    assert other.read_text() == "topic_id,label\nt1,full\n"


def test_what_cannot_be_exported_is_refused_in_words(labels):
    with pytest.raises(InputError, match="is not a folder"):
        exported(labels)
    labels.mkdir()
    with pytest.raises(InputError, match=r"has no \*\.events\.jsonl"):
        exported(labels)
    keep(labels, "ann", label("full", cell(0)), clear(cell(0)))
    with pytest.raises(InputError, match="nobody has labelled anything yet"):
        exported(labels)
    keep(labels, "ann", label("yes", ("t1", "n1"), kind="items"))
    with pytest.raises(InputError, match="give --results"):
        exported(labels)
    keep(labels, "ann", label("full", cell(0)))
    with pytest.raises(InputError, match=r"items, support; choose one with --kind"):
        exported(labels)


def test_an_export_is_there_while_somebody_labels(labels):
    from nuggetjudge.plugins.annotate.store.journal import Journal

    journal = Journal(labels, "ann")
    journal.add(label("full", cell(0)))
    assert exported(labels)[0].n_rows == 1
    journal.close()


# An export finds what was labelled again, and goes without texts rather than without labels.
NAMES = ("topic_id", "run_id", "sentence_id", "passage_id")


# As texts of an item: markup, a formula, control and bidi characters, NUL, quotes, half a pair.
HOSTILE = [
    "<script>alert(1)</script>", '=HYPERLINK("http://x")', 'a "quoted", cell\r\nof two lines',
    "null \x00 bell \x07 escape \x1b[31m", "rtl \u202e and line \u2028 end", "__proto__",
    "'already quoted", "x" * 31_000,
]  # fmt: skip


def judged_file(path, texts):
    rows = [
        dict(zip(NAMES, cell(n), strict=True))
        | {"question": "q", "sentence": text, "passage": text, "label": "full"}
        for n, text in enumerate(texts)
    ]
    write_rows(path, rows)
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
    rows = read_rows(out)
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
    write_rows(path, rows)
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
