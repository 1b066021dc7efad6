"""Labels of two people, exported, are read by agree, calibrate, score, next and run."""

import json
import os
import sys

import pytest
from given_labels import keep, new_id
from processes import JUDGE, run

import nuggetjudge as nj
from nuggetjudge.annotation.out.exporting import export
from nuggetjudge.annotation.out.importing import import_labels
from nuggetjudge.annotation.store.events import BankEdit, Label
from nuggetjudge.annotation.store.journal import read_state
from nuggetjudge.annotation.store.sources import keep_source
from nuggetjudge.annotation.work.kept import kept_queue
from nuggetjudge.annotation.work.plan import Plan
from nuggetjudge.annotation.work.task import task_of
from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.programs.scoring.corrected import corrected_scores
from nuggetjudge.records.labels.labels import read_labels
from nuggetjudge.records.nuggets import read_nugget_banks
from nuggetjudge.records.reading.problems import Problems

EVERY = 6  # the other person differs on one item of so many


def people_label(labels, results, kind, truth, n):
    """Two people go through their queues; returns the labels of each, by cell, and the task."""
    task = task_of([results], kind, Problems())
    keep_source(labels, kind, task.fingerprint, task.results)
    plan = Plan(n=n, overlap=0.5)
    given = {}
    for name in ("ann", "bo"):
        queue = [e for e in kept_queue(labels, task, name, plan) if e.cell in truth]
        events = []
        for at, entry in enumerate(queue):
            said = truth[entry.cell]
            if name == "bo" and at % EVERY == 0:
                said = next(x for x in task.scale if x != said)
            row = entry.model_dump(exclude={"is_shared"})
            more = {"active_ms": 1000 + at, "id": new_id(), "kind": kind, "label": said}
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


def test_the_four_commands_read_labels_of_two_people(support, judged, labels, tmp_path):
    given, task = support
    out = tmp_path / "human.csv"
    problems = Problems()
    export(labels, out, problems)
    assert not [row for row in problems if row.kind not in ("spreadsheet_id",)]
    found = read_labels(out, Problems())
    both = given["ann"].keys() & given["bo"].keys()
    either = given["ann"].keys() | given["bo"].keys()
    assert len(both) >= 20
    assert {c: by for c, by in found.annotations.items() if c in both} == {
        c: {"ann": given["ann"][c], "bo": given["bo"][c]} for c in both
    }
    assert len(found.annotations) == len(either)

    agreed = json.loads(judge("agree", out, judged, "--json", cwd=tmp_path).stdout.splitlines()[0])
    same = sum(given["ann"][c] == given["bo"][c] for c in both)
    decided = {c: given["ann"].get(c, given["bo"].get(c)) for c in either - both}
    decided |= {c: given["ann"][c] for c in both if given["ann"][c] == given["bo"][c]}
    right = sum(task.judged(c) == label for c, label in decided.items())
    counted = json.dumps(agreed)
    assert f'"n": {len(decided)}' in counted
    assert agreed["accuracy"] == pytest.approx(right / len(decided))
    assert same < len(both)

    rows = judge("score", judged, "--labels", out, "--where", "condition=from_scratch", "--json",
                 cwd=tmp_path).stdout  # fmt: skip
    corrected = [row for row in map(json.loads, rows.splitlines()) if "corrected" in str(row)]
    assert corrected

    told = judge("next", judged, "--kind", "support", "--labels", out, "--n", "5", "--out",
                 "more.csv", cwd=tmp_path).stdout  # fmt: skip
    assert f"{len(either)} labelled before" in told

    fitted = judge("calibrate", out, "--judge", "support", "--method",
                   "threshold", "--out",
                   "fit.json", cwd=tmp_path)  # fmt: skip
    assert f"{len(decided)} labels" in fitted.stdout + fitted.stderr


def test_texts_in_an_export_are_those_of_the_results(support, judged, labels, tmp_path):
    _, task = support
    out = tmp_path / "human.jsonl"
    export(labels, out, Problems())
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    for row in rows:
        cell = tuple(row[name] for name in task.key_names)
        assert {name: row[name] for name in ("question", "sentence", "passage")} == {
            name: task.texts(cell)[name] for name in ("question", "sentence", "passage")
        }


def test_adjudicated_labels_are_read_without_a_majority_to_take(support, judged, labels, tmp_path):
    given, task = support
    out = tmp_path / "human.jsonl"
    said = export(labels, out, Problems(), labels_as="adjudicated")
    both = given["ann"].keys() & given["bo"].keys()
    assert said.n_open == sum(given["ann"][c] != given["bo"][c] for c in both) > 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert len(rows) == len({tuple(row[name] for name in task.key_names) for row in rows})
    in_topic = [row for row in rows if row["topic_id"] == "demo-bees"]
    n_judged = sum(cell[0] == "demo-bees" for cell in task.cells)
    assert {row["probability"] for row in in_topic} == {len(in_topic) / n_judged}
    problems = Problems()
    found = corrected_scores(judged, out, problems, measures=["support_precision"])
    assert any(score.corrected is not None for score in found.scores)
    assert "no_majority" not in problems.counts()


def test_nugget_labels_fit_the_assigner(judged, labels, tmp_path):
    labels.mkdir()
    truth = truth_of(judged.parent / "in" / "labels" / "nuggets.jsonl")
    by_nugget = {(c[0], c[1], c[2]): label for c, label in truth.items()}
    people_label(labels, judged, "nuggets", by_nugget, 60)
    out = tmp_path / "human.csv"
    export(labels, out, Problems())
    examples = read_examples(out, assigner(), Problems())
    assert not examples.n_without_text
    assert {item.cell for item in examples.items} == read_labels(out, Problems()).cells.keys()
    assert all(item.inputs["answer"] and item.inputs["nugget"] for item in examples.items)


def test_an_edited_bank_is_judged_against_and_says_where_its_nuggets_are_from(
    judged, labels, tmp_path
):
    task = task_of([judged], "bank", Problems())
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
    said = export(labels, out, problems)
    assert (said.n_rows, said.n_without_importance) == (1, 1)  # the merged one
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
    other.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (done,) = import_labels([other], labels, Problems())
    assert done.n_new == 5
    said = export(labels, labels.parent / "all.jsonl", Problems())
    assert said.people == (done.name, "ann", "bo")
    assert len(read_state(labels / "imported" / f"{done.name}.events.jsonl").recent(9)) == 5


@pytest.mark.slow
def test_real_support_labels_go_round(shared_data, tmp_path):
    """TREC 2024: people's labels written as one person's, exported, are those that were read."""
    source = shared_data / "rag24_support" / "pairs.jsonl"
    rows = [json.loads(line) for line in source.open(encoding="utf-8")]
    labels = tmp_path / "labels"
    mapped = tmp_path / "pairs.jsonl"
    with mapped.open("w", encoding="utf-8") as stream:
        for row in rows:
            if row["citation_idx"] == 0:
                stream.write(json.dumps(row) + "\n")
    done = import_labels([mapped], labels, Problems())
    (person,) = done
    before = {}
    for condition in ("from_scratch", "post_edit"):
        out = tmp_path / f"{condition}.csv"
        export(labels, out, Problems(), condition=condition)
        before |= read_labels(out, Problems()).annotations
    expected = read_labels(mapped, Problems()).cells
    assert {cell: by[person.name] for cell, by in before.items()} == expected
    assert len(expected) > 3000
    print(len(expected), file=sys.stderr)
