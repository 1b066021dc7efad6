"""DeepEval: a measure as a DeepEval metric, and its test cases as samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...records.reading.problems import need
from .judging import Explained, SampleJudge

if TYPE_CHECKING:
    from deepeval.test_case import LLMTestCase

_BaseMetric: Any = need("deepeval.metrics", "deepeval").BaseMetric
_errors = need("deepeval.errors", "deepeval")
_IN_METADATA = ("id", "nuggets", "key_points", "questions")


class JudgeMetric(_BaseMetric):  # type: ignore[misc]
    """A measure of nuggetjudge in `deepeval.evaluate`, `assert_test` and `deepeval test run`.

    If judging fails, the test case has an `error` and no score: it fails and no mean includes it.
    `score_breakdown` has n, n_unjudged, low and high; `reason` says where the answer lost. If only
    some judgements are missing, the test case passes if it would pass with all of them at worst.

    Args:
        judge: a measure, such as V_strict or support_precision, or a SampleJudge, which several
            metrics can share, with its budget.
        program, model, settings: see `SampleJudge`; for a measure only.
        threshold: the lowest passing value, in [0, 1]; None: no test case passes or fails.

    Raises: MissingTestCaseParamsError, from `measure`, for a test case without an actual output;
        InputError for a test case without the inputs of the measure.

    Example: deepeval.evaluate(test_cases, [JudgeMetric("V_strict", model="openai/gpt-4.1")])
    """

    def __init__(
        self,
        judge: str | SampleJudge,
        program: str | Sequence[str] | None = None,
        *,
        threshold: float | None = 0.5,
        model: str | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        # DeepEval copies a metric for each test case: it calls this with the attributes below.
        if isinstance(judge, str):
            judge = SampleJudge(judge, program, model=model, **settings)
        self.judge = judge
        self.threshold = threshold
        self.model = model
        name = model.get("model") if isinstance(model, Mapping) else model
        self.evaluation_model = name

    @property
    def __name__(self) -> str:
        return f"{self.judge.measure} (nuggetjudge)"

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        """Return the value, in [0, 1]; None if judging failed, with the reason in `error`."""
        return _keep(self, self.judge.explain(_sample(test_case)))

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        """Like `measure`, for asyncio."""
        return _keep(self, await self.judge.aexplain(_sample(test_case)))

    def is_successful(self) -> bool | None:
        """Whether the score reaches the threshold at its lower bound; None without a threshold."""
        if super().is_successful() and self.score_breakdown is not None:
            low = self.score_breakdown["low"]
            self.success = low is None or low >= self.threshold
        return self.success


def samples(test_cases: Iterable[LLMTestCase]) -> Iterator[dict[str, Any]]:
    """Convert test cases to samples for `nuggetjudge.evaluate`.

    Nuggets, key points, questions and an id come from the metadata of a test case.

    Example: nj.evaluate(samples(dataset.test_cases), "nuggets", model="openai/gpt-4.1")
    """
    return map(_sample, test_cases)


def _sample(case: LLMTestCase) -> dict[str, Any]:
    if case.actual_output is None:
        raise _errors.MissingTestCaseParamsError(f"test case {case.input!r} has no actual_output")
    contexts = [getattr(context, "context", context) for context in case.retrieval_context or ()]
    metadata = case.metadata or {}
    sample = {name: metadata[name] for name in _IN_METADATA if name in metadata}
    return {
        "input": case.input,
        "actual_output": case.actual_output,
        "retrieval_context": contexts,
        **sample,
    }


def _keep(metric: JudgeMetric, explained: Explained) -> float | None:
    """Set the attributes that DeepEval reads, and return the value."""
    score = explained.score
    metric.score = score.value
    metric.error = None if score.value is not None else str(score)
    metric.reason = metric.verbose_logs = explained.feedback
    metric.score_breakdown = {
        "n": score.n,
        "n_unjudged": score.n_unjudged,
        "low": score.low,
        "high": score.high,
    }
    metric.is_successful()
    return score.value
