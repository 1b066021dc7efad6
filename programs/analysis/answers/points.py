"""What answers have and miss of what they are compared with: nuggets, key points, criteria ..."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from ....records.reading.problems import InputError, Problems, did_you_mean
from ....records.rows import ScoreRow
from ....records.scores import score_rows
from ...protocols.pieces import TopicFiles
from ...protocols.program import Folder
from ...protocols.table import chosen, is_of_answered, meaning, programs
from .views import SCORES, AnswerView, Judged, answers_of

Standing = Literal["stated", "partly", "missed", "unjudged"]
STANDINGS: tuple[Standing, ...] = ("stated", "partly", "missed", "unjudged")
_STATED = ("support", "yes", "full", "supported", "met")
_PARTLY = ("partial_support", "partial", "uncited", "unsupported", "partly")
_ALL = "all"


@dataclass
class Point:
    """A nugget, key point, sub-question or criterion of a topic, and how many answers have it."""

    topic_id: str
    program: str
    unit: str
    item: str
    text: str
    importance: str | None
    n: Counter[str] = field(default_factory=Counter)  # answers, by standing

    def as_row(self) -> dict[str, Any]:
        """Ready for JSON, with a number for each standing."""
        return asdict(self) | {"n": {name: self.n[name] for name in STANDINGS}}

    @property
    def is_vital(self) -> bool:
        """Whether it counts where only some do; all do that have no importance."""
        return self.importance in (None, "vital")


@dataclass
class TopicAnswers:
    """The answers of all runs to one topic.

    Attributes:
        points: by program and item, in the order of the files. standing: by run, of each of them.
        counts: by run and program, labels of all that is no point, None: not judged.
        scores: by run and measure. answered: runs with an answer, or one that could not be made.
        is_by_own_topics: whether a missing answer has no value of a measure, see `Program`.
    """

    topic_id: str
    question: str = ""
    points: dict[tuple[str, str], Point] = field(default_factory=dict)
    standing: dict[str, dict[tuple[str, str], Standing]] = field(default_factory=dict)
    counts: dict[str, dict[str, Counter[str | None]]] = field(default_factory=dict)
    scores: dict[str, dict[str, ScoreRow]] = field(default_factory=dict)
    not_made: dict[str, str] = field(default_factory=dict)
    is_by_own_topics: Callable[[str], bool] = lambda measure: False

    @property
    def answered(self) -> list[str]:
        """Runs with an answer, or with one that could not be made."""
        return list(self.scores)

    def value(self, run: str, measure: str) -> float | None:
        """Of a run; 0 where it did not answer what others could; None: no value, or not judged."""
        if run in self.scores:
            row = self.scores[run].get(measure)
            return row.value if row is not None else None
        has_some = any(measure in of for of in self.scores.values())
        is_of_own = self.is_by_own_topics(measure) or is_of_answered(measure)
        return 0.0 if has_some and not is_of_own else None

    def rank(self, run: str, measure: str, runs: Sequence[str]) -> int | None:
        """From 1, of the runs with a value."""
        own = self.value(run, measure)
        values = [self.value(one, measure) for one in runs]
        return None if own is None else 1 + sum(v is not None and v > own for v in values)

    def add(self, view: AnswerView, eta: int) -> None:
        """Count one more answer."""
        self.question = self.question or view.question
        self.scores[view.run_id] = {row.measure: row for row in view.score_rows}
        if view.not_made:
            self.not_made[view.run_id] = view.not_made
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
    """How an answer stands to a point.

    Args:
        eta: the rating from which a text answers a sub-question; below it, but for 0, it does so
            in part.
    """
    label = judged.label
    if label is None:
        return "unjudged"
    if label.isdecimal():
        return "stated" if int(label) >= eta else "partly" if int(label) else "missed"
    return "stated" if label in _STATED else "partly" if label in _PARTLY else "missed"


def topics_of(
    folder: Path, problems: Problems, *, topic: str | None = None
) -> Iterator[TopicAnswers]:
    """The answers of all runs, topic by topic; one without any answer has no points."""
    about = Folder(folder, problems)
    eta = int(about.setting("coverage", "eta") or 0)
    programs = chosen(about.programs)
    wanted = iter(about.topics or () if topic is None else [topic])

    def is_by_own_topics(measure: str) -> bool:
        return any(program.is_by_own_topics(measure, about) for program in programs)

    views = answers_of(folder, problems, topic=topic, with_texts=False)
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


def means_of(folder: Path, problems: Problems) -> dict[str, dict[str, ScoreRow]]:
    """The means of runs, by run and measure."""
    files = TopicFiles(Folder(folder, problems).file, problems, topic=_ALL)
    means: dict[str, dict[str, ScoreRow]] = {}
    for _, row in score_rows(files.of(_ALL)(SCORES)):
        means.setdefault(row.run_id, {})[row.measure] = row
    return means


def measure_of(
    folder: Path, means: Mapping[str, Mapping[str, ScoreRow]], wanted: str | None
) -> str | None:
    """The measure to order by; None: there is no score. Raises: InputError for an unknown one."""
    names = list(dict.fromkeys(name for of_run in means.values() for name in of_run))
    if wanted is not None and wanted not in names:
        what = f"wanted one of {', '.join(names)}" if names else "it has no scores"
        raise InputError(
            f"{folder}: has no measure {wanted!r}; {what}{did_you_mean(wanted, names)}"
        )
    first = [wanted] if wanted is not None else [name for name in _first() if name in names]
    return next(iter([*first, *names]), None)


def _first() -> list[str]:
    """By which topics and runs are ordered where nothing else is asked for: the first there is."""
    every = ((name, meaning(name).orders) for one in programs() for name in one.meanings)
    return [name for name, place in sorted(every, key=lambda each: each[1]) if place]
