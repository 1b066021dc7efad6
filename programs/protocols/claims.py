"""Split answers into claims with a judge, for tasks that judge claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pydantic import StrictStr

from ...records.rows import Answer
from ..engine.stage import Item, makes
from .program import Run

AnswerId = tuple[str, str]  # topic and run
JUDGE = "claim_extractor"


async def extract_claims(
    run: Run, stage: str, is_split: Callable[[Answer], bool], total: int | None = None
) -> dict[AnswerId, list[str] | None]:
    """Return claims by answer: [] without text, None if the judge failed.

    Args:
        stage: a stage name unique to the task. total: number of answers with text, if known.
        is_split: whether to split an answer; other answers have no entry.
    """

    def answers() -> Iterator[Answer]:
        return filter(is_split, run.collection.answers())

    def items() -> Iterator[Item]:
        for answer in answers():
            if answer.text.strip():
                yield Item({"topic_id": answer.topic_id, "run_id": answer.run_id}, (answer.text,))

    extract = run.judge_set[JUDGE].extract
    made_here = makes(stage, (JUDGE,), extract, items, made=list[StrictStr], total=total)
    claims: dict[AnswerId, list[str] | None] = {(a.topic_id, a.run_id): [] for a in answers()}
    for ids, made in await run.session.make_stage(made_here, run.results):
        claims[ids["topic_id"], ids["run_id"]] = made
    return claims
