"""Judge rubrics: write criteria for topics without a rubric, and grade answers by criteria."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import StrictInt, StrictStr

from ....programs.config.base import JudgeName
from ....programs.engine.stage import Item, makes
from ....programs.protocols.program import Run
from ....programs.protocols.reference_items import Look, look_for
from ....records.judgements import Provenance
from ....records.reading.fields import show
from ....records.rows import Answer
from ..settings import RubricConfig
from .lint import lint
from .rubrics import (
    Criterion,
    CriterionKind,
    CriterionVerdict,
    Rubric,
    criterion_ids,
    verdict_row,
)

Rubrics = Mapping[str, Rubric | None]  # by topic; None: it could not be made
MADE = list[tuple[StrictStr, StrictInt, Literal["binary", "three_way"]]]
GRADERS: dict[CriterionKind, JudgeName] = {
    "three_way": "criterion",
    "binary": "binary_criterion",
}
STAGES: dict[CriterionKind, str] = {"three_way": "criteria", "binary": "binary_criteria"}


async def make_rubrics(run: Run) -> dict[str, Rubric | None]:
    """Make a rubric for each topic with documents; None if a judgement is missing."""
    collection, n = run.collection, run.config.section(RubricConfig).n
    writer = run.judge_set["rubric_writer"]

    async def make(question: str, documents: list[str]) -> tuple[Any, Sequence[Provenance]]:
        criteria, calls = await writer.make(question, documents, n)
        return [tuple(one) for one in criteria], calls

    def items() -> Iterator[Item]:
        for topic in collection.topics.values():
            if documents := collection.documents.get(topic.id):
                texts = [document.text for document in documents.values()]
                yield Item({"topic_id": topic.id}, (topic.question, texts))

    stage = makes("rubrics", ("rubric_writer",), make, items, made=MADE, settings={"n": n})
    rubrics: dict[str, Rubric | None] = {}
    for ids, made in await run.session.make_stage(stage, run.results):
        topic = collection.topics[ids["topic_id"]]
        rubric = None if made is None else _rubric(topic.id, topic.text, made)
        rubrics[topic.id] = rubric
        for criterion in rubric.criteria if rubric is not None else ():
            for fault in lint(criterion.text, criterion.weight):
                what = f"topic {topic.id!r}: a criterion that was made {fault.what}"
                text = show(criterion.text)
                collection.problems.keep("rubrics", 0, fault.kind, f"{what}: {text}")
    return rubrics


async def grade_answers(run: Run, rubrics: Rubrics, file: str) -> list[tuple[str, str]]:
    """Write which criteria each answer meets, in windows of criteria of one kind.

    Returns: the (run, topic) of answers whose rubric could not be made.
    """
    points = {t: None if rubric is None else rubric.criteria for t, rubric in rubrics.items()}
    kinds = [criterion.kind for criteria in points.values() for criterion in criteria or ()]
    looks = [_look(kind) for kind in GRADERS if kind in kinds]
    failed: list[tuple[str, str]] = []
    count_name = "answers without text (meet no criterion)"
    async with look_for(run, points, looks, "not_met", count_name) as answers:
        with run.results.open(file) as rows:
            for answer, verdicts in answers:
                if verdicts is None:
                    failed.append((answer.run_id, answer.topic_id))
                for one, verdict in zip(points[answer.topic_id] or (), verdicts or (), strict=True):
                    rows.write(_row(answer, one, verdict))
    return failed


def _look(kind: CriterionKind) -> Look[Criterion]:
    """For the criteria of a kind."""
    return Look(
        *(STAGES[kind], GRADERS[kind], "criteria", lambda *given: given),
        takes=lambda criterion: criterion.kind == kind,
    )


def _rubric(topic_id: str, query: str, made: Sequence[tuple[str, int, CriterionKind]]) -> Rubric:
    ids = criterion_ids([text for text, *_ in made])
    criteria = tuple(
        Criterion(id=name, text=text, weight=weight, kind=kind)
        for name, (text, weight, kind) in zip(ids, made, strict=True)
    )
    return Rubric(topic_id=topic_id, query=query, criteria=criteria)


def _row(answer: Answer, criterion: Criterion, verdict: Mapping[str, Any]) -> dict[str, Any]:
    return verdict_row(
        CriterionVerdict(
            topic_id=answer.topic_id,
            run_id=answer.run_id,
            criterion_id=criterion.id,
            weight=criterion.weight,
            kind=criterion.kind,
            **verdict,
        )
    )
