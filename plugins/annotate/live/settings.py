"""Settings of the coordinator's figures, chosen when the server starts."""

from __future__ import annotations

from dataclasses import dataclass

from ....metrics.inference import LEVEL
from ..store.events import Condition
from ..store.kinds import Kind

HALF_WIDTH = 0.05


@dataclass(frozen=True)
class LiveSettings:
    """Settings of the figures.

    Attributes:
        half_width: target half-width of the fixed-sample interval, for the labels still needed.
        level: level of all intervals.
    """

    kind: Kind
    condition: Condition = "from_scratch"
    half_width: float = HALF_WIDTH
    level: float = LEVEL
