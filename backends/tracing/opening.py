"""Opens a Gateway: the plain one, which knows nothing of spans, unless somebody wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..gateway import Gateway
from .tracer import tracer

if TYPE_CHECKING:
    from ..config import ModelConfig
    from ..gateway import Transport


def opened(config: ModelConfig, transport: Transport | None, **settings: Any) -> Gateway:
    """A Gateway for a transport; its questions are spans where there is a tracer.

    Args:
        settings: as of Gateway.
    """
    if (spans := tracer()) is None:
        return Gateway(config, transport, **settings)
    from .gateway import TracedGateway

    traced = TracedGateway(config, transport, **settings)
    traced.tracer = spans
    return traced
