"""Three questions about a results folder: what it has, where a run fails, what runs miss.

Each answer is a dict ready for JSON; `judge show` prints it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from ....records.reading.problems import InputError, Problems, did_you_mean
from ....records.rows import ScoreRow
from ....records.scores import score_row, score_rows
from ...engine.manifest import dependence_notes, read_manifest
from ...protocols.judgements import TopicFiles
from ...protocols.program import Folder
from ...protocols.table import choose, is_of_answered, meaning, programs
from .answer_text import find_lexical_judges
from .views import (
    SCORES,
    AnswerView,
    Judged,
    Standing,
    check_name,
    label_standings,
    read_answer_views,
)

_RESTS_ON = ("n", "n_unjudged", "low", "high")


def summarise_folder(
    folder: Path, problems: Problems, measure: str | None = None
) -> dict[str, Any]:
    """Summarise a folder: runs best first, topics worst first, and what all runs miss."""
    manifest, means = read_manifest(folder), read_means(folder, problems)
    by = choose_measure(folder, means, measure)
    runs = manifest["data"].get("run_ids", [])
    answered: Counter[str] = Counter()
    topics, missed = [], []
    for of_topic in read_topics_of_answers(folder, problems):
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


def summarise_run(
    folder: Path, run: str, problems: Problems, measure: str | None = None
) -> dict[str, Any]:
    """Summarise a run: topics worst first, and what it misses, by how many runs state it."""
    manifest, means = read_manifest(folder), read_means(folder, problems)
    runs = manifest["data"].get("run_ids", [])
    check_name(folder, "run", run, runs)
    by = choose_measure(folder, means, measure)
    topics, missed = [], []
    seen: dict[tuple[str, str, str | None], None] = {}  # kinds of reference items
    for of_topic in read_topics_of_answers(folder, problems):
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


def summarise_topic(
    folder: Path, topic: str, problems: Problems, measure: str | None = None
) -> dict[str, Any]:
    """Summarise a topic: reference items, most missed first, and each run's result."""
    manifest, means = read_manifest(folder), read_means(folder, problems)
    by = choose_measure(folder, means, measure)
    [answers] = read_topics_of_answers(folder, problems, topic=topic)
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
        "word_overlap": find_lexical_judges(manifest),
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
        "failed": of_topic.failed.get(run),
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


STANDINGS: tuple[Standing, ...] = ("stated", "partly", "missed", "unjudged")
_ALL = "all"


@dataclass
class Point:
    """A reference item (nugget, key point or sub-question), and how many answers state it."""

    topic_id: str
    program: str
    unit: str
    item: str
    text: str
    importance: str | None
    n: Counter[str] = field(default_factory=Counter)  # number of answers by standing

    def as_row(self) -> dict[str, Any]:
        """Return a dict for JSON, with a count for each standing."""
        return asdict(self) | {"n": {name: self.n[name] for name in STANDINGS}}

    @property
    def is_vital(self) -> bool:
        """Whether it is vital; items without an importance count as vital."""
        return self.importance in (None, "vital")


