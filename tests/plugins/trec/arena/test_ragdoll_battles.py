"""RAGDoll's arena files read as battles, and ours written so that its own sums come out."""

import csv
import json

import pytest

from nuggetjudge.plugins.trec.arena.battles import Battle, BattleVerdict
from nuggetjudge.plugins.trec.arena.kind import read_battles
from nuggetjudge.plugins.trec.arena.ragdoll import write_ragdoll_arena
from nuggetjudge.records.reading.problems import InputError, Problems

# As its `_judgment_row` writes them (src/ragdoll/arena/flows.py); texts left out.
JUDGED = {"task_id": "arena:x:y:7", "qid": "7", "query": "q", "pair": ["x", "y"], "provider": "p",
          "assistant_a_run_id": "y", "assistant_b_run_id": "x", "judge_verdict": "A",
          "preferred_run_id": "y", "model": "m", "status": "completed", "error": None,
          "raw_output": "[[A]]", "elapsed_seconds": 1.0, "usage": {}}  # fmt: skip
OTHERS = [
    {"qid": "8", "judge_verdict": "Tie (Both Bad)", "preferred_run_id": None},
    {"qid": "9", "judge_verdict": None, "status": "failed", "error": "no verdict"},
    {"qid": "10", "assistant_a_run_id": "x", "assistant_b_run_id": "y"},
]


def test_its_judgments_are_battles_of_one_order_and_a_failure_is_no_tie(tmp_path):
    path = tmp_path / "judgments.jsonl"
    rows = [JUDGED, *(JUDGED | change for change in OTHERS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    battles = list(read_battles(path, Problems()))
    assert [(b.topic_id, b.run_id, b.opponent_id, b.label) for b in battles] == [
        ("7", "x", "y", "loss"), ("8", "x", "y", "tie"), ("9", "x", "y", None),
        ("10", "x", "y", "win"),
    ]  # fmt: skip
    assert [(b.first is None, b.second is None) for b in battles] == [
        *[(True, False)] * 3, (False, True),
    ]  # fmt: skip
    assert battles[1].second == BattleVerdict(label="both_bad")


def battle(topic, one, other, label, **more):
    return Battle(topic_id=topic, run_id=one, opponent_id=other, label=label, **more)


def test_ours_are_written_as_its_four_files(tmp_path):
    battles = [
        battle("1", "x", "y", "win"), battle("2", "x", "y", "tie"), battle("3", "x", "y", None),
        battle("1", "x", "z", "loss"), battle("2", "x", "z", "win", is_forfeit=True),
    ]  # fmt: skip
    write_ragdoll_arena(tmp_path, battles, {"x": 1000.5, "y": 950.0, "z": 1049.5}, model="m")
    rows = [json.loads(line) for line in (tmp_path / "judgments.jsonl").open(encoding="utf-8")]
    assert [(r["qid"], r["judge_verdict"], r["preferred_run_id"], r["status"]) for r in rows] == [
        ("1", "A", "x", "completed"), ("2", "Tie", None, "completed"), ("3", None, None, "failed"),
        ("1", "B", "z", "completed"),
    ]  # fmt: skip

    def table(name):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    # By hand: x and y won 1 and tied 1 of the 2 that were judged; z forfeits topic 2.
    assert table("pairwise.csv")[1:] == [
        ["x", "y", "3", "2", "1", "0", "1", "0.75", "0.25"],
        ["x", "z", "1", "1", "0", "1", "0", "0.0", "1.0"],
        ["y", "z", "1", "0", "0", "0", "0", "", ""],
    ]
    assert table("leaderboard.csv") == [
        ["rank", "run_id", "arena_score", "n_judgments", "wins", "losses", "ties"],
        ["1", "z", "1049.5", "1", "1", "0", "0"],
        ["2", "x", "1000.5", "3", "1", "1", "1"],
        ["3", "y", "950.0", "2", "0", "1", "1"],
    ]
    again = list(read_battles(tmp_path / "judgments.jsonl", Problems()))
    assert [b.label for b in again] == ["win", "tie", None, "loss"]
    assert again[0].first == BattleVerdict(label="win")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"assistant_b_run_id": "y"}, "both assistants are 'y', wanted two runs"),
        ({}, "is in line 1 too, wanted once"),
    ],
)
def test_a_broken_line_is_named(tmp_path, change, what):
    path, problems = tmp_path / "judgments.jsonl", Problems()
    path.write_text(f"{json.dumps(JUDGED)}\n{json.dumps(JUDGED | change)}\n", encoding="utf-8")
    list(read_battles(path, problems))
    with pytest.raises(InputError, match=f"judgments.jsonl:2: .*{what}"):
        problems.raise_errors()
