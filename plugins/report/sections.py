"""The sections of a report, in their order."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from .source import Source

GROUP = "nuggetjudge.report_sections"  # of entry points: NAME = "module:SECTION", a Section


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
        package: the one that `home` is in. after: the id of the section that it follows, of one of
            another package; "": the last.
    """

    home: str
    title: str
    package: str = __name__.rpartition(".")[0]
    after: str = ""

    @property
    def id(self) -> str:
        """Its name in links."""
        return self.home.rpartition("/")[2]

    @property
    def script(self) -> Path:
        """What draws it."""
        package = importlib.import_module(self.package)
        return Path(package.__path__[0]) / f"{self.home}.js"

    def data(self, source: Source) -> Mapping[str, Any] | None:
        """See `home`."""
        module = importlib.import_module(f".{self.home.replace('/', '.')}", self.package)
        section_data: Mapping[str, Any] | None = module.data(source)
        return section_data


_OWN = (
    Section("overall/summary", "Summary"),
    Section("runs/leaderboard", "Leaderboard"),
    Section("runs/pairs", "Two runs"),
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


def sections() -> list[Section]:
    """All sections in their order, those of other packages where they want to stand.

    Raises: ImportError, AttributeError for one of another package that cannot be loaded.
    """
    every = list(_OWN)
    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        section: Section = entry.load()
        ids = [one.id for one in every]
        every.insert(ids.index(section.after) + 1 if section.after in ids else len(ids), section)
    return every
