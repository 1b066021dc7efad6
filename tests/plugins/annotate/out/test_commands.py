"""Labels of two people, exported, are read by agree, calibrate, score, next and run."""

import csv
import json
import os

import pytest
from given_labels import cell, keep, label, new_id
from json_lines import read_rows, write_rows
from processes import JUDGE, run

import nuggetjudge as nj
from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.judges import NuggetAssigner, SupportJudge
from nuggetjudge.plugins.annotate.out.exporting import export
from nuggetjudge.plugins.annotate.out.importing import fit_name, import_labels
from nuggetjudge.plugins.annotate.store.events import BankEdit, Label, Span
from nuggetjudge.plugins.annotate.store.journal import read_state
from nuggetjudge.plugins.annotate.store.people import list_people
from nuggetjudge.plugins.annotate.store.sources import keep_source
from nuggetjudge.plugins.annotate.work.next_labels import next_labels
from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.queue_files import load_queue
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.nuggets import read_nugget_banks
from nuggetjudge.records.reading.problems import InputError, Problems

EVERY = 6  # the other person differs on one item of so many


def people_label(labels, results, kind, truth, n):
    """Two people go through their queues; returns the labels of each, by cell, and the task."""
    task = read_task([results], kind, Problems())
    keep_source(labels, kind, task.fingerprint, task.results)
    plan = Plan(n=n, overlap=0.5)
    given = {}
    for name in ("ann", "bo"):
        queue = [e for e in load_queue(labels, task, name, plan) if e.cell in truth]
        events = []
        for at, entry in enumerate(queue):
            value = truth[entry.cell]
            if name == "bo" and at % EVERY == 0:
                value = next(x for x in task.scale if x != value)
            row = entry.model_dump(exclude={"is_shared"})
            more = {"active_ms": 1000 + at, "id": new_id(), "kind": kind, "label": value}
            events.append(Label.model_validate(row | more))
        keep(labels, name, *events)
        given[name] = {e.cell: e.label for e in events if not e.repeat}
    return given, task


def judge(*arguments, cwd):
    ran = run(*JUDGE, *arguments, cwd=cwd, env={"PATH": os.environ["PATH"], "HOME": str(cwd)})
    assert ran.returncode == 0, ran.stderr
    return ran


def truth_of(path):
    return read_labels(path, Problems()).cells


@pytest.fixture
def support(judged, labels):
    """Both people's labels of citations of the demo, half of them of the same ones."""
    labels.mkdir()
    truth = truth_of(judged.parent / "in" / "labels" / "support.jsonl")
    return people_label(labels, judged, "support", truth, 60)


def both_labelled(given):
    """The cells that both labelled, all that were, and the label of each that most gave."""
    ann, bo = given["ann"], given["bo"]
    both, either = ann.keys() & bo.keys(), ann.keys() | bo.keys()
    decided = {c: ann.get(c, bo.get(c)) for c in either if c not in both or ann[c] == bo[c]}
    return both, either, decided


def test_what_the_four_commands_call_reads_labels_of_two_people(support, judged, labels, tmp_path):
    given, task = support
    out = tmp_path / "human.csv"
    problems = Problems()
    export(labels, out, problems)
    assert {row.kind for row in problems} <= {"spreadsheet_id"}
    read = read_labels(out, Problems())
    both, either, decided = both_labelled(given)
    assert len(both) >= 20
    assert read.cells == decided
    assert all(
        by == {name: given[name][cell] for name in given if cell in given[name]}
        for cell, by in read.annotations.items()
    )

    agreed = agree(out, judged, Problems(), resamples=0)
    right = sum(task.get_first_label(cell) == label for cell, label in decided.items())
    assert (agreed["n"], agreed["accuracy"]) == (len(decided), right / len(decided))
    assert agreed["annotators"] is not None

    measure = ["support_precision"]
    where = {"condition": ["from_scratch"]}
    corrected = correct_scores(judged, out, Problems(), where=where, measures=measure)
    assert any(score.corrected is not None for score in corrected.scores)

    sheet = next_labels([judged], 5, Problems(), kind="support", labels=out)
    assert sheet.n_labelled == len(either)

    examples = read_examples(out, SupportJudge(), Problems())
    assert {item.cell: item.label for item in examples.items} == decided
    assert not examples.n_without_text


