"""Labels from elsewhere stand beside the journals, once each, under the names of who gave them."""

import csv
import json

import pytest
from given_labels import cell, keep, label

from nuggetjudge.plugins.annotate.out.exporting import export
from nuggetjudge.plugins.annotate.out.importing import fit_name, import_labels
from nuggetjudge.plugins.annotate.store.events import Span
from nuggetjudge.plugins.annotate.store.people import list_people
from nuggetjudge.records.reading.problems import InputError, Problems

NAMES = ("topic_id", "run_id", "sentence_id", "passage_id")


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(value, n=0, **more):
    return dict(zip(NAMES, cell(n), strict=True)) | {"label": value} | more


def labels_by_person(labels, kind="support"):
    """Person -> cell -> label, of all in a folder."""
    return {who.name: {x.cell: x.label for x in who.labels(kind)} for who in list_people(labels)}


def test_an_export_of_another_machine_comes_in_as_it_was(labels, tmp_path):
    span = Span(of="passage", start=0, end=4, sha256="0123456789abcdef")
    first = label("full", cell(0), probability=0.5, active_ms=1500, rationale="so", spans=(span,))
    keep(labels, "ann", first, label(None, cell(1)), label("none", cell(2), chosen_by="margin"))
    for name in ("there.csv", "there.jsonl"):
        out = tmp_path / name
        export(labels, out, Problems())
        here = tmp_path / f"{name}-here"
        assert [(one.name, one.n_new) for one in import_labels([out], here, Problems())] == [
            ("ann", 3)
        ]
        again = tmp_path / f"again-{name}"
        export(here, again, Problems())
        assert again.read_bytes() == out.read_bytes()


def test_what_is_imported_again_is_there_once_and_a_changed_label_takes_its_place(labels, tmp_path):
    file = write(
        tmp_path / "a.jsonl", [row("full", annotator="bo"), row("none", 1, annotator="bo")]
    )
    assert import_labels([file], labels, Problems())[0].n_new == 2
    assert import_labels([file], labels, Problems())[0].n_new == 0
    write(file, [row("partial", annotator="bo")])
    assert import_labels([file], labels, Problems())[0].n_new == 1
    assert labels_by_person(labels) == {"bo": {cell(0): "partial", cell(1): "none"}}
    assert (labels / "imported" / "bo.events.jsonl").read_bytes().count(b"\n") == 3


def test_labels_of_no_annotator_are_of_one_who_is_called_as_the_file(labels, tmp_path):
    import_labels([write(tmp_path / "site-2.jsonl", [row("full")])], labels, Problems())
    assert labels_by_person(labels) == {"site-2": {cell(0): "full"}}


def test_other_layouts_come_in_too(labels, tmp_path):
    path = tmp_path / "assigned.jsonl"
    nuggets = [{"id": "n1", "text": "a", "importance": "vital", "assignment": "support"}]
    answer = {"qid": "t1", "query": "q", "run_id": "r", "answer_text": "a", "response_length": 1}
    write(path, [answer | {"nuggets": nuggets}])
    import_labels([path], labels, Problems())
    assert labels_by_person(labels, "nuggets") == {"assigned": {("t1", "r", "n1"): "support"}}


def test_a_label_that_was_given_here_stands_before_an_imported_one(labels, tmp_path):
    keep(labels, "ann", label("full", cell(0)))
    file = write(tmp_path / "a.jsonl", [row("none", annotator="ann"),
                                        row("none", 1, annotator="ann")])  # fmt: skip
    import_labels([file], labels, Problems())
    assert labels_by_person(labels) == {"ann": {cell(0): "full", cell(1): "none"}}
    problems = Problems()
    export(labels, tmp_path / "out.csv", problems)
    assert [one.what for one in problems if one.kind == "labelled_here"] == [
        "1 imported labels are of people who labelled the same here"
    ]
    (person,) = list_people(labels)
    assert {one.cell: one.label for one in person.state().labels()} == labels_by_person(labels)[
        "ann"
    ]


def test_conditions_are_read_and_kept_apart(labels, tmp_path):
    rows = [row("full", annotator="bo", condition="from-scratch"),
            row("none", 1, annotator="bo", condition="post_edited")]  # fmt: skip
    file = write(tmp_path / "a.jsonl", rows)
    import_labels([file], labels, Problems())
    with pytest.raises(InputError, match="never mixed"):
        export(labels, tmp_path / "out.csv", Problems())
    export(labels, tmp_path / "out.csv", Problems(), condition="post_edit")
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert [one["sentence_id"] for one in csv.DictReader(stream)] == ["1"]
    write(file, [row("full", annotator="bo", condition="blind"), row("none", 1, annotator="cy")])
    with pytest.raises(InputError, match=r"a\.jsonl:1: condition is 'blind', wanted"):
        import_labels([file], labels, Problems())
    import_labels([file], labels, Problems(), condition="from_scratch")
    assert labels_by_person(labels)["cy"] == {cell(1): "none"}


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([row(None)], "no label in it"),
        ([row("full", annotator="a"), row("none", annotator="a")], "again, wanted once"),
        ([{"label": "full"}], "is missing"),
        ([row("full", annotator="a", condition="post_edit"),
          row("none", annotator="a", condition="from_scratch")], "twice"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_and_nothing_of_it_stays(rows, wanted, labels, tmp_path):
    good = write(tmp_path / "good.jsonl", [row("full", 5, annotator="a")])
    with pytest.raises(InputError, match=wanted):
        import_labels([good, write(tmp_path / "bad.jsonl", rows)], labels, Problems())
    assert not labels.exists()


def test_a_time_that_no_label_can_take_is_said_and_a_wrong_repeat_is_refused(labels, tmp_path):
    """Stored, it made the pages of that person and of the coordinator fail."""
    rows = [row("full", annotator="bo", seconds=1e30), row("none", 1, annotator="bo", seconds=2)]
    problems = Problems()
    import_labels([write(tmp_path / "a.jsonl", rows)], labels, problems)
    (bo,) = list_people(labels)
    assert [one.active_ms for one in bo.state().labels()] == [0, 2000]
    (said,) = [one.what for one in problems]
    assert "seconds are 1e+30, wanted at most 1,000,000; not used" in said
    wrong = write(tmp_path / "b.jsonl", [row("full", 2, annotator="bo", repeat=-1)])
    with pytest.raises(InputError, match=r"b\.jsonl:1: repeat is -1, wanted 0 or more"):
        import_labels([wrong], labels, problems)


def test_a_name_that_is_no_journals_name_is_made_fit_and_stays_its_own():
    assert fit_name("ann.lee_2") == "ann.lee_2"
    names = ["Ann Lee", "Ann/Lee", "../ann", "=cmd()", "名前", "x" * 99, "", "a\x00b"]
    fit = [fit_name(name) for name in names]
    assert len(set(fit)) == len(names)
    assert all(one.isascii() and "/" not in one and len(one) <= 40 for one in fit)


def test_labels_of_two_kinds_are_counted_apart(labels, tmp_path):
    nugget = {"topic_id": "t1", "run_id": "r", "nugget_id": "n1", "label": "support"}
    files = [
        write(tmp_path / "a.jsonl", [row("full", annotator="bo"), row("none", 1, annotator="bo")]),
        write(tmp_path / "b.jsonl", [nugget | {"annotator": "bo"}]),
    ]
    imported = import_labels(files, labels, Problems())
    assert [(one.kind, one.n, one.n_new) for one in imported] == [
        ("nuggets", 1, 1),
        ("support", 2, 2),
    ]
