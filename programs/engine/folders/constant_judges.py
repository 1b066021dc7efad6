"""Judges, and members of juries, that gave everything the same label: a dead model looks so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

LEAST = 15  # labels; of fewer, equal ones may be chance


def constant_judges(manifest: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on each judge, or member of one, of which all of 15 or more labels are equal.

    Args:
        manifest: of a results folder; its `labels` have a dot between a judge and its member.
    """
    for name, counts in manifest.get("labels", {}).items():
        if len(counts) == 1 and (n := sum(counts.values())) >= LEAST:
            judge, _, member = name.partition(".")
            who = f"Judge {judge}" if not member else f"Member {member} of judge {judge}"
            (label,) = counts
            what = f"{who} gave all {n:,} items the same label ({label})"
            yield f"{what}, which says nothing about them; check its model with judge doctor"