@pytest.mark.slow
def test_the_four_commands_read_labels_of_two_people(support, judged, labels, tmp_path):
    given, _ = support
    out = tmp_path / "human.csv"
    export(labels, out, Problems())
    _, either, decided = both_labelled(given)
    agreed = judge("agree", out, judged, "--json", cwd=tmp_path).stdout
    assert json.loads(agreed.splitlines()[0])["n"] == len(decided)
    where = ["--where", "condition=from_scratch"]
    assert "corrected" in judge("score", judged, "--labels", out, *where, cwd=tmp_path).stdout
    more = ["--kind", "support", "--labels", out, "--n", "5", "--out", "more.csv"]
    printed = judge("next", judged, *more, cwd=tmp_path).stdout
    assert f"{len(either)} already have a label" in printed
    fit = ["--judge", "support", "--method", "threshold", "--out", "fit.json"]
    fitted = judge("calibrate", out, *fit, cwd=tmp_path)
    assert f"{len(decided)} labels" in fitted.stdout + fitted.stderr


def test_texts_in_an_export_are_those_of_the_results(support, judged, labels, tmp_path):
    _, task = support
    out = tmp_path / "human.jsonl"
    export(labels, out, Problems())
    rows = read_rows(out)
    for row in rows:
        cell = tuple(row[name] for name in task.key_names)
        assert {name: row[name] for name in ("question", "sentence", "passage")} == {
            name: task.texts(cell)[name] for name in ("question", "sentence", "passage")
        }


def test_adjudicated_labels_are_read_without_a_majority_to_take(support, judged, labels, tmp_path):
    given, task = support
    out = tmp_path / "human.jsonl"
    exported = export(labels, out, Problems(), labels_as="adjudicated")
    both = given["ann"].keys() & given["bo"].keys()
    assert exported.n_open == sum(given["ann"][c] != given["bo"][c] for c in both) > 0
    rows = read_rows(out)
    assert len(rows) == len({tuple(row[name] for name in task.key_names) for row in rows})
    in_topic = [row for row in rows if row["topic_id"] == "demo-bees"]
    n_judged = sum(cell[0] == "demo-bees" for cell in task.cells)
    assert {row["probability"] for row in in_topic} == {len(in_topic) / n_judged}
    problems = Problems()
    scored = correct_scores(judged, out, problems, measures=["support_precision"])
    assert any(score.corrected is not None for score in scored.scores)
    assert "no_majority" not in problems.counts()


def test_nugget_labels_fit_the_assigner(judged, labels, tmp_path):
    labels.mkdir()
    truth = truth_of(judged.parent / "in" / "labels" / "nuggets.jsonl")
    by_nugget = {(c[0], c[1], c[2]): label for c, label in truth.items()}
    people_label(labels, judged, "nuggets", by_nugget, 60)
    out = tmp_path / "human.csv"
    export(labels, out, Problems())
    examples = read_examples(out, NuggetAssigner(), Problems())
    assert not examples.n_without_text
    assert {item.cell for item in examples.items} == read_labels(out, Problems()).cells.keys()
    assert all(item.inputs["answer"] and item.inputs["nugget"] for item in examples.items)


def test_an_edited_bank_is_judged_against_and_says_where_its_nuggets_are_from(
    judged, labels, tmp_path
):
    task = read_task([judged], "bank", Problems())
    bank = task.bank.banks["demo-bees"]
    first, second, third, *rest = (nugget.id for nugget in bank.nuggets)
    merged = "bees cluster and shiver"

    def edit(op, *sources, texts=(), importance=None):
        return BankEdit(id=new_id(), topic_id="demo-bees", op=op, sources=sources, texts=texts,
                        importance=importance)  # fmt: skip

    keep(labels, "ann", edit("merge", first, second, texts=(merged,)), edit("delete", third),
         edit("add", texts=("drones leave the hive",), importance="okay"),
         edit("importance", *rest, importance="vital"))  # fmt: skip
    keep_source(labels, "bank", task.fingerprint, task.results)
    out = tmp_path / "edited.jsonl"
    problems = Problems()
    exported = export(labels, out, problems)
    assert (exported.n_rows, exported.n_without_importance) == (1, 1)  # the merged one
    assert [row.kind for row in problems] == ["unedited"]
    (row,) = map(json.loads, out.read_text("utf-8").splitlines())
    by_text = {nugget["text"]: nugget for nugget in row["nuggets"]}
    assert by_text[merged]["from"] == [first, second]
    assert by_text["drones leave the hive"]["from"] == []
    assert read_nugget_banks(out, Problems())["demo-bees"].query == bank.query
    topics = tmp_path / "topics.tsv"
    lines = (judged.parent / "in" / "topics.tsv").read_text("utf-8").splitlines()
    topics.write_text("".join(f"{x}\n" for x in lines if x.startswith("demo-bees")), "utf-8")
    again = nj.run(program="nuggets", model="lexical", topics=topics, nuggets=out,
                   runs=[judged.parent / "in" / "runs"], out=tmp_path / "again")  # fmt: skip
    assigned = (again.folder / "assignments.jsonl").read_text("utf-8")
    assert merged in assigned


