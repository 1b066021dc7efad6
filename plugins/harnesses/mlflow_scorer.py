"""MLflow: measures as a scorer of `mlflow.genai.evaluate`, and its traces as samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr

from ...evaluation.result import QuestionScore
from ...evaluation.samples.fields import ANSWER, CONTEXTS, ID, QUESTION
from ...records.reading.problems import need
from .judging import SampleJudge

if TYPE_CHECKING:
    from mlflow.entities import Feedback, Trace

_Scorer: Any = need("mlflow.genai.scorers", "mlflow").Scorer
_entities = need("mlflow.entities", "mlflow")
_utils = need("mlflow.genai.utils.trace_utils", "mlflow")
_EXPECTED = {  # parts of a sample -> the names that people use in a row's expectations
    "nuggets": ("nuggets", "expected_facts"),
    "key_points": ("key_points", "keypoints"),
    "questions": ("questions",),
}


class JudgeScorer(_Scorer):  # type: ignore[misc]
    """Measures of nuggetjudge in `mlflow.genai.evaluate`, each as a Feedback with its name.

    The value of a Feedback is a number. Its `rationale` explains the score, and its `metadata` has
    n, n_unjudged, low and high. If judging fails, it has an error and no value, so MLflow leaves
    it out of means and counts it as failed.

    Question and answer come from `inputs` and `outputs` (texts, mappings with the fields of
    `nuggetjudge.evaluate`, or chat messages). Contexts come from there or from the retriever spans
    of the trace, nuggets from the expectations `nuggets` or `expected_facts`, key points from
    `key_points`.

    Args:
        measures: one or more measures, given by one judge with one budget.
        program, model, settings: see `SampleJudge`.
        name: name of the scorer; by default its measures.
        timeout: seconds for an answer; None: MLflow's default, 300; 0: no limit.

    Raises: InputError for a row without the inputs of a measure; MLflow shows it as an error of
        the row.

    Example: mlflow.genai.evaluate(data=rows, scorers=[JudgeScorer("V_strict", model="lexical")])
    """

    _judge: SampleJudge = PrivateAttr()
    _source: Any = PrivateAttr()

    def __init__(
        self,
        *measures: str,
        program: str | Sequence[str] | None = None,
        model: str | Mapping[str, Any] | None = None,
        name: str | None = None,
        timeout: float | None = None,
        **settings: Any,
    ) -> None:
        if not measures:
            raise ValueError("JudgeScorer needs a measure, such as V_strict")
        super().__init__(name=name or ", ".join(measures), timeout=timeout)
        self._judge = SampleJudge(measures, program, model=model, **settings)
        named = model.get("model") if isinstance(model, Mapping) else model
        self._source = _entities.AssessmentSource("LLM_JUDGE", source_id=named or "nuggetjudge")

    def __call__(
        self,
        *,
        inputs: Any = None,
        outputs: Any = None,
        expectations: Mapping[str, Any] | None = None,
        trace: Trace | None = None,
    ) -> list[Feedback]:
        """A Feedback for each measure; see `mlflow.genai.scorers.Scorer`."""
        sample = _sample(inputs, outputs, expectations, trace)
        return [
            self._feedback(each.score, each.feedback) for each in self._judge.explain_each(sample)
        ]

    def _feedback(self, score: QuestionScore, why: str) -> Feedback:
        rests_on: dict[str, float | None] = {"n": score.n, "n_unjudged": score.n_unjudged}
        rests_on |= {"low": score.low, "high": score.high, **score.reasons}
        error = (
            None if score.value is not None else _entities.AssessmentError("NOT_JUDGED", str(score))
        )
        return _entities.Feedback(
            name=score.measure,
            value=score.value,
            error=error,
            rationale=why,
            source=self._source,
            metadata={key: str(value) for key, value in rests_on.items() if value is not None},
        )


def samples(data: Any) -> Iterator[dict[str, Any]]:
    """Convert the data of `mlflow.genai.evaluate` to samples for `nuggetjudge.evaluate`.

    Args:
        data: traces, rows with `inputs`, `outputs`, `expectations` and `trace`, a frame of such
            rows as from `mlflow.search_traces`, or an EvaluationDataset.

    Example: nj.evaluate(samples(mlflow.search_traces()), "support", model="openai/gpt-4.1")
    """
    frame = data.to_df() if hasattr(data, "to_df") else data
    rows: Iterable[Any] = frame.to_dict("records") if hasattr(frame, "to_dict") else frame
    for row in rows:
        parts = {"trace": row} if isinstance(row, _entities.Trace) else row
        trace = parts.get("trace")
        yield _sample(
            parts.get("inputs"),
            parts.get("outputs"),
            parts.get("expectations"),
            _entities.Trace.from_json(trace) if isinstance(trace, str) else trace,
        )


def _sample(
    inputs: Any, outputs: Any, expectations: Mapping[str, Any] | None, trace: Trace | None
) -> dict[str, Any]:
    if trace is not None:
        inputs = _utils.resolve_inputs_from_trace(inputs, trace)
        outputs = _utils.resolve_outputs_from_trace(outputs, trace)
        expectations = expectations or _utils.extract_expectations_from_trace(trace)
    sample = {
        "id": _first(inputs, ID),
        "question": _first(inputs, QUESTION) or _text(_utils.parse_inputs_to_str, inputs),
        "answer": _first(outputs, ANSWER) or _text(_utils.parse_outputs_to_str, outputs),
        "contexts": _first(outputs, CONTEXTS) or _first(inputs, CONTEXTS) or _find_retrieved(trace),
        **{field: _first(expectations, names) for field, names in _EXPECTED.items()},
    }
    return {field: value for field, value in sample.items() if value is not None}


def _first(fields: Any, names: Sequence[str]) -> Any:
    if not isinstance(fields, Mapping):
        return None
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _text(read: Any, value: Any) -> str | None:
    return None if value is None else read(value)


def _find_retrieved(trace: Trace | None) -> list[str] | None:
    spans = _utils.extract_retrieval_context_from_trace(trace)
    texts = [chunk["content"] for chunks in spans.values() for chunk in chunks]
    return list(dict.fromkeys(text for text in texts if text)) or None
