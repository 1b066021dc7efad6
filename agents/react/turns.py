"""The turns that an agent without a plan has taken for one item."""

from __future__ import annotations

from typing import NamedTuple

from ...judges.planning.actions import Action, Turn
from ...judges.verdicts import Verdict


class Done(NamedTuple):
    """The turns, the path of each in the trace, and the planner's `finish`, if it came to one.

    `verdicts`: of each judged passage the last one, and the path of its step.
    """

    turns: list[Turn]
    paths: list[str]
    verdicts: dict[str, tuple[Verdict, str]]
    finish: Action | None = None
