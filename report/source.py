"""The results that a report is about: read when a section asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ..programs.analysis.compare_runs import PRIMARY, compare_scores
from ..programs.protocols.scoreboard import LENGTH
from ..programs.scoring.result import Result
from ..programs.scoring.topic_scores import (
    TopicScores,
    merged,
    note_other_instruments,
    topic_scores,
)
from ..records.reading.problems import Problems

# Pairs x topics x measures up to which every measure is tested: some ten seconds.
_FEW = 200_000


class Source:
    """One or more results folders, and labels of people.

    Attributes:
        paths: of the folders. problems: what is noted while they are read.
        labels: a file of people's labels; None: there is none.
    """

    def __init__(
        self, paths: Sequence[Path], problems: Problems, *, labels: Path | None = None
    ) -> None:
        self.paths = list(paths)
        self.problems = problems
        self.labels = labels
        self._compared: dict[str, dict[str, Any]] = {}

    @cached_property
    def results(self) -> list[Result]:
        """The folders. Raises: InputError if one is none."""
        return [Result(path) for path in self.paths]

    @cached_property
    def scores(self) -> TopicScores:
        """Scores by topic of all runs; of one name in two folders as `run@folder`."""
        found = [topic_scores(path, self.problems) for path in self.paths]
        note_other_instruments(self.paths, self.problems)
        return merged(self.paths, found)

    @cached_property
    def measures(self) -> list[str]:
        """Their measures, those that leaderboards are compared by first."""
        first = [name for name in PRIMARY if name in self.scores.values]
        return [*first, *(name for name in self.scores.values if name not in first)]

    @cached_property
    def runs(self) -> list[str]:
        """All runs, in the order of the folders."""
        return list(dict.fromkeys(run for by in self.scores.values.values() for run in by))

    @cached_property
    def topics(self) -> list[str]:
        """The topics that any measure is over."""
        return list(dict.fromkeys(t for topics in self.scores.topics.values() for t in topics))

    def is_tested(self, measure: str) -> bool:
        """Whether all pairs of runs are tested by it: those that matter most, or all of a few."""
        n, n_topics = len(self.runs), len(self.topics)
        is_cheap = n * (n - 1) // 2 * n_topics * len(self.measures) <= _FEW
        return n > 1 and measure != LENGTH and (is_cheap or measure in (*PRIMARY, self.measures[0]))

    def compared(self, measure: str) -> dict[str, Any]:
        """What `judge compare` says of all runs by this measure: `runs`, and `pairs` if tested."""
        if measure not in self._compared:
            is_tested = self.is_tested(measure)
            self._compared[measure] = compare_scores(self.scores, measure, is_tested=is_tested)
        return self._compared[measure]