@dataclass
class TopicAnswers:
    """The answers of all runs to one topic.

    Attributes:
        points: reference items by task and item, in file order. standing: run -> standing of each.
        counts: by run and task, counts of labels of other judgements; None: not judged.
        scores: by run and measure. answered: runs with an answer, or one that could not be made.
        is_by_own_topics: whether a missing answer has no value of a measure, see `Program`.
    """

    topic_id: str
    question: str = ""
    points: dict[tuple[str, str], Point] = field(default_factory=dict)
    standing: dict[str, dict[tuple[str, str], Standing]] = field(default_factory=dict)
    counts: dict[str, dict[str, Counter[str | None]]] = field(default_factory=dict)
    scores: dict[str, dict[str, ScoreRow]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    is_by_own_topics: Callable[[str], bool] = lambda measure: False

    @property
    def answered(self) -> list[str]:
        """Runs with an answer, or with one that could not be made."""
        return list(self.scores)

    def value(self, run: str, measure: str) -> float | None:
        """Return a run's value; 0 for an unanswered topic; None: no value, or not judged."""
        if run in self.scores:
            row = self.scores[run].get(measure)
            return row.value if row is not None else None
        has_some = any(measure in of for of in self.scores.values())
        is_of_own = self.is_by_own_topics(measure) or is_of_answered(measure)
        return 0.0 if has_some and not is_of_own else None

    def rank(self, run: str, measure: str, runs: Sequence[str]) -> int | None:
        """Return the 1-based rank of a run among runs with a value."""
        own = self.value(run, measure)
        values = [self.value(one, measure) for one in runs]
        return None if own is None else 1 + sum(v is not None and v > own for v in values)

    def add(self, view: AnswerView, eta: int) -> None:
        """Count an answer."""
        self.question = self.question or view.question
        self.scores[view.run_id] = {row.measure: row for row in view.score_rows}
        if view.failed:
            self.failed[view.run_id] = view.failed
        for judged in view.judged:
            if not judged.is_point:
                of_run = self.counts.setdefault(view.run_id, {})
                of_run.setdefault(judged.program, Counter())[judged.label] += 1
                continue
            key, stands = (judged.program, judged.item), standing(judged, eta)
            if key not in self.points:
                texts = (judged.unit, judged.item, judged.text, judged.importance)
                self.points[key] = Point(self.topic_id, judged.program, *texts)
            self.points[key].n[stands] += 1
            self.standing.setdefault(view.run_id, {})[key] = stands


def standing(judged: Judged, eta: int) -> Standing:
    """Return whether an answer states a reference item: in full, in part or not.

    Args:
        eta: the lowest rating with which a text answers a sub-question; lower ratings above 0
            count as in part.
    """
    label = judged.label
    if label is None:
        return "unjudged"
    if label.isdecimal():
        return "stated" if int(label) >= eta else "partly" if int(label) else "missed"
    return label_standings(judged.program).get(label, "missed")


def read_topics_of_answers(
    folder: Path, problems: Problems, *, topic: str | None = None
) -> Iterator[TopicAnswers]:
    """Yield the answers of all runs, topic by topic; topics without answers have no points."""
    about = Folder(folder, problems)
    eta = int(about.setting("coverage", "eta") or 0)
    programs = choose(about.programs)
    wanted = iter(about.topics or () if topic is None else [topic])

    def is_by_own_topics(measure: str) -> bool:
        return any(program.is_by_own_topics(measure, about) for program in programs)

    views = read_answer_views(folder, problems, topic=topic, with_texts=False)
    for topic_id, of_topic in groupby(views, lambda view: view.topic_id):
        for name in wanted:
            topic_answers = TopicAnswers(name, is_by_own_topics=is_by_own_topics)
            if name == topic_id:
                for view in of_topic:
                    topic_answers.add(view, eta)
            yield topic_answers
            if name == topic_id:
                break
    yield from map(partial(TopicAnswers, is_by_own_topics=is_by_own_topics), wanted)


def read_means(folder: Path, problems: Problems) -> dict[str, dict[str, ScoreRow]]:
    """Read the means of runs, by run and measure."""
    files = TopicFiles(Folder(folder, problems).file, problems, topic=_ALL)
    means: dict[str, dict[str, ScoreRow]] = {}
    for _, row in score_rows(files.of(_ALL)(SCORES)):
        means.setdefault(row.run_id, {})[row.measure] = row
    return means


def choose_measure(
    folder: Path, means: Mapping[str, Mapping[str, ScoreRow]], wanted: str | None
) -> str | None:
    """Return the measure to order by; None without scores. Raises: InputError if unknown."""
    names = list(dict.fromkeys(name for of_run in means.values() for name in of_run))
    if wanted is not None and wanted not in names:
        what = f"wanted one of {', '.join(names)}" if names else "it has no scores"
        raise InputError(
            f"{folder}: has no measure {wanted!r}; {what}{did_you_mean(wanted, names)}"
        )
    first = [wanted] if wanted is not None else [name for name in _first() if name in names]
    return next(iter([*first, *names]), None)


def _first() -> list[str]:
    """Return the measures to order by if the user names none; the first available counts."""
    every = ((name, meaning(name).orders) for one in programs() for name in one.meanings)
    return [name for name, place in sorted(every, key=lambda each: each[1]) if place]
