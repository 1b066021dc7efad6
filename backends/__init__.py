"""Backends answer a judge's question: a model behind a gateway, a recording, or word overlap.
Imports records; judges, retrieval and the layers above may import it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .batch.ledger import Batches
    from .budget import Budget
    from .cache import ReplyCache
    from .config import ModelConfig
    from .gateway import Backend, Transport

__all__ = ["open_backend", "open_transport"]

MODELS = "nuggetjudge.models"  # entry points: WAY = "module:function", as plugins/trained


def open_backend(
    config: ModelConfig,
    *,
    cache: ReplyCache | None = None,
    budget: Budget | None = None,
    offline: bool = False,
    batches: Batches | None = None,
) -> Backend:
    """Open the backend for one model entry.

    With `offline`, the endpoint and its key are not needed; a recording still answers. With
    `batches`, requests go through the endpoint's batch API. A proxy that the environment sets is
    announced.
    Raises: EndpointUnusable if the key is missing; InputError if the recording is broken, vLLM is
        not installed, or the endpoint cannot be reached through a batch API.
    """
    from .offline import LexicalBackend
    from .tracing import open_gateway

    if config.way == "lexical":
        return LexicalBackend(config, budget)
    if config.recorded_judge:
        from .offline import RecordedLabels

        return RecordedLabels(config, budget)
    if config.way == "trained":
        return _find_opener(config.way)(config, budget)
    if config.way == "recorded":
        from .offline import RecordedTransport

        assert config.recording is not None  # ModelConfig checks it
        return open_gateway(config, RecordedTransport(config.recording), budget=budget)
    if not offline and (config.way == "http" or config.uses_litellm):
        from .http import announce_proxy

        announce_proxy(config)
    if batches is not None and not offline and config.way != "vllm":
        from .batch.api import open_batches

        return open_batches(config, batches, cache=cache, budget=budget)
    transport = None if offline else open_transport(config)
    return open_gateway(config, transport, cache=cache, budget=budget)


def _find_opener(way: str) -> Callable[..., Backend]:
    """The function of another package that opens models of this kind. Raises: InputError."""
    from importlib.metadata import entry_points

    from ..records.reading.problems import InputError

    for entry in entry_points(group=MODELS, name=way):
        opener: Callable[..., Backend] = entry.load()
        return opener
    raise InputError(f"model {way}/...: no installed package opens it (entry points {MODELS})")


def open_transport(config: ModelConfig) -> Transport:
    """Open what sends the requests of an `http`, `litellm`, `decision` or `vllm` entry.

    Raises: EndpointUnusable; InputError if the extra that it needs is not installed.
    """
    if config.way == "vllm":
        from .vllm_engine import VllmTransport

        return VllmTransport(config)
    if config.way == "decision":
        from .litellm_models import DecisionTransport

        return DecisionTransport(config)
    if config.way == "litellm":
        from .litellm_models import LiteLLMTransport

        return LiteLLMTransport(config)
    from .http import HttpTransport

    return HttpTransport(config)
