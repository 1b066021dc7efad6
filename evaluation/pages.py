"""Finds the installed functions that write a report or a figure of a result."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

GROUP = "nuggetjudge.results"  # of entry points: report = "module:function"


def find_writer(name: str) -> Callable[..., Any]:
    """The installed function `report` or `figure`; docs/extending.md has their arguments.

    Raises: ModuleNotFoundError if no package brings one.
    """
    for entry in entry_points(group=GROUP, name=name):
        return entry.load()  # type: ignore[no-any-return]
    raise ModuleNotFoundError(f"no installed package writes a {name}")
