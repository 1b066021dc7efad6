"""What a coordinator is shown: chosen when a server starts, before anything is worked out."""

from __future__ import annotations

from dataclasses import dataclass

from ....metrics.inference import LEVEL
from ..store.events import Condition
from ..store.kinds import Kind

HALF_WIDTH = 0.05


@dataclass(frozen=True)
class LiveSettings:
    """What is looked at.

    Attributes:
        half_width: of the fixed-sample interval, which labels still needed are counted for.
        level: of all intervals.
    """

    kind: Kind
    condition: Condition = "from_scratch"
    half_width: float = HALF_WIDTH
    level: float = LEVEL
