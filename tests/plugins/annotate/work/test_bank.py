"""Edits of nuggets make a bank that `judge run --nuggets` reads, with where each came from."""

import csv
import json

import numpy as np
import pytest
from json_lines import write_rows

import nuggetjudge as nj
from nuggetjudge.plugins.annotate.store.events import BankEdit, Label, Undo
from nuggetjudge.plugins.annotate.store.journal import Journal, read_state
from nuggetjudge.plugins.annotate.work.bank import EditedBank
from nuggetjudge.plugins.annotate.work.next_labels import make_people_sheet
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.plugins.annotate.work.verify import verification_rows
from nuggetjudge.plugins.collections.verification import fate, read_verification
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.records.nuggets import read_nugget_banks
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.rows import Importance, Nugget, NuggetBank

from .conftest import DEMO

START = NuggetBank(
    topic_id="t",
    query="why",
    nuggets=tuple(
        Nugget(id=name, text=f"fact {name}", importance=Importance.VITAL, sources=(f"p{name}",))
        for name in "abcd"
    ),
)


def edit(op, *sources, texts=(), importance=None, n=[0]):  # noqa: B006  counts the edits
    n[0] += 1
    return BankEdit(
        id=f"edit-{n[0]:>05}", topic_id="t", op=op, sources=sources, texts=texts,
        importance=importance,
    )  # fmt: skip


def shown(bank):
    return [(one.nugget.text, one.roots) for one in bank.nuggets.values()]


def test_each_edit_changes_what_it_names_and_lineage_is_kept():
    bank = EditedBank.of(START)
    assert {one.nugget.importance for one in bank.nuggets.values()} == {None}
    bank.edit(edit("edit", "a", texts=["fact A"]))
    bank.edit(edit("delete", "b"))
    bank.edit(edit("split", "c", texts=["c one", "c two"]))
    bank.edit(edit("add", texts=[" new "]))
    names = {one.nugget.text: name for name, one in bank.nuggets.items()}
    bank.edit(edit("merge", names["c two"], names["fact A"], texts=["both"]))
    assert shown(bank) == [
        ("c one", ("c",)),
        ("both", ("c", "a")),
        ("fact d", ("d",)),
        ("new", ()),
    ]
    assert next(one for one in bank.nuggets.values() if one.roots == ("c", "a")).nugget.sources == (
        "pc",
        "pa",
    )


def test_importance_comes_last_and_orders_the_bank():
    bank = EditedBank.of(START, [edit("importance", "b", "d", importance="vital")])
    bank.edit(edit("importance", "a", importance="okay"))
    edited = bank.as_bank()
    assert [(one.id, one.importance) for one in edited.nuggets] == [
        ("b", "vital"),
        ("d", "vital"),
        ("a", "okay"),
        ("c", None),
    ]
    bank.edit(edit("edit", "a", texts=["A"]))  # wording mended: as important as before
    bank.edit(edit("merge", "b", "d", texts=["BD"]))
    by_text = {one.nugget.text: one.nugget.importance for one in bank.nuggets.values()}
    assert by_text == {"A": "okay", "BD": "vital", "fact c": None}
    (both,) = (name for name, one in bank.nuggets.items() if one.nugget.text == "BD")
    bank.edit(edit("split", both, texts=["B", "D"]))
    assert {one.nugget.importance for one in bank.nuggets.values()} == {"okay", None}


def test_an_id_is_never_given_twice_though_its_nugget_is_gone():
    bank = EditedBank.of(START)
    for _ in range(3):
        bank.edit(edit("add", texts=["same"]))
    names = [name for name, one in bank.nuggets.items() if one.nugget.text == "same"]
    bank.edit(edit("delete", names[0]))
    bank.edit(edit("add", texts=["same"]))
    assert len(bank.used_ids) == 8
    assert names[1:] == [f"{names[0]}-2", f"{names[0]}-3"]
    assert f"{names[0]}-4" in bank.nuggets


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (edit("edit", "z", texts=["x"]), "no nugget 'z' in topic t"),
        (edit("edit", "a", texts=[" "]), "a text is empty"),
        (edit("edit", "a", texts=["x" * 2001]), "a text is 2,001 characters, wanted 1 to 2,000"),
        (edit("merge", "a", texts=["x"]), "merge: 1 nuggets, wanted 2 or more"),
        (edit("merge", "a", "a", texts=["x"]), "one nugget is named twice"),
        (edit("split", "a", texts=["x"]), "split: 1 texts, wanted 2 or more"),
        (edit("add", "a", texts=["x"]), "add: 1 nuggets, wanted 0"),
        (edit("delete", "a", texts=["x"]), "delete: 1 texts, wanted 0"),
    ],
)
def test_an_edit_that_cannot_be_made_says_what_was_wanted_and_changes_nothing(wrong, what):
    bank = EditedBank.of(START)
    with pytest.raises(ValueError, match=what):
        bank.edit(wrong)
    assert shown(bank) == shown(EditedBank.of(START))


