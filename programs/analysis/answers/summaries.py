"""Three questions of a results folder: what is in it, where a run loses, what a topic's runs miss.

Each is answered as a dict that is ready for JSON; `judge show` prints it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ....records.reading.problems import Problems
from ....records.rows import ScoreRow
from ....records.scores import score_row
from ...engine.manifest import dependence_notes, read_manifest
from .overlap import by_words
from .points import STANDINGS, Point, TopicAnswers, means_of, measure_of, topics_of
from .views import check_name

_RESTS_ON = ("n", "n_unjudged", "low", "high")


def folder_summary(folder: Path, problems: Problems, measure: str | None = None) -> dict[str, Any]:
    """What is in a folder: runs best first, topics worst first, and what every run misses."""
    manifest, means = read_manifest(folder), means_of(folder, problems)
    by = measure_of(folder, means, measure)
    runs = manifest["data"].get("run_ids", [])
    answered: Counter[str] = Counter()
    topics, missed = [], []
    for of_topic in topics_of(folder, problems):
        answered.update(of_topic.answered)
        values = [of_topic.value(run, by) for run in runs] if by is not None else []
        judged = [value for value in values if value is not None]
        by_none = [point for point in of_topic.points.values() if _is_missed_by_all(point)]
        missed += by_none
        topics.append(
            {
                "topic_id": of_topic.topic_id,
                "question": of_topic.question,
                "mean": sum(judged) / len(judged) if judged else None,
                "n_answered": len(of_topic.answered),
                "n_points": len(of_topic.points),
                "n_missed_by_all": len(by_none),
            }
        )
    rows = [
        {
            "run_id": run,
            "n_answered": answered[run],
            **_figures(means.get(run, {}), by, ("value", *_RESTS_ON)),
        }
        for run in runs
    ]
    return {
        "folder": str(folder),
        **_about(manifest, by),
        "n_answers": answered.total(),
        "runs": sorted(rows, key=lambda row: -_number(row["value"], -1.0)),
        "topics": sorted(topics, key=lambda row: _number(row["mean"], 2.0)),
        "missed_by_all": [point.as_row() for point in sorted(missed, key=_vital_first)],
    }


def run_summary(
    folder: Path, run: str, problems: Problems, measure: str | None = None
) -> dict[str, Any]:
    """Where a run loses: its topics, worst first, and what it misses, by how many state it."""
    manifest, means = read_manifest(folder), means_of(folder, problems)
    runs = manifest["data"].get("run_ids", [])
    check_name(folder, "run", run, runs)
    by = measure_of(folder, means, measure)
    topics, missed = [], []
    seen: dict[tuple[str, str, str | None], None] = {}  # kinds of points
    for of_topic in topics_of(folder, problems):
        stands = of_topic.standing.get(run, {})
        seen |= {(p.program, p.unit, p.importance): None for p in of_topic.points.values()}
        missed += [
            point.as_row() | {"standing": stands[key]}
            for key, point in of_topic.points.items()
            if stands.get(key) in ("missed", "partly")
        ]
        topics.append(_topic_of_run(of_topic, run, runs, by))
    missed.sort(key=lambda row: (row["importance"] == "okay", -row["n"]["stated"]))
    topics.sort(key=lambda row: (_number(row["value"], 2.0), row["topic_id"]))
    units = [unit for _, unit, _ in seen]
    return {
        "run_id": run,
        **_about(manifest, by),
        "n_answered": sum(row["is_answered"] for row in topics),
        "unit": units[0] if units else None,
        "has_vital": any(importance is not None for _, _, importance in seen),
        "means": [score_row(row) for row in means.get(run, {}).values()],
        "topics": topics,
        "missed": missed,
    }


def topic_summary(
    folder: Path, topic: str, problems: Problems, measure: str | None = None
) -> dict[str, Any]:
    """What the runs miss of one topic: its points, most missed first, and each run's standing."""
    manifest, means = read_manifest(folder), means_of(folder, problems)
    by = measure_of(folder, means, measure)
    [answers] = topics_of(folder, problems, topic=topic)
    runs = manifest["data"].get("run_ids", [])
    points = sorted(answers.points.items(), key=lambda each: _vital_first(each[1]))
    rows = [
        _topic_of_run(answers, run, runs, by)
        | {"points": [answers.standing.get(run, {}).get(key) for key, _ in points]}
        for run in runs
    ]
    rows.sort(key=lambda row: (-_number(row["value"], -1.0), row["run_id"]))
    return {
        "topic_id": topic,
        "question": answers.question,
        **_about(manifest, by),
        "n_answered": len(answers.answered),
        "points": [point.as_row() for _, point in points],
        "runs": rows,
    }


def _about(manifest: Mapping[str, Any], by: str | None) -> dict[str, Any]:
    data = manifest["data"]
    return {
        "programs": manifest["config"]["program"],
        "measure": by,
        "n_runs": len(data.get("run_ids", ())),
        "n_topics": len(data.get("topic_ids", ())),
        "n_judged": sum(manifest["judged"].values()),
        "n_unjudged": sum(manifest["unjudged"].values()),
        "unjudged_by_reason": manifest.get("unjudged_by_reason", {}),
        "word_overlap": by_words(manifest),
        "dependence": list(dependence_notes(manifest)),
    }


def _topic_of_run(
    of_topic: TopicAnswers, run: str, runs: Sequence[str], by: str | None
) -> dict[str, Any]:
    stands = of_topic.standing.get(run, {})
    points = {
        name: sum(of_topic.points[key].is_vital for key, stand in stands.items() if stand == name)
        for name in STANDINGS
    }
    counts = {
        program: {label or "unjudged": n for label, n in labels.items()}
        for program, labels in of_topic.counts.get(run, {}).items()
    }
    return {
        "run_id": run,
        "topic_id": of_topic.topic_id,
        "question": of_topic.question,
        "is_answered": run in of_topic.scores,
        "not_made": of_topic.not_made.get(run),
        "value": of_topic.value(run, by) if by is not None else None,
        "rank": of_topic.rank(run, by, runs) if by is not None else None,
        **_figures(of_topic.scores.get(run, {}), by, _RESTS_ON),
        "vital": points,
        "labels": counts,
    }


def _figures(
    scores: Mapping[str, ScoreRow], by: str | None, names: Sequence[str]
) -> dict[str, Any]:
    row = scores.get(by or "")
    return {name: getattr(row, name) if row is not None else None for name in names}


def _is_missed_by_all(point: Point) -> bool:
    return not (point.n["stated"] or point.n["partly"] or point.n["unjudged"])


def _vital_first(point: Point) -> tuple[bool, int, int]:
    return (not point.is_vital, -point.n["missed"], point.n["stated"])


def _number(value: float | None, without: float) -> float:
    return without if value is None else value
