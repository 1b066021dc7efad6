"""What `judge calibrate` asks, in parts: all that it judges, and how long a search may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..judges.base import Judge
from ..programs.engine.panel import Panel
from ..programs.engine.spending import Estimate
from ..records.reading.problems import InputError
from .fits import FIT_METHODS
from .fitting import Target
from .settings import Settings

ITEMS, TEST, SEARCH = "every item", "test, twice", "search, at most"


def ask_what_it_asks(panel: Panel, target: Target) -> float:
    """Measure the items of a calibration, without a fit; how often those of a search are asked.

    A method that fits numbers judges every item once. One that fits a prompt judges the test items
    (or makes the test lists) before and after, and searches, here once over train and dev. A
    search is not tried without a model, as its course is made of what models write: it counts as
    the most it may take, at the length of the prompt as it is (worked examples make it longer),
    with its proposals among the calls.

    Raises: InputError as `fit_target`, before anything is asked.
    """
    judge, settings = target.judge, target.settings
    try:
        splits = target.splits()
    except ValueError as error:
        raise InputError(f"{settings.method}: {error}") from None
    if settings.method in FIT_METHODS:
        panel.part = ITEMS
        target.measure(judge, target.items)
        return 1.0
    [split] = splits
    train, dev, test = target.parts(split)
    t, d = target.count(train), target.count(dev)
    most = search_checked(judge, settings, t, d)
    panel.part = TEST
    for _ in ("before", "after"):
        target.measure(judge, test)
    panel.part = SEARCH
    target.measure(judge, [*train, *dev])
    return most / (t + d)


def search_checked(judge: Judge, settings: Settings, t: int, d: int) -> int:
    """As `search_calls`. Raises: InputError for what the search itself would refuse."""
    from .prompts.optimisers import NO_PROMPT, checked_options, is_of_lists

    method = settings.method
    try:
        if judge.model_name == "lexical":
            raise ValueError(f"--method {method} {NO_PROMPT}")
        checked_options(method, settings.options, t, is_of_lists(judge))
    except (ValueError, ModuleNotFoundError) as error:
        raise InputError(f"{method}: {error}") from None
    return search_calls(method, settings.options, t, d)


def search_calls(method: str, options: Mapping[str, Any], t: int, d: int) -> int:
    """The most requests of a search over train and dev of so many calls (docs/trust/optimisers.md).

    Raises: ValueError for an unknown method.

    >>> search_calls("few-shot", {}, 40, 20)
    40
    """
    from .prompts.optimisers import GEPA_ROUNDS, OPTIONS, SIMBA_BATCH

    if method not in OPTIONS:
        raise ValueError(f"wanted one of {', '.join(OPTIONS)}, got {method!r}")
    o = {**OPTIONS[method], **options}
    if method == "few-shot":
        return 2 * d
    if method == "bootstrap":
        n = int(o["num_candidate_programs"])
        return (n + 3) * d + (n + 1) * t * int(o["max_rounds"])
    if method == "mipro":
        n = int(o["num_candidates"])
        return (int(o["num_trials"]) + 1) * d + (n - 2) * t + n + 11
    if method == "simba":
        n, batch = int(o["num_candidates"]), int(o["bsize"] or min(SIMBA_BATCH, t))
        return int(o["max_steps"]) * ((2 * n + 1) * batch + n + 1 + d) + (n + 1) * t + 2 * d
    most = int(o["max_metric_calls"] or GEPA_ROUNDS * (t + d))
    return most + most // int(o["reflection_minibatch_size"]) + 2 * d


def scaled(estimate: Estimate, times: float) -> Estimate:
    """The same so often."""

    def more(number: float | None) -> float | None:
        return None if number is None else number * times

    return replace(
        estimate,
        calls=round(estimate.calls * times),
        prompt_tokens=round(estimate.prompt_tokens * times),
        cached_tokens=round(estimate.cached_tokens * times),
        completion_tokens=round(estimate.completion_tokens * times),
        cost=more(estimate.cost),
    )
