"""Who answers a judge's question: an LM behind a gateway, a recording, or the lexical twin."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .budget import Budget
    from .cache import ReplyCache
    from .config import ModelConfig
    from .gateway import Backend

__all__ = ["open_backend"]


def open_backend(
    config: ModelConfig,
    *,
    cache: ReplyCache | None = None,
    budget: Budget | None = None,
    offline: bool = False,
) -> Backend:
    """The Backend for one model entry.

    Raises: EndpointUnusable if its key is missing; InputError if its recording is broken.
    """
    from .gateway import Gateway
    from .lexical import LexicalBackend

    if config.way == "lexical":
        return LexicalBackend(config, budget)
    transport = _transport(config)
    kept = None if config.way == "recorded" else cache
    return Gateway(config, transport, cache=kept, budget=budget, offline=offline)


def _transport(config: ModelConfig):  # type: ignore[no-untyped-def]
    if config.way == "recorded":
        from .recorded import RecordedTransport

        assert config.recording is not None  # ModelConfig checks it
        return RecordedTransport(config.recording)
    if config.way == "litellm":
        from .litellm_models import LiteLLMTransport

        return LiteLLMTransport(config)
    from .http import HttpTransport

    return HttpTransport(config)
