"""The section of a config that the building of collections brings."""

from __future__ import annotations

from pydantic import Field

from ...programs.config.base import Section


class Long2RagConfig(Section):
    """What `judge build long2rag` makes questions of, and how many (arXiv:2410.23000)."""

    min_points: int = Field(
        default=4, ge=0, le=5, description="points, 0 to 5, that a seed question needs"
    )
    evolve: int = Field(
        default=0,
        ge=0,
        le=20,
        description="new questions of each seed in depth, and as many in width; at most 20",
    )