def test_an_undone_edit_is_none(tmp_path):
    with_undo = Journal(tmp_path, "ann")
    for event in (edit("delete", "a"), edit("delete", "b"), Undo(id="undo-0001")):
        with_undo.add(event)
    with_undo.close()
    edits = read_state(with_undo.path).edits("t")
    assert list(EditedBank.of(START, edits).nuggets) == ["b", "c", "d"]


def test_judges_read_the_bank_that_people_made(folder, tmp_path):
    task = read_task([folder], "bank", Problems())
    assert len(task.cells) == 5
    (topic,) = next(cell for cell in task.cells if cell == ("demo-bees",))
    assert [one.id for one in task.bank.passages(topic)][:2] == ["bees-01", "bees-03"]
    assert task.bank.question(topic) == "how do honey bees survive the winter"
    bank = EditedBank.of(task.bank.banks[topic])
    first, second, *others = bank.nuggets
    edits = [edit("merge", first, second, texts=["bees cluster"], importance="vital")]
    edits += [edit("importance", *others, importance="okay")]
    for one in edits:
        bank.edit(one)
    path = tmp_path / "nuggets.jsonl"
    path.write_text(json.dumps(bank.as_row()) + "\n", encoding="utf-8")
    problems = Problems()
    read = read_nugget_banks(path, problems)
    assert read[topic] == bank.as_bank()
    assert problems.rows == []
    assert bank.as_row()["nuggets"][0]["from"] == [first, second]
    assert bank.as_row()["condition"] == "edited"
    result = nj.run(
        DEMO / "judge.yaml", program=["nuggets"], out=tmp_path / "out", **{"data.nuggets": path}
    )
    rows = [row for row in result.judgements["nuggets"] if row["qid"] == topic]
    assert {one["id"] for row in rows for one in row["nuggets"]} == set(bank.nuggets)


@pytest.mark.slow
def test_passages_are_those_named_or_relevant_and_else_those_most_answers_cite(folder, tmp_path):
    inputs = {"data.candidates": None, "data.qrels": None, "data.nuggets": DEMO / "nuggets.jsonl"}
    nj.run(DEMO / "judge.yaml", program=["nuggets"], out=tmp_path / "out", **inputs)
    bank = read_task([tmp_path / "out"], "bank", Problems()).bank
    cited = {}
    for path in (DEMO / "runs").glob("*.jsonl"):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            if row.get("topic_id", row.get("narrative_id")) == "demo-bees":
                used = {name for each in row["answer"] for name in each["citations"]}
                names = [row["references"][one] if isinstance(one, int) else one for one in used]
                for name in names:
                    cited.setdefault(name, set()).add(path)
    by_hand = sorted(cited, key=lambda name: (-len(cited[name]), name))
    assert len(by_hand) > 3
    assert [one.id for one in bank.passages("demo-bees")] == by_hand


def test_a_folder_without_nuggets_says_so(tmp_path):
    with pytest.raises(InputError, match=r"has no nuggets\.jsonl, so there are no nuggets to edit"):
        read_task([tmp_path], "bank", Problems())


# What people say of key points is a sheet that `judge build long2rag --verified` reads.
def test_answers_become_the_sheet_that_a_build_reads(folder, tmp_path):
    task = read_task([folder], "verify", Problems())
    one, other, third = list(task.points)[:3]

    def answered(cell, part, label, **more):
        name = f"{'-'.join(cell)}-{part}"[-60:]
        return Label(id=name, kind="verify", cell=(*cell, part), label=label, **more)

    labels = {
        "ann": [
            answered(one, "grounded", "yes"),
            answered(one, "key_point", "no", rationale="beside it"),
            answered(other, "grounded", "yes"), answered(other, "key_point", "yes"),
            answered(third, "grounded", None), answered(third, "key_point", "no", repeat=1),
        ],
        "bob": [answered(other, "grounded", "yes")],
    }  # fmt: skip
    rows = list(verification_rows(task.points, labels))
    path = tmp_path / "verification.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    problems = Problems()
    verified = read_verification([path], task.points, problems)
    assert problems.rows == []
    fates = {cell: fate(verified, cell) for cell in (one, other, third)}
    assert fates == {one: "rejected", other: "kept", third: "open"}
    assert verified["grounded"].annotations[other] == {"ann": "yes", "bob": "yes"}
    assert verified["key_point"].rationales[one] == "beside it"


