"""Types that the commands of `judge annotate` share."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..store.kinds import Kind

Kinds: TypeAlias = Kind
Conditions = Literal["from-scratch", "post-edit"]


def get_condition(condition: Conditions | None) -> Literal["from_scratch", "post_edit"] | None:
    """The condition as events store it."""
    if condition is None:
        return None
    return "post_edit" if condition == "post-edit" else "from_scratch"