def test_a_label_file_of_others_is_exported_beside_the_labels_here(support, judged, labels):
    given, _ = support
    other = labels.parent / "home.jsonl"
    truth = truth_of(judged.parent / "in" / "labels" / "support.jsonl")
    cells = sorted(given["ann"])[:5]
    names = ("topic_id", "run_id", "sentence_id", "passage_id")
    rows = [dict(zip(names, c, strict=True)) | {"label": truth[c], "annotator": "Cy B."}
            for c in cells]  # fmt: skip
    write_rows(other, rows)
    (done,) = import_labels([other], labels, Problems())
    assert done.n_new == 5
    exported = export(labels, labels.parent / "all.jsonl", Problems())
    assert exported.people == (done.name, "ann", "bo")
    assert len(read_state(labels / "imported" / f"{done.name}.events.jsonl").recent(9)) == 5


@pytest.mark.slow
def test_real_support_labels_go_round(shared_data, tmp_path):
    """TREC 2024: people's labels under two conditions, imported and exported, are all there."""
    source = shared_data / "rag24_support" / "pairs.jsonl"
    rows = read_rows(source)
    first = tmp_path / "pairs.jsonl"
    first.write_text("".join(f"{json.dumps(r)}\n" for r in rows if not r["citation_idx"]), "utf-8")
    (person,) = import_labels([first], tmp_path / "labels", Problems())
    annotations = {}
    for condition in ("from_scratch", "post_edit"):
        out = tmp_path / f"{condition}.csv"
        export(tmp_path / "labels", out, Problems(), condition=condition)
        annotations |= read_labels(out, Problems()).annotations
    expected = read_labels(first, Problems()).cells
    assert {cell: by[person.name] for cell, by in annotations.items()} == expected
    assert len(expected) > 3000


