"""A gateway asked with other settings."""

import pytest

from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.errors import JudgeError


def test_other_settings_go_out_and_have_replies_of_their_own(
    open_gateway, ask, cache, model_server
):
    gateway = open_gateway(cache=cache)
    warm = gateway.varied(temperature=1.0)
    for each in (gateway, warm, gateway, warm, gateway.varied(temperature=1.0)):
        ask(each)
    assert [request.body["temperature"] for request in model_server.requests] == [0.0, 1.0]
    assert gateway.config.temperature == 0.0


def test_the_budget_is_shared(open_gateway, ask, model_server):
    gateway = open_gateway(budget=Budget(max_calls=2))
    ask(gateway)
    ask(gateway.varied(temperature=1.0))
    with pytest.raises(JudgeError, match="max_calls 2 reached"):
        ask(gateway.varied(temperature=2.0))
    assert len(model_server.requests) == 2
