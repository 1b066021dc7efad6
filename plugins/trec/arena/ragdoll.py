"""RAGDoll's arena: read its judgments.jsonl as battles, and write battles as its four files.

Its layout (castorini/RAGDoll, src/ragdoll/arena): one battle a line, judged in one order that is
drawn from a seed; `judge_verdict` is A, B, Tie, Tie (Both Bad), or null if `status` is failed.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import orjson

from ....records.kinds import Cell
from ....records.reading.fields import Line, show
from ....records.writing import write_file
from .battles import (
    VERDICT_SCALE,
    Battle,
    BattleVerdict,
    battle_label,
    check_once,
    in_order,
    join_orders,
    swap_sides,
)

JUDGMENTS, PAIRWISE, COVERAGE, LEADERBOARD = (
    *("judgments.jsonl", "pairwise.csv", "coverage.csv", "leaderboard.csv"),
)
_VERDICTS = {"win": "A", "loss": "B", "tie": "Tie"}


def ragdoll_battles(lines: Iterable[Line]) -> Iterator[tuple[Line, Battle]]:
    """Yield the battles of a judgments.jsonl, each with its line. A failed one is not judged.

    Errors reported: a missing id, a battle of a run with itself, a repeated battle. A battle with
    an unknown verdict is listed and counts as not judged.
    """
    seen: dict[Cell, int] = {}
    for line in lines:
        topic_id, a, b = (
            line.id(name) for name in ("qid", "assistant_a_run_id", "assistant_b_run_id")
        )
        if topic_id is None or a is None or b is None:
            continue
        if a == b:
            line.error("battle", f"both assistants are {a!r}, wanted two runs")
            continue
        label = _verdict(line) if line.row.get("status") == "completed" else None
        run_id, opponent_id, of_run = in_order(a, b, label)
        if not check_once(line, (topic_id, run_id, opponent_id), seen):
            continue
        verdict = BattleVerdict.model_validate({"label": of_run})
        order = {"first": verdict} if run_id == a else {"second": verdict}
        yield (
            line,
            Battle(
                topic_id=topic_id,
                run_id=run_id,
                opponent_id=opponent_id,
                label=join_orders(verdict.label, verdict.label),
                **order,
            ),
        )


def _verdict(line: Line) -> str | None:
    written = line.row.get("judge_verdict")
    label = battle_label(written, VERDICT_SCALE) if written else None
    if label in VERDICT_SCALE:
        return label
    what = f"field 'judge_verdict' is {show(written)}, wanted A, B, Tie or Tie (Both Bad)"
    line.keep("label", f"{what}; not judged")
    return None


def write_ragdoll_arena(
    folder: Path,
    battles: Sequence[Battle],
    scores: Mapping[str, float],
    *,
    model: str = "",
    queries: Mapping[str, str] | None = None,
) -> None:
    """Write battles as judgments.jsonl, pairwise.csv, coverage.csv and leaderboard.csv.

    A battle is one line: `run_id` is assistant A, and the verdict is the result of both orders. A
    battle that was not judged has the status failed. Forfeits are left out, because an answer is
    missing.

    Args:
        scores: run -> strength as a rating; the runs of the leaderboard.
        queries: topic -> question.
    """
    fought = [battle for battle in battles if not battle.is_forfeit]
    lines = (orjson.dumps(_judgment(x, model, queries or {})) + b"\n" for x in fought)
    write_file(folder / JUDGMENTS, b"".join(lines))
    topics: dict[str, set[str]] = {run: set() for run in sorted(scores)}
    absent = {(x.topic_id, _forfeiting(x)) for x in battles if x.is_forfeit}
    for battle in battles:
        for run in (battle.run_id, battle.opponent_id):
            if (battle.topic_id, run) not in absent:
                topics.setdefault(run, set()).add(battle.topic_id)
    coverage = [_coverage(a, b, topics[a], topics[b]) for a, b in combinations(sorted(topics), 2)]
    write_file(folder / COVERAGE, _csv(coverage))
    write_file(folder / PAIRWISE, _csv([_pair(row, fought) for row in coverage]))
    best = sorted(scores, key=lambda run: (-scores[run], run))
    ranked = [_standing(rank, run, scores[run], fought) for rank, run in enumerate(best, 1)]
    write_file(folder / LEADERBOARD, _csv(ranked))


def _judgment(battle: Battle, model: str, queries: Mapping[str, str]) -> dict[str, Any]:
    a, b, label = battle.run_id, battle.opponent_id, battle.label
    preferred = {"win": a, "loss": b}.get(label or "")
    return {
        "task_id": f"arena:{a}:{b}:{battle.topic_id}",
        "qid": battle.topic_id,
        "query": queries.get(battle.topic_id, ""),
        "pair": [a, b],
        "assistant_a_run_id": a,
        "assistant_b_run_id": b,
        "judge_verdict": None if label is None else _VERDICTS[label],
        "preferred_run_id": preferred,
        "model": model,
        "status": "failed" if label is None else "completed",
        "error": "not judged" if label is None else None,
    }


def _forfeiting(battle: Battle) -> str:
    return battle.opponent_id if battle.label == "win" else battle.run_id


def _coverage(a: str, b: str, of_a: set[str], of_b: set[str]) -> dict[str, Any]:
    return {
        **{"run_a": a, "run_b": b, "run_a_topics": len(of_a), "run_b_topics": len(of_b)},
        "shared_topics": len(of_a & of_b),
        **{"run_a_only_topics": len(of_a - of_b), "run_b_only_topics": len(of_b - of_a)},
    }


def _pair(row: Mapping[str, Any], battles: Iterable[Battle]) -> dict[str, Any]:
    a, b = row["run_a"], row["run_b"]
    counts = Counter(x.label for x in battles if (x.run_id, x.opponent_id) == (a, b))
    n = counts.total() - counts[None]
    half = counts["tie"] / 2
    rates = [round((counts[of] + half) / n, 6) if n else "" for of in ("win", "loss")]
    return {
        **{"run_a": a, "run_b": b, "shared_topics": row["shared_topics"], "valid_judgments": n},
        **{"run_a_wins": counts["win"], "run_b_wins": counts["loss"], "ties": counts["tie"]},
        **{"run_a_preference_rate": rates[0], "run_b_preference_rate": rates[1]},
    }


def _standing(rank: int, run: str, score: float, battles: Iterable[Battle]) -> dict[str, Any]:
    own: Counter[str] = Counter()
    for battle in battles:
        if battle.label is not None and run in (battle.run_id, battle.opponent_id):
            own[battle.label if run == battle.run_id else swap_sides(battle.label)] += 1
    return {
        **{"rank": rank, "run_id": run, "arena_score": round(score, 6)},
        **{"n_judgments": own.total(), "wins": own["win"], "losses": own["loss"]},
        "ties": own["tie"],
    }


def _csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    if rows:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue().encode()
