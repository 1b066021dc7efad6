"""`judge_answer`: one answer, what it is worth, and what it leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...evaluation.questions import question_scores
from ...evaluation.samples.fields import Sample, sample_of
from ...evaluation.samples.files import PassageNames, write_samples
from ...programs.analysis.answers.showing import show_answer
from ...programs.config.sections import Config
from ...programs.run import judge_collection
from ...programs.scoring.result import Result
from ...records.reading.problems import InputError, Problems
from .pieces import missing_of, pieces_of
from .replies import Answer, Expected, Value
from .session import Session, in_thread

RUN = "answer"


async def judge_answer(session: Session, sample: Mapping[str, Any]) -> Answer:
    """Judge an answer by all programs that it has something for.

    Args:
        sample: question, answer, contexts, nuggets, key_points, as of `nuggetjudge.evaluate`.

    Raises: InputError for a sample that lacks something, OverBudget.
    """
    await session.check_left()
    with TemporaryDirectory(prefix="nuggetjudge-") as folder:
        read, config = await in_thread(lambda: _prepared(session, sample, Path(folder)))
        async with session.spending(await session.expected(config)) as part:
            result = await in_thread(lambda: judge_collection(config, budget=part))
        about = dict(await session.spent(part)) | {"model": session.model_of(config)}
        return await in_thread(lambda: _answer_of(result, read, about))


async def forecast_answer(session: Session, sample: Mapping[str, Any]) -> Expected:
    """What `judge_answer` would ask. Raises: InputError."""
    with TemporaryDirectory(prefix="nuggetjudge-") as folder:
        _, config = await in_thread(lambda: _prepared(session, sample, Path(folder)))
        return await session.forecast(session.model_of(config), await session.expected(config))


def _prepared(session: Session, given: Mapping[str, Any], folder: Path) -> tuple[Sample, Config]:
    sample = sample_of(given, 0)
    for name in ("question", "answer"):
        if not getattr(sample, name).strip():
            raise InputError(f"{name}: is empty, wanted its text")
    programs = ["nuggets"] if sample.nuggets or sample.contexts else []
    programs += ["support"] if sample.contexts else []
    programs += ["keypoints"] if sample.key_points else []
    if not programs:
        raise InputError("nothing to judge by: give contexts, nuggets or key_points")
    data = write_samples({RUN: [sample]}, folder / "samples")
    return sample, session.alone(programs, data, folder / "out")


def _answer_of(result: Result, sample: Sample, about: Mapping[str, Any]) -> Answer:
    view = show_answer(result.folder, RUN, sample.topic_id, Problems()).data
    names = PassageNames()
    pieces = pieces_of(view, [names.name(context)[0] for context in sample.contexts])
    scores = [Value(**_value(row)) for row in question_scores(result)]
    lost = Counter(str(row["reason"]) for row in result.unjudged)
    return Answer(
        scores=scores,
        unjudged_by_reason=lost,
        pieces=pieces,
        missing=missing_of(pieces),
        **about,
    )


def _value(row: Any) -> dict[str, Any]:
    names: Sequence[str] = tuple(Value.model_fields)
    return {name: getattr(row, name) for name in names}
