"""nuggetjudge as a scorer of Inspect, and Inspect logs as samples.

    Task(dataset=..., solver=..., scorer=answer_scorer("V_strict", model="openai/gpt-4o"))
    inspect score LOG --scorer nuggetjudge/answer_scorer -S measure=V_strict -S model=lexical

A failed judgement is `Score.unscored`: Inspect leaves it out of its metrics and counts it.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from ...evaluation.result import QuestionScore
from ...records.reading.problems import InputError, need
from .judging import SampleJudge, sample_fields

_inspect = need("inspect_ai.scorer", "inspect")
_FAILED, _NOTHING = "grader_failed", "nothing_to_judge"  # the first is a term of Inspect


@_inspect.metric(scores="unreduced")  # type: ignore[untyped-decorator]
def judgements() -> Callable[[Sequence[Any]], dict[str, float]]:
    """The number of judgements behind the scores of all epochs, and of missing judgements.

    Inspect gives a metric only samples with a value; it counts the others as `unscored_samples`.
    """

    def count(scores: Sequence[Any]) -> dict[str, float]:
        rows = [each.score.metadata or {} for each in scores]
        return {
            "n": sum(row.get("n", 0) for row in rows),
            "n_unjudged_of_scored": sum(row.get("n_unjudged", 0) for row in rows),
        }

    return count


@_inspect.scorer(  # type: ignore[untyped-decorator]
    metrics=[_inspect.mean(), _inspect.stderr(), judgements()]
)
def answer_scorer(
    measure: str,
    program: str | Sequence[str] | None = None,
    model: str | Mapping[str, Any] | None = None,
    fields: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Callable[[Any, Any], Awaitable[Any]]:
    """Score the answers of a task by one measure.

    The answer is the completion and the question is the input. Contexts, nuggets and other fields
    are in the metadata of a sample, under the names that `nuggetjudge.evaluate` knows; solvers can
    put retrieved passages there. Each score has the value, the answer, an explanation of what the
    answer lost, and n, n_unjudged, low, high and reasons in its metadata.

    Args:
        measure, program, model: see `SampleJudge`.
        fields: a part of a sample -> the field of the metadata that holds it.
        settings: settings of `nuggetjudge.run`, such as {"max_cost": 2.0}.

    Raises: InputError for invalid settings or an unknown measure; a sample without a needed field
        is an error of that sample.
    """
    judge = SampleJudge(measure, program, model=model, **(settings or {}))
    named = dict(fields or {})

    async def score(state: Any, target: Any) -> Any:
        answered = state.output.completion
        row = _sample(state.sample_id, state.input_text, answered, state.metadata, named)
        explained = await judge.aexplain(row)
        of, about = explained.score, _metadata(explained.score)
        if of.value is None:
            return _inspect.Score.unscored(
                reason=_FAILED if of.n_unjudged or of.reasons else _NOTHING,
                answer=answered,
                explanation=explained.feedback,
                metadata=about,
            )
        return _inspect.Score(
            value=of.value, answer=answered, explanation=explained.feedback, metadata=about
        )

    return score


def samples(
    log: str | Path | Any, *, epoch: int = 1, fields: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """Convert an Inspect log to samples for `nuggetjudge.evaluate`.

    Args:
        log: a file, .eval or .json, or an EvalLog that was read with its samples.
        epoch: which answers to take if each sample was answered several times.
        fields: see answer_scorer.

    Raises: InputError for a file that is not a log, a log without samples of the epoch, or a
        missing field.
    Warns: UserWarning for samples that failed in Inspect: they have no answer and are left out.
    """
    read = _read(log) if isinstance(log, str | Path) else log
    named = fields or {}
    of_epoch = [sample for sample in read.samples or () if sample.epoch == epoch]
    if not of_epoch:
        raise InputError(f"{read.location or log}: has no samples of epoch {epoch}")
    failed = [str(sample.id) for sample in of_epoch if sample.error is not None]
    if failed:
        what = f"{len(failed):,} of {len(of_epoch):,} samples failed in Inspect and are left out"
        warnings.warn(f"{read.location}: {what}, first {failed[0]}", UserWarning, stacklevel=2)
    for sample in of_epoch:
        if sample.error is None:
            question, answer = _question(sample.input), sample.output.completion
            yield _sample(sample.id, question, answer, sample.metadata, named)


def _read(path: str | Path) -> Any:
    try:
        return need("inspect_ai.log", "inspect").read_eval_log(str(path), resolve_attachments=True)
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path}: is not an Inspect log ({what})") from None


def _question(content: Any) -> str:
    """The input of a sample, or the last message of its user."""
    if isinstance(content, str):
        return content
    texts = [message.text for message in content if message.role == "user"]
    return texts[-1] if texts else ""


def _metadata(score: QuestionScore) -> dict[str, Any]:
    names = ("measure", "n", "n_unjudged", "low", "high")
    return {name: getattr(score, name) for name in names} | {"reasons": dict(score.reasons)}


def _sample(
    id: int | str,
    question: str,
    answer: str,
    metadata: Mapping[str, Any],
    fields: Mapping[str, str],
) -> dict[str, Any]:
    given = {"id": str(id), "question": question, **metadata}
    return sample_fields(given, {"answer": answer}, fields, f"sample {id}")
