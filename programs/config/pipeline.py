"""Pipelines as a config spells them: short forms, and which orders of steps make sense."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from .steps import (
    AnyStep,
    CoverageStep,
    CutStep,
    FirstStage,
    ListwiseStep,
    RankLlmStep,
    RerankStep,
    RrfStep,
    RunStep,
    SearchStep,
    SetwiseStep,
    Step,
    WeightedStep,
)


def as_step(value: Any) -> Any:
    """A step from its short forms: `rrf`, `bm25 100`, `{bm25: 100}`, `{bm25: {hits: 100}}`."""
    if isinstance(value, str):
        name, _, hits = value.strip().partition(" ")
        value = {name: hits.strip() or None}
    if not isinstance(value, dict) or len(value) != 1 or "step" in value:
        return value
    [(name, settings)] = value.items()
    if not isinstance(settings, dict):
        settings = {} if settings is None else {"hits": settings}
    return {"step": name, **settings}


def _as_steps(value: Any) -> Any:
    if isinstance(value, str):
        value = [part for part in value.split(",") if part.strip()]
    return [as_step(each) for each in value] if isinstance(value, list | tuple) else value


def _in_order(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Raise ValueError unless each step finds what it works on, and one ranking is left."""
    n = 0
    for number, step in enumerate(steps, 1):
        if isinstance(step, FirstStage):
            n += 1
        elif not n:
            raise ValueError(f"step {number}, {step.step}: no ranking yet; begin with bm25")
        elif isinstance(step, RrfStep | WeightedStep):
            if isinstance(step, WeightedStep) and len(step.weights) != n:
                n_weights = len(step.weights)
                raise ValueError(f"step {number}, weighted: {n_weights} weights for {n} rankings")
            n = 1
        elif n > 1:
            raise ValueError(f"step {number}, {step.step}: {n} rankings; fuse them first, by rrf")
    if n > 1:
        raise ValueError(f"{n} rankings are left; fuse them, by rrf")
    return steps


def _searches(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Raise ValueError unless any query can be searched with these steps, always alike.

    A step that asks a model keeps the order where a call fails: "not found" could rest on that.
    """
    if not steps:
        raise ValueError("no steps; wanted such as [bm25 50, mmr 10]")
    for number, step in enumerate(steps, 1):
        if isinstance(step, ListwiseStep | SetwiseStep | RankLlmStep | CoverageStep):
            raise ValueError(f"step {number}, {step.step}: asks a model, which no search here may")
        if isinstance(step, RunStep) or (isinstance(step, CutStep) and step.required):
            raise ValueError(f"step {number}, {step.step}: knows the topics alone, and no query")
    return steps


Pipeline = Annotated[tuple[AnyStep, ...], BeforeValidator(_as_steps), AfterValidator(_in_order)]
SearchPipeline = Annotated[Pipeline, AfterValidator(_searches)]  # of agents


def name_of(steps: Sequence[Step]) -> str:
    """A run id for a pipeline without a name: `bm25-dense-rrf-mmr`."""
    return "-".join(step.step for step in steps if step.step != "cut")


def cut_to(
    steps: Sequence[AnyStep],
    hits: int | None = None,
    tokens: int | None = None,
    *,
    required: bool = False,
) -> tuple[AnyStep, ...]:
    """The steps with a cut behind them; the same where nothing limits it."""
    if not steps or (hits is None and tokens is None and not required):
        return tuple(steps)
    return (*steps, CutStep(step="cut", hits=hits, tokens=tokens, required=required))


def deep_enough(steps: Sequence[AnyStep]) -> tuple[AnyStep, ...]:
    """The steps, where a search without `hits` finds as many passages as a later step takes."""
    deepened: list[AnyStep] = []
    wanted = 0
    for step in reversed(steps):
        if not isinstance(step, SearchStep):
            depth = step.depth if isinstance(step, RerankStep) else None
            wanted = max(wanted, step.hits or 0, depth or 0)
        elif "hits" not in step.model_fields_set and step.hits < wanted:
            step = step.model_copy(update={"hits": wanted})
        deepened.append(step)
    return tuple(reversed(deepened))


def too_shallow(steps: Sequence[Step]) -> Iterator[tuple[Step, int]]:
    """The steps that can never leave as many passages as they say, and how many come to them."""
    most: float = 0
    for step in steps:
        if isinstance(step, FirstStage):
            most += step.hits or math.inf
        elif step.hits is not None:
            if step.hits > most:
                yield step, int(most)
            most = min(most, step.hits)
