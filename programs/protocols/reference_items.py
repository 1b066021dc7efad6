"""Reference items such as nuggets: judge whether answers state them, in windows per call."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Container,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from ...records.kinds import Cell
from ...records.reading.problems import InputError
from ...records.rows import Answer
from ..config.base import JudgeName
from ..engine.stage import Item, Stage, labels, make_rows
from ..inputs import Collection as Data
from ..inputs import against, nearest
from .program import CellTexts, Run, Texts


class ReferenceItem(Protocol):
    """A reference item, such as a nugget or a key point."""

    @property
    def id(self) -> str: ...
    @property
    def text(self) -> str: ...


P = TypeVar("P", bound=ReferenceItem)
Rows = list[dict[str, Any]]  # verdicts as in `make_rows`


@dataclass(frozen=True)
class Look(Generic[P]):
    """A stage in which a judge checks answers for reference items.

    Attributes:
        named: the id name of the points of an item.
        payload: makes the inputs of the judge from question, answer text and texts of points.
        takes: whether to ask this judge about a point.
    """

    stage: str
    judge: JudgeName
    named: str
    payload: Callable[[str, str, list[str]], tuple[Any, ...]]
    takes: Callable[[P], bool] = lambda point: True

    def of(self, run: Run, points: Mapping[str, Sequence[P] | None]) -> Stage:
        """Return the stage, answer by answer, so that calls about one answer follow each other."""
        size, n_with_text = run.judge_set[self.judge].window, run.collection.n_with_text

        def items() -> Iterator[Item]:
            for answer in run.collection.answers():
                for _, item in self.windows(run, answer, points.get(answer.topic_id) or ()):
                    yield item

        sizes = {topic: sum(map(self.takes, of_topic or ())) for topic, of_topic in points.items()}
        total = sum(n_with_text[topic] * -(-n // size) for topic, n in sizes.items())
        return labels(self.stage, run.judge_set, self.judge, items, total=total)

    def windows(
        self, run: Run, answer: Answer, points: Sequence[P]
    ) -> Iterator[tuple[Sequence[int], Item]]:
        """Yield the indices of points of each call, and its inputs; nothing for an empty answer."""
        wanted = [index for index, point in enumerate(points) if self.takes(point)]
        size, topic = run.judge_set[self.judge].window, run.collection.topics[answer.topic_id]
        for start in range(0, len(wanted) if answer.text.strip() else 0, size):
            window = wanted[start : start + size]
            ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
            named = {**ids, self.named: [points[index].id for index in window]}
            payload = self.payload(
                topic.question, answer.text, [points[index].text for index in window]
            )
            yield window, Item(named, payload, len(window))


@asynccontextmanager
async def look_for(
    run: Run,
    points: Mapping[str, Sequence[P] | None],
    looks: Sequence[Look[P]],
    absent: str,
    count_name: str,
) -> AsyncIterator[Iterator[tuple[Answer, Rows | None]]]:
    """Judge the points of a topic in all its answers; yield each answer with a row per point.

    Args:
        points: by topic; None: they could not be made.
        absent: the label of points for an answer without text, which is not asked about.
        count_name: the name of the count of such answers.
    """
    async with AsyncExitStack() as stages:
        outcomes = [
            (each, await stages.enter_async_context(run.session.judge_stage(stage, run.results)))
            for each in looks
            for stage in [each.of(run, points)]
        ]

        def answers() -> Iterator[tuple[Answer, Rows | None]]:
            for answer in run.collection.answers():
                if answer.topic_id not in points:
                    continue
                if (of_topic := points[answer.topic_id]) is None:
                    yield answer, None
                    continue
                rows: Rows = [{"label": absent} for _ in of_topic]
                if not answer.text.strip():
                    run.results.count(count_name)
                for look, outcome in outcomes:
                    for window, item in look.windows(run, answer, of_topic):
                        for index, row in zip(
                            window, make_rows(outcome(item), item.n), strict=True
                        ):
                            rows[index] = row
                yield answer, rows

        yield answers()


def check_topics(topic_ids: Collection[str], where: Path | str, data: Data) -> None:
    """List topics of a file that are not judged. Raises: InputError if no topic is judged."""
    for topic in topic_ids:
        if topic not in data.topics and topic not in data.beyond_limit:
            near = nearest(topic, data.topics)
            what = f"topic {topic!r} is not judged, so its lines are not used{near}"
            data.problems.skip(where, 0, "unknown_topic", what)
    if topic_ids and not any(topic in data.topics for topic in topic_ids):
        both = against(list(topic_ids), data.topics)
        raise InputError(f"{where}: has no judged topic: {both}")


def check_questions(data: Data, why: str) -> None:
    """Raise InputError for a topic without a text."""
    if blank := [topic.id for topic in data.topics.values() if not topic.text.strip()]:
        raise InputError(f"topic {blank[0]!r} has no text: {why}")


def exclude(
    run: Run, note: str, with_points: Container[str], kind: str, why: str, where: Path | str
) -> None:
    """Note the topics without points, and list each as a problem.

    Args:
        note: key of the manifest.
        with_points: topics that have points, or may have.
        kind: the kind of the problem.
    """
    without = [topic for topic in run.collection.topics if topic not in with_points]
    run.results.notes[note] = without
    for topic in without:
        run.collection.problems.skip(where, 0, kind, f"topic {topic!r} has no {why}")


def read_reference_texts(
    data: Data,
    points: Mapping[str, Sequence[P]],
    wanted: Collection[Cell],
    texts: Callable[[str, Answer, P], Texts],
) -> CellTexts:
    """Yield question, answer and reference item as texts for people, for each of these items."""
    for answer in data.answers():
        for point in points.get(answer.topic_id, ()):
            cell = (answer.topic_id, answer.run_id, point.id)
            if cell in wanted:
                yield cell, texts(data.topics[answer.topic_id].question, answer, point)
