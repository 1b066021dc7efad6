"""The evaluation of a whole answer as a DSPy metric, for dspy.Evaluate and optimisers.

    metric = AnswerMetric("V_strict", model="openai/gpt-4o")
    dspy.Evaluate(devset=devset, metric=metric, failure_score=float("nan"))(program)
    dspy.GEPA(metric=metric, ...)  # reads what an answer misses

For a judge of single items, use `judge.metric(...)` (docs/dspy.md).
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
    """`metric(example, prediction)`: the score of the answer in one measure, in [0, 1].

    The answer comes from the prediction. Question, contexts and nuggets come from the prediction or
    the example, under the names that `nuggetjudge.evaluate` knows, or `context`. If GEPA asks about
    a predictor, the result is a `dspy.Prediction` with `score` and `feedback`: what the answer does
    not state, which sentences their citations do not support, and what was not judged.

    Args:
        measure, program, model, settings: see `SampleJudge`.
        fields: a part of a sample -> the field that holds it, such as {"answer": "summary"}.

    Attributes:
        unjudged: the errors of answers without a value, in order.

    Raises, when called: JudgeError if there is no value, and EndpointUnusable if the model cannot
        judge anything, both with a RuntimeWarning. dspy.Evaluate logs these errors and counts its
        `failure_score` instead, which is 0 by default: set `failure_score=float("nan")`, so that a
        failed judgement never becomes a score. ValueError if there is nothing to judge (0/0).
        InputError for fields that neither has.
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
    """Convert the answers of DSPy programs to samples for `nuggetjudge.evaluate`.

    Args:
        results: (example, prediction), or (example, prediction, score) as in the `results` that
            `dspy.Evaluate(...)` returns.
        fields: see AnswerMetric.

    Raises: InputError for a result without an answer, with its position, such as that of a failed
        program.
    """
    for index, (example, prediction, *_) in enumerate(results):
        yield _fields(example, prediction, fields or {}, f"results[{index}]")


def _fields(
    example: Any, prediction: Any, fields: Mapping[str, str], where: str = _WHERE
) -> dict[str, Any]:
    return sample_fields(dict(example.items()), dict(prediction.items()), fields, where)
