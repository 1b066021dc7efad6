"""The turns that an agent without a plan has taken for one item."""

from __future__ import annotations

from typing import NamedTuple

from ...judges.seeking.actions import Action, Turn


class Done(NamedTuple):
    """The turns, the path of each in the trace, and the planner's `finish`, if it came to one."""

    turns: list[Turn]
    paths: list[str]
    finish: Action | None = None