# What a cascade left to people as a sheet, and scores that are right with its labels.
TOPICS, ITEMS = 10, 40


@pytest.fixture
def judged(tmp_path):
    """Of each topic half is kept, nearly all grade 3, of which people say so to 9 in 10; of what is
    left to people they say so to 1 in 10."""
    path, truth = tmp_path / "judged.jsonl", {}
    with path.open("w", encoding="utf-8") as file:
        for i in range(TOPICS * ITEMS):
            topic, number = f"t{i % TOPICS}", i // TOPICS
            is_kept = number % 2 == 0
            says = number % 20 not in (4, 5) if is_kept else number % 20 == 5
            truth[topic, f"p{i}"] = "3" if says else "0"
            grade = (3 if number % 20 != 8 else 0) if is_kept else None
            row = {"topic_id": topic, "passage_id": f"p{i}", "grade": grade}
            file.write(json.dumps({**row, "question": "q", "passage": "p"}) + "\n")
    return path, truth


def filled(path, rows, truth, which=("cascade", "random")):
    labelled = [
        {**row, "label": truth[row["topic_id"], row["passage_id"]]}
        for row in rows
        if row["chosen_by"] in which
    ]
    write_rows(path, labelled)
    return path


def test_the_sheet_has_all_that_was_left_and_a_random_part_of_what_was_kept(judged):
    path, _ = judged
    sheet = make_people_sheet(path, Problems(), kind="relevance", n_kept=50)
    assert sheet.n_by == {"cascade": 200, "random": 50}
    by = {name: [r for r in sheet.rows if r["chosen_by"] == name] for name in sheet.n_by}
    assert {row["probability"] for row in by["cascade"]} == {1.0}
    assert {row["probability"] for row in by["random"]} == {5 / 20}
    assert {row["label"] for row in sheet.rows} == {None}
    few = make_people_sheet(path, Problems(), kind="relevance", n=40, n_kept=0)
    assert few.n_by == {"cascade": 40, "random": 0}
    assert {row["probability"] for row in few.rows} == {4 / 20}


def test_each_part_counts_as_much_as_there_is_of_it(judged, tmp_path):
    """All left items are labelled and half of the kept: taken alike, they would say 0.37."""
    path, truth = judged
    share = np.mean([label == "3" for label in truth.values()])
    corrected = []
    for seed in range(12):
        sheet = make_people_sheet(path, Problems(), kind="relevance", n_kept=100, seed=seed)
        labels = filled(tmp_path / "people.jsonl", sheet.rows, truth)
        (score, *_) = correct_scores(path, labels, Problems()).scores
        corrected.append(score.corrected)
    assert np.mean([figure.value for figure in corrected]) == pytest.approx(share, abs=0.012)
    inside = [figure.of_these.low <= share <= figure.of_these.high for figure in corrected]
    assert np.mean(inside) >= 0.8


def test_without_a_random_part_no_score_is_corrected(judged, tmp_path):
    path, truth = judged
    sheet = make_people_sheet(path, Problems(), kind="relevance", n_kept=50)
    labels = filled(tmp_path / "people.jsonl", sheet.rows, truth, which=("cascade",))
    with pytest.raises(InputError, match="cannot be corrected without a random part"):
        correct_scores(path, labels, Problems())


def test_what_cannot_be_a_sheet_is_refused(judged, tmp_path):
    path, _ = judged
    with pytest.raises(InputError, match="wanted 10 or more, one a topic"):
        make_people_sheet(path, Problems(), kind="relevance", n_kept=3)
    whole = tmp_path / "whole.jsonl"
    lines = [line for line in path.open(encoding="utf-8") if "null" not in line]
    whole.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="every item has a label"):
        make_people_sheet(whole, Problems(), kind="relevance")
