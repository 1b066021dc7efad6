"""MLflow: measures of ours as a scorer of `mlflow.genai.evaluate`; its traces as samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..evaluation.questions import QuestionScore
from ..evaluation.samples.contexts import CONTEXTS
from ..evaluation.samples.fields import ANSWER, ID, QUESTION
from ..records.reading.problems import InputError
from .judging import SampleJudge

try:
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback, Trace
    from mlflow.genai.scorers import Scorer
    from mlflow.genai.utils import trace_utils
    from pydantic import PrivateAttr
except ImportError as error:
    missing = (error.name or "mlflow").partition(".")[0]
    raise InputError(f'{missing} is not installed: pip install "nuggetjudge[mlflow]"') from None

_EXPECTED = {  # what is made of a row's expectations, by the names that people have
    "nuggets": ("nuggets", "expected_facts"),
    "key_points": ("key_points", "keypoints"),
    "questions": ("questions",),
}


class JudgeScorer(Scorer):  # type: ignore[misc]
    """Measures of nuggetjudge in `mlflow.genai.evaluate`, each as a Feedback of its name.

    A Feedback has the value as a number, as `rationale` what it rests on and what the answer lost,
    and as `metadata` n, n_unjudged, low and high. Where the judge failed it has an error and no
    value, so that MLflow's means leave it out and count it as failed.

    Question and answer come from `inputs` and `outputs` (texts, mappings with the fields of
    `nuggetjudge.evaluate`, or chat messages), contexts from there or from the trace's retriever
    spans, nuggets from the expectations `nuggets` or `expected_facts`, key points of `key_points`.

    Args:
        measures: one or several, by one judge with one budget.
        program, model, settings: as of `SampleJudge`.
        name: of the scorer; by default its measures.
        timeout: seconds for an answer; None: MLflow's own, 300; 0: no bound.

    Raises: InputError for a row that lacks what a measure is made from: to MLflow an error of it.

    Example: mlflow.genai.evaluate(data=rows, scorers=[JudgeScorer("V_strict", model="lexical")])
    """

    _judge: SampleJudge = PrivateAttr()
    _source: AssessmentSource = PrivateAttr()

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
        self._source = AssessmentSource("LLM_JUDGE", source_id=named or "nuggetjudge")

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

    def _feedback(self, found: QuestionScore, why: str) -> Feedback:
        rests_on: dict[str, float | None] = {"n": found.n, "n_unjudged": found.n_unjudged}
        rests_on |= {"low": found.low, "high": found.high, **found.reasons}
        error = None if found.value is not None else AssessmentError("NOT_JUDGED", str(found))
        return Feedback(
            name=found.measure,
            value=found.value,
            error=error,
            rationale=why,
            source=self._source,
            metadata={key: str(value) for key, value in rests_on.items() if value is not None},
        )


def samples(data: Any) -> Iterator[dict[str, Any]]:
    """What `mlflow.genai.evaluate` takes as data, as samples of `nuggetjudge.evaluate`.

    Args:
        data: traces, rows of `inputs`, `outputs`, `expectations` and `trace`, a frame of such rows
            as of `mlflow.search_traces`, or an EvaluationDataset.

    Example: nj.evaluate(samples(mlflow.search_traces()), "support", model="openai/gpt-4.1")
    """
    frame = data.to_df() if hasattr(data, "to_df") else data
    rows: Iterable[Any] = frame.to_dict("records") if hasattr(frame, "to_dict") else frame
    for row in rows:
        given = {"trace": row} if isinstance(row, Trace) else row
        trace = given.get("trace")
        yield _sample(
            given.get("inputs"),
            given.get("outputs"),
            given.get("expectations"),
            Trace.from_json(trace) if isinstance(trace, str) else trace,
        )


def _sample(
    inputs: Any, outputs: Any, expectations: Mapping[str, Any] | None, trace: Trace | None
) -> dict[str, Any]:
    if trace is not None:
        inputs = trace_utils.resolve_inputs_from_trace(inputs, trace)
        outputs = trace_utils.resolve_outputs_from_trace(outputs, trace)
        expectations = expectations or trace_utils.extract_expectations_from_trace(trace)
    sample = {
        "id": _first(inputs, ID),
        "question": _first(inputs, QUESTION) or _text(trace_utils.parse_inputs_to_str, inputs),
        "answer": _first(outputs, ANSWER) or _text(trace_utils.parse_outputs_to_str, outputs),
        "contexts": _first(outputs, CONTEXTS) or _first(inputs, CONTEXTS) or _retrieved(trace),
        **{field: _first(expectations, names) for field, names in _EXPECTED.items()},
    }
    return {field: value for field, value in sample.items() if value is not None}


def _first(given: Any, names: Sequence[str]) -> Any:
    if not isinstance(given, Mapping):
        return None
    return next((given[name] for name in names if given.get(name) is not None), None)


def _text(read: Any, given: Any) -> str | None:
    return None if given is None else read(given)


def _retrieved(trace: Trace | None) -> list[str] | None:
    spans = trace_utils.extract_retrieval_context_from_trace(trace)
    found = [chunk["content"] for chunks in spans.values() for chunk in chunks]
    return list(dict.fromkeys(text for text in found if text)) or None