@pytest.mark.slow
def test_real_labels_with_their_texts_are_read_by_what_the_four_commands_call(
    shared_data, tmp_path
):
    folder = shared_data / "rag24_support"
    texts = {}
    for line in (folder / "passages.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        texts[row["docid"]] = row["text"]
    rows, truth = [], {}
    for line in (folder / "pairs.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        ids = [row["topic_id"], row["run_id"], str(row["sentence_idx"]), row["docid"]]
        if row["condition"] != "from_scratch" or row["citation_idx"] or tuple(ids) in truth:
            continue
        if not row["sentence"].strip():  # which nobody could judge
            continue
        truth[tuple(ids)] = ("none", "partial", "full")[row["label"]]
        words = set(row["sentence"].lower().split())
        share = len(words & set(texts[row["docid"]].lower().split())) / len(words)
        label = "full" if share > 0.65 else "partial" if share > 0.38 else "none"
        shown = {"question": row["topic_id"], "sentence": row["sentence"], "label": label}
        names = ("topic_id", "run_id", "sentence_id", "passage_id")
        more = {"passage": texts[row["docid"]]}
        rows.append(dict(zip(names, ids, strict=True)) | shown | more)
    judged = tmp_path / "judged.jsonl"
    write_rows(judged, rows)
    labels = tmp_path / "labels"
    labels.mkdir()
    given, _ = people_label(labels, judged, "support", truth, 300)
    out = tmp_path / "human.csv"
    export(labels, out, Problems())
    both, either, decided = both_labelled(given)
    assert len(both) > 100
    agreed = agree(out, judged, Problems(), resamples=0)
    assert agreed["n"] == len(decided)
    examples = read_examples(out, SupportJudge(), Problems())
    assert {item.cell: item.label for item in examples.items} == decided
    scored = correct_scores(judged, out, Problems())
    assert any(score.corrected is not None for score in scored.scores)
    sheet = next_labels([judged], 5, Problems(), labels=out)
    assert sheet.n_labelled == len(either)


# Labels from elsewhere stand beside the journals, once each, under the names of who gave them.
NAMES = ("topic_id", "run_id", "sentence_id", "passage_id")


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
    file = write_rows(
        tmp_path / "a.jsonl", [row("full", annotator="bo"), row("none", 1, annotator="bo")]
    )
    assert import_labels([file], labels, Problems())[0].n_new == 2
    assert import_labels([file], labels, Problems())[0].n_new == 0
    write_rows(file, [row("partial", annotator="bo")])
    assert import_labels([file], labels, Problems())[0].n_new == 1
    assert labels_by_person(labels) == {"bo": {cell(0): "partial", cell(1): "none"}}
    assert (labels / "imported" / "bo.events.jsonl").read_bytes().count(b"\n") == 3


def test_labels_of_no_annotator_are_of_one_who_is_called_as_the_file(labels, tmp_path):
    import_labels([write_rows(tmp_path / "site-2.jsonl", [row("full")])], labels, Problems())
    assert labels_by_person(labels) == {"site-2": {cell(0): "full"}}


def test_other_layouts_come_in_too(labels, tmp_path):
    path = tmp_path / "assigned.jsonl"
    nuggets = [{"id": "n1", "text": "a", "importance": "vital", "assignment": "support"}]
    answer = {"qid": "t1", "query": "q", "run_id": "r", "answer_text": "a", "response_length": 1}
    write_rows(path, [answer | {"nuggets": nuggets}])
    import_labels([path], labels, Problems())
    assert labels_by_person(labels, "nuggets") == {"assigned": {("t1", "r", "n1"): "support"}}


def test_a_label_that_was_given_here_stands_before_an_imported_one(labels, tmp_path):
    keep(labels, "ann", label("full", cell(0)))
    file = write_rows(tmp_path / "a.jsonl", [row("none", annotator="ann"),
                                        row("none", 1, annotator="ann")])  # fmt: skip
    import_labels([file], labels, Problems())
    assert labels_by_person(labels) == {"ann": {cell(0): "full", cell(1): "none"}}
    problems = Problems()
    export(labels, tmp_path / "out.csv", problems)
    assert [one.what for one in problems if one.kind == "labelled_here"] == [
        "1 imported labels are of people who labelled the items here"
    ]
    (person,) = list_people(labels)
    assert {one.cell: one.label for one in person.state().labels()} == labels_by_person(labels)[
        "ann"
    ]


def test_conditions_are_read_and_kept_apart(labels, tmp_path):
    rows = [row("full", annotator="bo", condition="from-scratch"),
            row("none", 1, annotator="bo", condition="post_edited")]  # fmt: skip
    file = write_rows(tmp_path / "a.jsonl", rows)
    import_labels([file], labels, Problems())
    with pytest.raises(InputError, match="never mixed"):
        export(labels, tmp_path / "out.csv", Problems())
    export(labels, tmp_path / "out.csv", Problems(), condition="post_edit")
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert [one["sentence_id"] for one in csv.DictReader(stream)] == ["1"]
    write_rows(
        file, [row("full", annotator="bo", condition="blind"), row("none", 1, annotator="cy")]
    )
    with pytest.raises(InputError, match=r"a\.jsonl:1: condition is 'blind', wanted"):
        import_labels([file], labels, Problems())
    import_labels([file], labels, Problems(), condition="from_scratch")
    assert labels_by_person(labels)["cy"] == {cell(1): "none"}


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([row(None)], "has no labels"),
        ([row("full", annotator="a"), row("none", annotator="a")], "twice, wanted once"),
        ([{"label": "full"}], "no column identifies the items"),
        ([row("full", annotator="a", condition="post_edit"),
          row("none", annotator="a", condition="from_scratch")], "twice"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_and_nothing_of_it_stays(rows, wanted, labels, tmp_path):
    good = write_rows(tmp_path / "good.jsonl", [row("full", 5, annotator="a")])
    with pytest.raises(InputError, match=wanted):
        import_labels([good, write_rows(tmp_path / "bad.jsonl", rows)], labels, Problems())
    assert not labels.exists()


def test_a_time_that_no_label_can_take_is_said_and_a_wrong_repeat_is_refused(labels, tmp_path):
    """Stored, it made the pages of that person and of the coordinator fail."""
    rows = [row("full", annotator="bo", seconds=1e30), row("none", 1, annotator="bo", seconds=2)]
    problems = Problems()
    import_labels([write_rows(tmp_path / "a.jsonl", rows)], labels, problems)
    (bo,) = list_people(labels)
    assert [one.active_ms for one in bo.state().labels()] == [0, 2000]
    (said,) = [one.what for one in problems]
    assert "seconds are 1e+30, wanted at most 1,000,000; not used" in said
    wrong = write_rows(tmp_path / "b.jsonl", [row("full", 2, annotator="bo", repeat=-1)])
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
        write_rows(
            tmp_path / "a.jsonl", [row("full", annotator="bo"), row("none", 1, annotator="bo")]
        ),
        write_rows(tmp_path / "b.jsonl", [nugget | {"annotator": "bo"}]),
    ]
    imported = import_labels(files, labels, Problems())
    assert [(one.kind, one.n, one.n_new) for one in imported] == [
        ("nuggets", 1, 1),
        ("support", 2, 2),
    ]
