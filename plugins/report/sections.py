"""The sections of a report, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from . import answers, coverage, groups, method, runs, summary, trust
from .source import Source

GROUP = "nuggetjudge.report_sections"  # of entry points: NAME = "module:SECTION", a Section
_SCRIPTS = Path(__file__).parent / "web" / "sections"


@dataclass(frozen=True)
class Section:
    """One section.

    Attributes:
        script: the JavaScript module that draws it; the name of the file is its name in links.
        title: in the navigation, and above the section.
        data: what the script draws, as JSON. If there is nothing to draw, it has `missing`, which
            says what is missing, and `command`, which creates it. None: the section does not apply
            to these results and is left out. With `count`, the navigation shows a number.
        after: for a section of another package, the id of the section before it; "": it is last.
    """

    script: Path
    title: str
    data: Callable[[Source], Mapping[str, Any] | None]
    after: str = ""

    @property
    def id(self) -> str:
        """Its name in links."""
        return self.script.stem


_OWN = [
    Section(_SCRIPTS / f"{name}.js", title, data)
    for name, title, data in (
        ("summary", "Summary", summary.make_summary),
        ("leaderboard", "Leaderboard", runs.make_leaderboard),
        ("pairs", "Two runs", runs.make_pairs),
        ("length", "Score and length", runs.make_length),
        ("topics", "Topics", runs.make_topics),
        ("groups", "Groups of topics", groups.make_groups),
        ("profile", "One run", runs.make_profile),
        ("matrix", "Facts and runs", answers.make_matrix),
        ("answer", "Answers", answers.make_answers),
        ("sides", "Two answers", answers.make_sides),
        ("people", "People and judge", trust.make_people),
        ("disagreements", "Disagreements", trust.make_disagreements),
        ("coverage", "Retrieval", coverage.make_coverage),
        ("unjudged", "Unjudged", trust.make_unjudged),
        ("agents", "Agents", trust.make_agents),
        ("cost", "Cost", method.make_cost),
        ("method", "Method", method.make_method),
    )
]


def sections() -> list[Section]:
    """All sections in order, with the sections of other packages at their places.

    Raises: ImportError, AttributeError if a section of another package cannot be loaded.
    """
    every = list(_OWN)
    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        section: Section = entry.load()
        ids = [one.id for one in every]
        every.insert(ids.index(section.after) + 1 if section.after in ids else len(ids), section)
    return every
