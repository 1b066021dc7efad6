"""What an optimiser is kept from."""

import sys
import warnings

import dspy
import pytest

from nuggetjudge.backends.budget import Budget, Usage
from nuggetjudge.calibration.prompts.asking import confine_dspy, reserve_calls


def test_prints_go_nowhere_and_our_own_warnings_come_afterwards(capfd):
    ours, theirs = "/lib/nuggetjudge/backends/gateway.py", "/lib/dspy/clients/lm.py"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with confine_dspy(dspy.utils.DummyLM([])):
            print("Average Metric: 3 / 4")  # noqa: T201
            sys.stderr.write("25%")
            warnings.warn_explicit("replies are kept no longer", RuntimeWarning, ours, 1)
            warnings.warn_explicit("old interface", DeprecationWarning, theirs, 1)
            assert seen == []
    assert [str(warning.message) for warning in seen] == ["replies are kept no longer"]
    assert capfd.readouterr() == ("", "")


def test_what_is_kept_back_can_be_spent_afterwards_also_when_the_search_failed():
    usage = Usage(requests=10, prompt_tokens=900, completion_tokens=100, cost=2.0)
    budget = Budget(max_calls=100, max_tokens=5000, max_cost=9.0, usage=usage)

    def search():
        with reserve_calls(budget, 5):
            assert (budget.max_calls, budget.max_tokens, budget.max_cost) == (95, 4500, 8.0)
            budget.reached = "max_calls 95"
            raise KeyError

    with pytest.raises(KeyError):
        search()
    assert budget == Budget(max_calls=100, max_tokens=5000, max_cost=9.0, usage=usage)
