"""Labels of two people, exported, are read by agree, calibrate, score, next and run."""

import json
import os

import pytest
from given_labels import keep, new_id
from processes import JUDGE, run

import nuggetjudge as nj
from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.judges import NuggetAssigner, SupportJudge
from nuggetjudge.plugins.annotate.out.exporting import export
from nuggetjudge.plugins.annotate.out.importing import import_labels
from nuggetjudge.plugins.annotate.store.events import BankEdit, Label
from nuggetjudge.plugins.annotate.store.journal import read_state
from nuggetjudge.plugins.annotate.store.sources import keep_source
from nuggetjudge.plugins.annotate.work.next_labels import next_labels
from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.queue_files import load_queue
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.nuggets import read_nugget_banks
from nuggetjudge.records.reading.problems import Problems

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
    assert f"{len(either)} labelled before" in printed
    fit = ["--judge", "support", "--method", "threshold", "--out", "fit.json"]
    fitted = judge("calibrate", out, *fit, cwd=tmp_path)
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
    exported = export(labels, out, Problems(), labels_as="adjudicated")
    both = given["ann"].keys() & given["bo"].keys()
    assert exported.n_open == sum(given["ann"][c] != given["bo"][c] for c in both) > 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
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
    other.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (done,) = import_labels([other], labels, Problems())
    assert done.n_new == 5
    exported = export(labels, labels.parent / "all.jsonl", Problems())
    assert exported.people == (done.name, "ann", "bo")
    assert len(read_state(labels / "imported" / f"{done.name}.events.jsonl").recent(9)) == 5


@pytest.mark.slow
def test_real_support_labels_go_round(shared_data, tmp_path):
    """TREC 2024: people's labels under two conditions, imported and exported, are all there."""
    source = shared_data / "rag24_support" / "pairs.jsonl"
    rows = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
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
    judged.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
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
