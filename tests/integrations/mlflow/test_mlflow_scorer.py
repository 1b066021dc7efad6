"""Our measures as an MLflow scorer, in MLflow's own `evaluate`, and its traces as samples."""

import pytest
from mock_server import Says, always

mlflow = pytest.importorskip("mlflow")

from mlflow.entities import Document  # noqa: E402

import nuggetjudge as nj  # noqa: E402
from nuggetjudge.plugins.harnesses.mlflow_scorer import JudgeScorer, samples  # noqa: E402

FACTS = ["The waggle dance tells the direction of flowers", "Drones do not sting"]
CONTEXT = "The waggle dance tells the direction of flowers."
# By hand: the answer has the first of two vital nuggets, word for word, and nothing of the other.
HALF = "The waggle dance tells the direction of flowers [1]."


def row(question="Why do bees dance?", answer=HALF):
    return {
        "inputs": {"question": question},
        "outputs": {"answer": answer, "contexts": [CONTEXT]},
        "expectations": {"expected_facts": FACTS},
    }


def feedbacks():
    """What stands on the traces, by question and name."""
    by_question = {}
    for trace in mlflow.search_traces(return_type="list"):
        question = trace.data.spans[0].inputs["question"]
        for assessment in trace.search_assessments(type="feedback"):
            by_question[question, assessment.name] = assessment
    return by_question


def test_a_judge_that_fails_is_an_error_which_no_mean_has_in_it(store, model_server):
    refused = Says("I would rather not say.")
    model_server.brain = always("support")
    model_server.faults = lambda _, body: refused if "Lost?" in str(body["messages"]) else None
    model = {"model": "openai/mock", "api_base": model_server.base_url, "reasks": 0}
    scorer = JudgeScorer("V_strict", "V", program="nuggets", model=model, cache=False)
    result = mlflow.genai.evaluate(data=[row("Lost?"), row("Judged?")], scorers=[scorer])

    assert result.metrics == {"V_strict/mean": 1.0, "V/mean": 1.0}
    assessments = feedbacks()
    lost, judged = assessments["Lost?", "V_strict"], assessments["Judged?", "V_strict"]
    assert (lost.value, lost.error.error_code) == (None, "NOT_JUDGED")
    assert lost.error.error_message == "V_strict not judged (n 0, 2 unjudged; unparseable 1)"
    rests_on = {"n": "0", "n_unjudged": "2", "low": "0.0", "high": "1.0", "unparseable": "1"}
    assert lost.metadata.items() >= rests_on.items()
    assert (judged.value, judged.error, judged.rationale) == (1.0, None, "V_strict 1.000 (n 2)")
    assert len(model_server.requests) == 2  # a row is asked about once, for both measures
    assert (judged.source.source_type, judged.source.source_id) == ("LLM_JUDGE", "openai/mock")


def test_contexts_are_what_the_traced_retriever_found_and_traces_are_samples(store):
    @mlflow.trace(span_type="RETRIEVER")
    def retrieve(question):
        return [Document(page_content=CONTEXT)]

    @mlflow.trace
    def rag(question):
        return retrieve(question)[0].page_content.replace(".", " [1].") + " They hum."

    rows = [{"inputs": {"question": "Why do bees dance?"}, "expectations": {"nuggets": FACTS}}]
    scorer = JudgeScorer("V_strict", "support_recall", model="lexical")
    result = mlflow.genai.evaluate(data=rows, predict_fn=rag, scorers=[scorer])
    assert result.metrics == {"V_strict/mean": 0.5, "support_recall/mean": 0.5}
    assessments = feedbacks()
    why = [
        assessments["Why do bees dance?", name].rationale for name in ("V_strict", "support_recall")
    ]
    assert [text.splitlines()[1:] for text in why] == [
        ["The answer does not state:", f"- {FACTS[1]} (vital)"],
        ["Not supported by their citations:", "- They hum.: cites nothing"],
    ]

    wanted = {
        "question": "Why do bees dance?", "answer": f"{HALF} They hum.", "contexts": [CONTEXT],
        "nuggets": FACTS,
    }  # fmt: skip
    traces = mlflow.search_traces(return_type="list")
    assert list(samples(traces)) == list(samples(mlflow.search_traces())) == [wanted]
    (score,) = nj.evaluate(samples(traces), "nuggets", model="lexical").rows(["V_strict"])
    assert score.value == 0.5


def test_a_row_without_an_answer_is_an_error_that_says_so(store):
    rows = [{"inputs": {"question": "Why?"}, "expectations": {"nuggets": FACTS}}]
    scorer = JudgeScorer("V_strict", program="nuggets", model="lexical")
    result = mlflow.genai.evaluate(data=rows, scorers=[scorer])
    assert result.metrics == {}
    assert "no answer" in feedbacks()["Why?", "V_strict"].error.error_message
