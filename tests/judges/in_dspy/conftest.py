"""What a model says is what the lexical judge says, with reasons where they are asked for."""

from collections.abc import Iterator

import dspy
import pytest
from mock_server import MockServer

from nuggetjudge.backends.config import ModelConfig

BECAUSE = "the passage says so"


@pytest.fixture(autouse=True)
def no_price_table(monkeypatch):
    """DSPy's own LM fetches one, unless it is told to do with its copy."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "true")


@pytest.fixture
def steps(case):
    """The calls of a case as DSPy traces them: predictor, inputs and outputs of each."""
    with dspy.context(trace=[]):
        case.make("lexical")(**case.asked)
        return list(dspy.settings.trace)


@pytest.fixture
def expected(case):
    """What the lexical baseline says, by the route without a model."""
    return case.make("lexical")(**case.asked)[case.field]


USERS_KEY = "sk-of-the-user-alone"


@pytest.fixture
def users_lm(baseline_server):
    """An LM of the user's own; its key tells its requests from those of the judge's model."""
    return dspy.LM(
        "openai/mock", api_base=baseline_server.base_url, api_key=USERS_KEY, cache=False,
        num_retries=0,
    )  # fmt: skip


@pytest.fixture
def who_answered(baseline_server):
    """Since the last time: "user" for each request of the user's LM, "judge" for each other."""

    def senders():
        asked = [USERS_KEY in str(r.headers.get("authorization")) for r in baseline_server.requests]
        baseline_server.clear()
        return ["user" if is_users else "judge" for is_users in asked]

    return senders


@pytest.fixture
def reasoning_server(baseline_server) -> Iterator[MockServer]:
    """As baseline_server, and says why where the prompt has a field for it."""

    def answer(body):
        why = {"reasoning": BECAUSE} if '"reasoning"' in body["messages"][0]["content"] else {}
        return why | baseline_server.brain(body)

    with MockServer(answer) as server:
        yield server


@pytest.fixture
def reasoning_model(reasoning_server) -> ModelConfig:
    return ModelConfig(model="openai/mock", api_base=reasoning_server.base_url)
