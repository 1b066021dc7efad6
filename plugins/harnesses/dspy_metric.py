"""Whole evaluations of an answer as a DSPy metric: for dspy.Evaluate and optimisers.

    metric = AnswerMetric("V_strict", model="openai/gpt-4o")
    dspy.Evaluate(devset=devset, metric=metric, failure_score=float("nan"))(program)
    dspy.GEPA(metric=metric, ...)  # reads what an answer misses

A judge of items is a metric by itself: `judge.metric(...)` (docs/dspy.md).
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...backends.errors import EndpointUnusable, JudgeError
from ...records.judgements import Reason
from .judging import SampleJudge, sample_fields

_WHERE = "example and prediction"


class AnswerMetric:
    """`metric(example, prediction)`: what the answer is worth in one measure, in [0, 1].

    The answer is the prediction's; question, contexts and nuggets are the prediction's or the
    example's, under the names that `nuggetjudge.evaluate` knows, or `context`. Asked by GEPA about
    a predictor it gives a `dspy.Prediction` of `score` and `feedback`: what the answer does not
    state, which sentences their citations do not carry, and what was not judged.

    Args:
        measure, program, model, settings: see `SampleJudge`.
        fields: a part of a sample -> the field that holds it, as {"answer": "summary"}.

    Attributes:
        unjudged: the errors of answers without a value, in the order in which they came.

    Raises, when called: JudgeError where there is no value, and EndpointUnusable where the model
        can judge nothing, both with a RuntimeWarning, since dspy.Evaluate logs them and counts its
        `failure_score`, 0 unless it is set: with `failure_score=float("nan")` no failed judgement
        passes for a score. ValueError where there
        is nothing to judge (0/0). InputError for fields that neither has.
    """

    def __init__(
        self,
        measure: str,
        program: str | Sequence[str] | None = None,
        *,
        model: str | Mapping[str, Any] | None = None,
        fields: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        self._judge = SampleJudge(measure, program, model=model, **settings)
        self._fields = dict(fields or {})
        self.unjudged: list[JudgeError | EndpointUnusable] = []
        self._lock = threading.Lock()

    @property
    def __name__(self) -> str:
        return self._judge.measure

    def __call__(
        self,
        example: Any,
        prediction: Any,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> Any:
        sample = _fields(example, prediction, self._fields)
        try:
            explained = self._judge.explain(sample)
        except EndpointUnusable as error:
            raise self._record(error) from None
        score = explained.score
        if score.value is None:
            if not score.n_unjudged and not score.reasons:
                raise ValueError(f"there is nothing to judge: {score} is 0/0")
            reason = max(score.reasons, key=lambda name: score.reasons[name], default=Reason.ERROR)
            raise self._record(JudgeError(Reason(reason), str(score)))
        if pred_name is None:
            return score.value
        import dspy

        return dspy.Prediction(score=score.value, feedback=explained.feedback)

    def _record(self, error: JudgeError | EndpointUnusable) -> Exception:
        with self._lock:
            self.unjudged.append(error)
        what = "the metric has no value, which dspy.Evaluate counts as its failure_score"
        warnings.warn(f"{what}: {error}", RuntimeWarning, stacklevel=3)
        return error


def samples(
    results: Iterable[Any], *, fields: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """Samples for `nuggetjudge.evaluate` of what DSPy programs answered.

    Args:
        results: (example, prediction), or (example, prediction, score) as in the `results` of
            what `dspy.Evaluate(...)` returns.
        fields: as of AnswerMetric.

    Raises: InputError for one without an answer, with its place; a program that failed has none.
    """
    for index, (example, prediction, *_) in enumerate(results):
        yield _fields(example, prediction, fields or {}, f"results[{index}]")


def _fields(
    example: Any, prediction: Any, fields: Mapping[str, str], where: str = _WHERE
) -> dict[str, Any]:
    return sample_fields(dict(example.items()), dict(prediction.items()), fields, where)
