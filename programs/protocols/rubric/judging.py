"""What is asked: criteria of topics without a rubric, and which criteria answers meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Literal

from pydantic import StrictInt, StrictStr

from ....records.instruments.rubric_lint import lint
from ....records.instruments.rubrics import (
    Criterion,
    CriterionKind,
    CriterionVerdict,
    Rubric,
    verdict_row,
)
from ....records.judgements import Judged, Provenance
from ....records.reading.fields import show
from ....records.rows import Answer, criterion_ids
from ...config.names import JudgeName
from ...engine.stage import Item, Stage, labels, makes, rows_of
from ..program import Run

Rubrics = Mapping[str, Rubric | None]  # by topic; None: it could not be made
MADE = list[tuple[StrictStr, StrictInt, Literal["binary", "three_way"]]]
GRADERS: dict[CriterionKind, JudgeName] = {
    "three_way": "criterion",
    "binary": "binary_criterion",
}
STAGES: dict[CriterionKind, str] = {"three_way": "criteria", "binary": "binary_criteria"}


async def make_rubrics(run: Run) -> dict[str, Rubric | None]:
    """A rubric for each topic with documents; None where a judgement is missing."""
    collection, n = run.collection, run.config.rubric.n
    writer = run.panel["rubric_writer"]

    async def make(question: str, documents: list[str]) -> tuple[Any, Sequence[Provenance]]:
        found, calls = await writer.make(question, documents, n)
        return [tuple(one) for one in found], calls

    def items() -> Iterator[Item]:
        for topic in collection.topics.values():
            if documents := collection.documents.get(topic.id):
                texts = [document.text for document in documents.values()]
                yield Item({"topic_id": topic.id}, (topic.question, texts))

    stage = makes("rubrics", ("rubric_writer",), make, items, made=MADE, settings={"n": n})
    rubrics: dict[str, Rubric | None] = {}
    async with run.session.judged(stage, run.results) as outcome:
        for item in items():
            made, topic = outcome(item), collection.topics[item.ids["topic_id"]]
            rubrics[topic.id] = None
            if isinstance(made, Judged):
                rubric = _rubric(topic.id, topic.text, made.values["made"])
                rubrics[topic.id] = rubric
                for criterion in rubric.criteria:
                    for fault in lint(criterion.text, criterion.weight):
                        what = f"topic {topic.id!r}: a criterion that was made {fault.what}"
                        text = show(criterion.text)
                        collection.problems.keep("rubrics", 0, fault.kind, f"{what}: {text}")
    return rubrics


async def graded(run: Run, rubrics: Rubrics, file: str) -> list[tuple[str, str]]:
    """Write which criteria each answer meets, asked in windows of one kind.

    Returns: (run, topic) of the answers whose rubric could not be made.
    """
    unmade: list[tuple[str, str]] = []
    known = [rubric for rubric in rubrics.values() if rubric is not None]
    kinds = [k for k in GRADERS if any(c.kind == k for rubric in known for c in rubric.criteria)]
    async with AsyncExitStack() as stages:
        outcomes = {
            kind: await stages.enter_async_context(
                run.session.judged(_stage(run, rubrics, kind), run.results)
            )
            for kind in kinds
        }
        with run.results.open(file) as rows:
            for answer in _answers(run, rubrics):
                if (rubric := rubrics[answer.topic_id]) is None:
                    unmade.append((answer.run_id, answer.topic_id))
                    continue
                found: dict[str, dict[str, Any]] = {}
                for kind, outcome in outcomes.items():
                    for window, item in _windows(run, answer, rubric, kind):
                        verdicts = rows_of(outcome(item), item.n)
                        found |= {c.id: v for c, v in zip(window, verdicts, strict=True)}
                if not answer.text.strip():
                    run.results.count("answers without text (meet no criterion)")
                    found = {criterion.id: {"label": "not_met"} for criterion in rubric.criteria}
                for criterion in rubric.criteria:
                    rows.write(_row(answer, criterion, found[criterion.id]))
    return unmade


def _answers(run: Run, rubrics: Rubrics) -> Iterator[Answer]:
    return (answer for answer in run.collection.answers() if answer.topic_id in rubrics)


def _stage(run: Run, rubrics: Rubrics, kind: CriterionKind) -> Stage:
    """Answer by answer, so that calls about one answer follow each other."""
    size = run.panel[GRADERS[kind]].window

    def items() -> Iterator[Item]:
        for answer in _answers(run, rubrics):
            if (rubric := rubrics[answer.topic_id]) is not None:
                yield from (item for _, item in _windows(run, answer, rubric, kind))

    sizes = {t: sum(c.kind == kind for c in r.criteria) for t, r in rubrics.items() if r}
    n_with_text = run.collection.n_with_text
    total = sum(n_with_text[topic] * -(-n // size) for topic, n in sizes.items())
    return labels(STAGES[kind], run.panel, GRADERS[kind], items, total=total)


def _windows(
    run: Run, answer: Answer, rubric: Rubric, kind: CriterionKind
) -> Iterator[tuple[Sequence[Criterion], Item]]:
    """The criteria of a kind that are asked about together; of an answer without text none."""
    if not answer.text.strip():
        return
    wanted = [criterion for criterion in rubric.criteria if criterion.kind == kind]
    size = run.panel[GRADERS[kind]].window
    question = run.collection.topics[answer.topic_id].question
    for start in range(0, len(wanted), size):
        window = wanted[start : start + size]
        ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
        named = {**ids, "criteria": [criterion.id for criterion in window]}
        payload = (question, answer.text, [criterion.text for criterion in window])
        yield window, Item(named, payload, len(window))


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
