"""Our measures as DeepEval metrics, in DeepEval's own `evaluate` and `assert_test`."""

import os

import pytest
from mock_server import Says, always

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_DISABLE_DOTENV": "1"}
deepeval = pytest.importorskip("deepeval")

from deepeval.errors import MissingTestCaseParamsError  # noqa: E402
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig  # noqa: E402
from deepeval.test_case import LLMTestCase, RetrievedContextData  # noqa: E402

import nuggetjudge as nj  # noqa: E402
from nuggetjudge.plugins.harnesses.deepeval_metric import JudgeMetric, samples  # noqa: E402

NUGGETS = ["The waggle dance tells the direction of flowers", "Drones do not sting"]
# By hand: the answer has the first of two vital nuggets, word for word, and nothing of the other.
HALF = "The waggle dance tells the direction of flowers [1]."
BOTH = f"{HALF} Drones do not sting [1]."
WHY_HALF = f"V_strict 0.500 (n 2)\nThe answer does not state:\n- {NUGGETS[1]} (vital)"
REFUSED = Says("I would rather not say.")


def case_of(question="Why do bees dance?", answer=HALF, **more):
    context = "The waggle dance tells nest mates the direction of flowers."
    more = {"metadata": {"nuggets": NUGGETS}, **more}
    return LLMTestCase(input=question, actual_output=answer, retrieval_context=[context], **more)


def evaluated(cases, metric, *, run_async=True, **errors):
    return deepeval.evaluate(
        cases, [metric], async_config=AsyncConfig(run_async=run_async, max_concurrent=1),
        display_config=DisplayConfig(print_results=False, show_indicator=False),
        error_config=ErrorConfig(**errors),
    ).test_results  # fmt: skip


def asking(server, **settings):
    """Each nugget asked alone, of the server."""
    model = {"model": "openai/mock", "api_base": server.base_url, "reasks": 0, "retries": 0}
    given = {"cache": False, "judges.assigner.window": 1, **settings}
    return {"program": "nuggets", "model": model, **given}


@pytest.mark.parametrize("run_async", [True, False])
def test_a_test_case_passes_and_fails_by_what_the_judge_found(run_async):
    metric = JudgeMetric("V_strict", "nuggets", model="lexical", threshold=0.75)
    half, both = evaluated([case_of(), case_of("And drones?", BOTH)], metric, run_async=run_async)
    (metric_data,) = half.metrics_data
    assert (half.success, metric_data.score, metric_data.error) == (False, 0.5, None)
    assert (metric_data.name, metric_data.reason) == ("V_strict (nuggetjudge)", WHY_HALF)
    assert metric_data.evaluation_model == "lexical"
    assert (both.success, both.metrics_data[0].score) == (True, 1.0)


@pytest.mark.parametrize("run_async", [True, False])
def test_a_judge_that_fails_gives_an_error_and_no_score(model_server, run_async):
    model_server.brain = always("support")
    model_server.faults = [REFUSED, REFUSED]
    metric = JudgeMetric("V_strict", threshold=0.0, **asking(model_server))
    lost, judged = evaluated([case_of("Lost?"), case_of("Judged?")], metric, run_async=run_async)
    (metric_data,) = lost.metrics_data
    assert (lost.success, metric_data.score, metric_data.success) == (False, None, False)
    assert metric_data.error == "V_strict not judged (n 0, 2 unjudged; unparseable 2)"
    assert (judged.success, judged.metrics_data[0].score) == (True, 1.0)


def test_assert_test_fails_by_name_where_the_judge_failed_though_any_score_would_pass(model_server):
    model_server.faults = [REFUSED, REFUSED]
    metric = JudgeMetric("V_strict", threshold=0.0, **asking(model_server))
    with pytest.raises(AssertionError, match=r"V_strict not judged .*unparseable 2"):
        deepeval.assert_test(case_of(), [metric])


@pytest.mark.parametrize(("threshold", "passes"), [(0.5, True), (0.75, False)])
def test_what_is_missing_is_counted_as_worst_before_a_test_case_passes(
    model_server, threshold, passes
):
    model_server.brain = always("support")
    model_server.faults = [REFUSED]
    metric = JudgeMetric("V_strict", threshold=threshold, **asking(model_server))
    assert metric.measure(case_of()) == 1.0
    assert metric.score_breakdown == {"n": 1, "n_unjudged": 1, "low": 0.5, "high": 1.0}
    assert (metric.success, metric.is_successful()) == (passes, passes)
    assert metric.reason.startswith("V_strict 1.000 (n 1, 1 unjudged; unparseable 1)\nNot judged")


def test_a_test_case_without_an_answer_is_a_missing_parameter_which_deepeval_can_skip():
    case = LLMTestCase(input="Why?", retrieval_context=["Because."])
    metric = JudgeMetric("V_strict", "nuggets", model="lexical")
    with pytest.raises(MissingTestCaseParamsError, match=r"'Why[?]' has no actual_output"):
        metric.measure(case)
    (skipped,) = evaluated([case], metric, skip_on_missing_params=True)
    assert not skipped.metrics_data


def test_test_cases_are_samples_with_the_same_scores():
    cases = [case_of(), case_of("And drones?", BOTH)]
    cases[1].retrieval_context = [RetrievedContextData(context="Drones.", source="b.md")]
    rows = nj.evaluate(samples(cases), "nuggets", model="lexical").rows(["V_strict"])
    metric = JudgeMetric("V_strict", "nuggets", model="lexical")
    assert [row.value for row in rows] == [metric.measure(case) for case in cases] == [0.5, 1.0]
    assert [sample["retrieval_context"] for sample in samples(cases)][1] == ["Drones."]
