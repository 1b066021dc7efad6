"""Spans of runs, judgements and calls, if a package that makes them is installed and enabled.

A gateway knows nothing of spans: if they are enabled, a subclass takes its place.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

from ..records.judgements import Outcome
from .config import ModelConfig
from .gateway import Gateway, Transport

GROUP = "nuggetjudge.tracing"  # of entry points: NAME = "module", as plugins/exports/spans.py
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

ItemT = TypeVar("ItemT")
Ask = Callable[[ItemT], Awaitable[Outcome]]


def open_gateway(config: ModelConfig, transport: Transport | None, **settings: Any) -> Gateway:
    """Open a Gateway for a transport, with spans for its questions if they are enabled.

    Args:
        settings: arguments of Gateway.
    """
    spans = _find_spans()
    gateway: Gateway = (Gateway if spans is None else spans.TracedGateway)(
        config, transport, **settings
    )
    return gateway


def trace_items(ask: Ask[ItemT], stage: str, judges: Sequence[str]) -> Ask[ItemT]:
    """Wrap the call for an item in a span; returns `ask` itself if spans are off."""
    spans = _find_spans()
    traced: Ask[ItemT] = ask if spans is None else spans.trace_items(ask, stage, judges)
    return traced


def trace_run(programs: Sequence[str]) -> AbstractContextManager[None]:
    """Put all work inside into one span, if spans are enabled."""
    spans = _find_spans()
    run: AbstractContextManager[None] = (
        nullcontext() if spans is None else spans.trace_run(programs)
    )
    return run


def _find_spans() -> Any | None:
    """The module that makes spans; None if none is installed or enabled."""
    is_provider = "opentelemetry.trace" in sys.modules  # otherwise no provider is set
    if not is_provider and not any(map(os.environ.get, ENDPOINTS)):
        return None
    module = _load()
    return None if module is None or module.tracer() is None else module


@cache
def _load() -> Any | None:
    return next((entry.load() for entry in entry_points(group=GROUP)), None)
