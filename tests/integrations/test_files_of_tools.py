"""`judge check` reads the files that Inspect, DeepEval and MLflow themselves write."""

import json
import os

import pytest

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_DISABLE_DOTENV": "1"}

import nuggetjudge as nj

TRUTH = [True, True, False, False] * 3
SAID = [True, False, False, False] * 3  # by hand: sensitivity .5, specificity 1


def assert_is_half(found):
    assert (found["sensitivity"]["value"], found["specificity"]["value"]) == (0.5, 1.0)
    assert found["n"] == len(TRUTH)


@pytest.fixture
def log():
    """A log of Inspect whose scores a person then edited, with all that Inspect keeps of it."""
    pytest.importorskip("inspect_ai")
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalSample,
        EvalSpec,
        ProvenanceData,
        edit_score,
    )
    from inspect_ai.scorer import Score, ScoreEdit

    spec = EvalSpec(
        created="2026-11-27T00:00:00+00:00", task="t", dataset=EvalDataset(),
        model="mockllm/model", config=EvalConfig(),
    )  # fmt: skip
    samples = [
        EvalSample(
            id=f"q{i}", epoch=1, input="q", target="a",
            metadata={"human": "yes" if truth else "no"},
            scores={"grader": Score(value="C" if said else "I")},
        )
        for i, (truth, said) in enumerate(zip(TRUTH, SAID, strict=True))
    ]  # fmt: skip
    log = EvalLog(eval=spec, samples=samples, status="success")
    for i, truth in enumerate(TRUTH):
        edit = ScoreEdit(
            value="C" if truth else "I", provenance=ProvenanceData(author="ann", reason="read it")
        )
        edit_score(log, f"q{i}", "grader", edit, epoch=1, recompute_metrics=False)
    return log


@pytest.mark.parametrize("format", ["json", "eval"])
def test_a_log_of_inspect(tmp_path, log, format):
    from inspect_ai.log import write_eval_log

    path = tmp_path / f"log.{format}"
    write_eval_log(log, str(path), format=format)
    assert_is_half(nj.check(path, human="human"))
    assert_is_half(nj.check(path, human="human grader"))


def test_results_of_deepeval(tmp_path, monkeypatch):
    deepeval = pytest.importorskip("deepeval")
    from deepeval.evaluate import DisplayConfig
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    class Faithful(BaseMetric):
        threshold, async_mode, include_reason, strict_mode = 0.5, False, True, False
        evaluation_model, evaluation_cost, verbose_logs, error = "none", 0.0, None, None

        def measure(self, test_case, *_, **__):
            self.score = 0.9 if test_case.actual_output == "good" else 0.2
            self.success, self.reason = self.score >= self.threshold, "r"
            return self.score

        async def a_measure(self, test_case, *_, **__):
            return self.measure(test_case)

        def is_successful(self):
            return self.success

        @property
        def __name__(self):
            return "Faithful"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEEPEVAL_RESULTS_FOLDER", str(tmp_path / "results"))
    cases = [
        LLMTestCase(
            name=f"case{i}", input="q", actual_output="good" if said else "bad",
            metadata={"human": "yes" if truth else "no"},
        )
        for i, (truth, said) in enumerate(zip(TRUTH, SAID, strict=True))
    ]  # fmt: skip
    quiet = DisplayConfig(print_results=False, show_indicator=False)
    deepeval.evaluate(cases, [Faithful()], display_config=quiet)
    (path,) = (tmp_path / "results").glob("*.json")
    assert_is_half(nj.check(path))


def test_traces_of_mlflow(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)  # MLflow writes its artefacts to the current folder
    from mlflow.entities import AssessmentSource, AssessmentSourceType

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/ml.db")
    mlflow.set_experiment("check")
    ids = []
    for _ in TRUTH:
        with mlflow.start_span(name="qa") as span:
            span.set_inputs({"question": "q"})
            ids.append(span.trace_id)
    mlflow.flush_trace_async_logging()
    for trace_id, truth, said in zip(ids, TRUTH, SAID, strict=True):
        for kind, who, value in (
            (AssessmentSourceType.HUMAN, "ann", truth),
            (AssessmentSourceType.LLM_JUDGE, "gpt", "yes" if said else "no"),
        ):
            source = AssessmentSource(source_type=kind, source_id=who)
            mlflow.log_feedback(trace_id=trace_id, name="correct", value=value, source=source)
    traces = mlflow.search_traces(return_type="list")
    path = tmp_path / "traces.json"
    path.write_text(json.dumps([trace.to_dict() for trace in traces], default=str), "utf-8")
    assert_is_half(nj.check(path))
    lines = tmp_path / "traces.jsonl"
    lines.write_text("".join(trace.to_json() + "\n" for trace in traces), "utf-8")
    assert_is_half(nj.check(lines))
    frame = tmp_path / "frame.json"
    mlflow.search_traces().to_json(frame, orient="records", default_handler=str)
    assert_is_half(nj.check(frame))
