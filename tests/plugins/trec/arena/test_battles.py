"""Battles in our file, in RAGDoll's and in labels of people: one cell, seen from one run."""

import json

import pytest

from nuggetjudge.plugins.trec.arena.battles import Battle, BattleVerdict
from nuggetjudge.plugins.trec.arena.kind import read_battles
from nuggetjudge.programs.analysis.agree import agree
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

BATTLES = [
    Battle(topic_id="t1", run_id="a", opponent_id="b", label="win",
           first=BattleVerdict(label="win"),
           second=BattleVerdict(label="win", rationale="it says more")),
    Battle(topic_id="t1", run_id="a", opponent_id="c", label="tie",
           first=BattleVerdict(label="win"), second=BattleVerdict(label="loss")),
    Battle(topic_id="t2", run_id="a", opponent_id="b", label=None,
           first=BattleVerdict(label=None), second=BattleVerdict(label="win")),
    Battle(topic_id="t2", run_id="a", opponent_id="c", label="loss", is_forfeit=True),
]  # fmt: skip


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path):
    problems = Problems()
    battles = list(read_battles(path, problems))
    problems.raise_errors()
    return battles


def test_what_is_written_is_read_back(tmp_path):
    path = write(tmp_path / "battles.jsonl", [battle.as_row() for battle in BATTLES])
    assert read(path) == BATTLES
    assert [battle.is_split for battle in BATTLES] == [False, True, False, False]
    labels = read_labels(path, Problems())
    assert labels.cells == {
        ("t1", "a", "b"): "win", ("t1", "a", "c"): "tie", ("t2", "a", "c"): "loss",
    }  # fmt: skip
    assert (labels.kind, labels.scale, labels.n_unlabelled) == (
        *("battles", ("loss", "tie", "win"), 1),
    )


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"run_id": "z"}, "wanted two runs in order"),
        ({"opponent_id": None}, "'opponent_id' is missing"),
        ({}, "is in line 1 too, wanted once"),
    ],
)
def test_what_is_no_battle_is_named_by_its_line(tmp_path, change, what):
    rows = [BATTLES[0].as_row(), BATTLES[0].as_row() | change]
    with pytest.raises(InputError, match=f"battles.jsonl:2: .*{what}"):
        read(write(tmp_path / "battles.jsonl", rows))


def test_a_label_that_is_none_is_listed_and_not_judged(tmp_path):
    path, problems = tmp_path / "battles.jsonl", Problems()
    write(path, [BATTLES[0].as_row() | {"label": "better"}])
    assert [battle.label for battle in read_battles(path, problems)] == [None]
    assert "'better', wanted loss, tie, win; not judged" in str(problems.rows)


def test_a_persons_label_is_the_same_whichever_run_they_name_first(tmp_path):
    battles = write(tmp_path / "battles.jsonl", [battle.as_row() for battle in BATTLES])
    people = write(tmp_path / "people.jsonl", [
        {"topic_id": "t1", "run_id": "b", "opponent_id": "a", "label": "b"},  # a is better
        {"topic_id": "t1", "run_id": "a", "opponent_id": "c", "label": "model_a"},
        {"topic_id": "t2", "run_id": "c", "opponent_id": "a", "label": "win"},
    ])  # fmt: skip
    agreement = agree(people, battles, Problems())
    assert (agreement["kind"], agreement["n"]) == ("battles", 3)
    assert agreement["accuracy"] == pytest.approx(2 / 3)
    assert agreement["confusion"] == [[1, 0, 0], [0, 0, 0], [0, 1, 1]]  # rows: people


def test_two_bad_answers_are_a_tie_unless_the_judges_own_labels_are_asked_for(tmp_path):
    path = tmp_path / "people.jsonl"
    ids = {"topic_id": "t1", "run_id": "b", "opponent_id": "a"}
    write(path, [{**ids, "label": "tie (bothbad)"}, {**ids, "topic_id": "t2", "label": "win"}])
    assert list(read_labels(path, Problems()).cells.values()) == ["tie", "loss"]
    of_judge = read_labels(path, Problems(), scale=("b", "both_bad", "tie", "a"))
    assert list(of_judge.cells.values()) == ["both_bad", "b"]
