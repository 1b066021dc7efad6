"""The room that an optimiser works in: its own DSPy settings, no terminal, not the whole budget."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy

from ...backends.budget import Budget

NO_LIMIT = 10**9  # of errors before DSPy gives up: a wrong reply is scored, a dead endpoint stops

# Whatever the program around us configured: no histories that grow, no trace but where an optimiser
# wants one, no callbacks.
SETTINGS: dict[str, Any] = {
    "disable_history": True,
    "trace": None,
    "callbacks": [],
    "max_errors": NO_LIMIT,
    "provide_traceback": False,
}


@contextlib.contextmanager
def confined(lm: dspy.LM) -> Iterator[None]:
    """Run DSPy with this LM, leaving the caller's settings alone.

    What is printed meanwhile, by DSPy or others, is dropped; our own warnings come at the end.
    """
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        dspy.context(**SETTINGS, lm=lm, adapter=dspy.ChatAdapter()),
    ):
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if warning.category is RuntimeWarning and "nuggetjudge" in warning.filename:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


@contextlib.contextmanager
def keeping_back(budget: Budget, n_calls: int) -> Iterator[None]:
    """Lower the limits by so many requests, to be had again afterwards.

    Tokens and money are reserved at the mean of the requests so far; before the first, none.
    """
    reached, limits = budget.reached, (budget.max_calls, budget.max_tokens, budget.max_cost)
    use, share = budget.usage, n_calls / max(1, budget.usage.requests)
    if budget.max_calls is not None:
        budget.max_calls -= n_calls
    if budget.max_tokens is not None:
        budget.max_tokens -= round(use.tokens * share)
    if budget.max_cost is not None:
        budget.max_cost -= use.cost * share
    try:
        yield
    finally:
        budget.max_calls, budget.max_tokens, budget.max_cost = limits
        budget.reached = reached
