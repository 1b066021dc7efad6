"""What `judge calibrate` will ask at most, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..judges import ItemJudge
from ..judges.calls import calls
from ..programs.engine.estimates import Estimate, estimate_items
from .examples import Example, Examples, of_topics
from .fits import FIT_METHODS
from .settings import Settings
from .split import split_topics


def planned(judge: ItemJudge, examples: Examples, settings: Settings) -> list[Estimate]:
    """Calls, tokens and money, as if nothing were in the cache and no reply had to be asked again.

    A method that fits numbers judges every item once. One that fits a prompt judges the test
    items before and after, and searches; the search is the most it may take, at the length of the
    prompt as it is (worked examples make it longer), with its proposals among the calls.
    """
    if settings.method in FIT_METHODS:
        return [_estimate(judge, examples.items, "every item", 1)]
    split = split_topics(examples.topics, shares=settings.shares, seed=settings.seed)
    train, dev = (of_topics(examples.items, part) for part in (split.train, split.dev))
    t, d = (len(calls(judge, part)) for part in (train, dev))
    most = search_calls(settings.method, settings.options, t, d)
    test = _estimate(judge, of_topics(examples.items, split.test), "test, twice", 2)
    one = _estimate(judge, [*train, *dev], "search, at most", 1)
    return [test, _scaled(one, most / one.calls)]


def search_calls(method: str, options: Mapping[str, Any], t: int, d: int) -> int:
    """The most requests of a search over train and dev of so many calls (docs/optimisers.md).

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


def _estimate(judge: ItemJudge, items: Sequence[Example], what: str, times: int) -> Estimate:
    asked = [[items[i].inputs for i in places] for places in calls(judge, items)]
    return _scaled(estimate_items(judge, f"{judge.name}: {what}", asked), times)


def _scaled(found: Estimate, times: float) -> Estimate:
    def more(number: float | None) -> float | None:
        return None if number is None else number * times

    return replace(
        found,
        calls=round(found.calls * times),
        prompt_tokens=round(found.prompt_tokens * times),
        cached_tokens=round(found.cached_tokens * times),
        completion_tokens=round(found.completion_tokens * times),
        cost=more(found.cost),
        gpu_hours=more(found.gpu_hours),
    )
