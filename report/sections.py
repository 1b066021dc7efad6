"""The sections of a report, in their order."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .source import Source


@dataclass(frozen=True)
class Section:
    """One section.

    Attributes:
        home: folder and name of its two files, `runs/leaderboard`. The Python one has
            `data(source)`: what the other one draws, as JSON; with `missing` (and `command`) in it
            where there is nothing to draw: what is not there, and what would make it. None: the
            section means nothing for these results and is left out. With `count` the navigation
            shows a number.
        title: in the navigation, and above it.
    """

    home: str
    title: str

    @property
    def id(self) -> str:
        """Its name in links."""
        return self.home.rpartition("/")[2]

    @property
    def script(self) -> Path:
        """What draws it."""
        return Path(__file__).parent / f"{self.home}.js"

    def data(self, source: Source) -> Mapping[str, Any] | None:
        """See `home`."""
        module = importlib.import_module(f".{self.home.replace('/', '.')}", __package__)
        section_data: Mapping[str, Any] | None = module.data(source)
        return section_data


SECTIONS = (
    Section("overall/summary", "Summary"),
    Section("runs/leaderboard", "Leaderboard"),
    Section("runs/pairs", "Two runs"),
    Section("runs/arena", "Battles"),
    Section("runs/length", "Score and length"),
    Section("runs/topics", "Topics"),
    Section("runs/profile", "One run"),
    Section("answers/matrix", "Facts and runs"),
    Section("answers/answer", "Answers"),
    Section("answers/sides", "Two answers"),
    Section("trust/people", "People and judge"),
    Section("trust/disagreements", "Disagreements"),
    Section("retrieval/coverage", "Retrieval"),
    Section("trust/unjudged", "Unjudged"),
    Section("trust/agents", "Agents"),
    Section("overall/cost", "Cost"),
    Section("overall/method", "Method"),
)
