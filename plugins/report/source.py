"""The results that a report is about: read when a section asks for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from ...programs.analysis.compare import compare_judges
from ...programs.analysis.compare_runs import PRIMARY, compare_scores
from ...programs.protocols.judged_files import kinds_in
from ...programs.protocols.scoreboard import LENGTH
from ...programs.scoring.corrected import correct_scores
from ...programs.scoring.corrected_measure import CorrectedScore
from ...programs.scoring.result import Result
from ...programs.scoring.topic_scores import (
    TopicScores,
    merge_sources,
    note_other_instruments,
    run_names,
    topic_scores,
)
from ...records.reading.problems import InputError, Problems

# Pairs x topics x measures up to which every measure is tested: some ten seconds.
_FEW = 200_000


class Sides(NamedTuple):
    """Two judges of the same items, compared by `compare_judges`; `one` is people or a judge."""

    one: Path
    other: Path
    comparison: Mapping[str, Any]


class Source:
    """One or more results folders, and labels of people.

    Attributes:
        paths: of the folders. problems: of the reading.
        labels: files of people's labels, one kind each.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        problems: Problems,
        *,
        labels: Sequence[Path] = (),
        named: Sequence[Path] = (),
    ) -> None:
        """Args as the attributes; `named`: the folders as the user gave them, if `paths` differ,
        such as the folders made for stopped runs.

        Raises: InputError if a folder is given twice: its runs would be compared with themselves.
        """
        self.paths = list(paths)
        self._named = dict(zip(paths, named or paths, strict=True))
        for path, n in Counter(path.resolve() for path in (named or paths)).items():
            if n > 1:
                raise InputError(f"{path}: given {n} times; give each results folder once")
        self.problems = problems
        self.labels = list(labels)
        self._compared: dict[str, dict[str, Any]] = {}
        self._not_corrected: str | None = None

    @cached_property
    def results(self) -> list[Result]:
        """The results. Raises: InputError if a path is not a results folder."""
        return [Result(path) for path in self.paths]

    @cached_property
    def scores(self) -> TopicScores:
        """Scores by topic of all runs; a run whose name is in two folders is `run@folder`."""
        note_other_instruments(self.paths, self.problems)
        return merge_sources(self.paths, self._by_folder)

    @cached_property
    def _by_folder(self) -> list[TopicScores]:
        return [topic_scores(path, self.problems) for path in self.paths]

    @cached_property
    def names(self) -> list[dict[str, str]]:
        """By folder, the names of its runs on the page."""
        return run_names(self.paths, self._by_folder)

    @cached_property
    def measures(self) -> list[str]:
        """The measures, leaderboard measures first."""
        first = [name for name in PRIMARY if name in self.scores.values]
        return [*first, *(name for name in self.scores.values if name not in first)]

    @cached_property
    def runs(self) -> list[str]:
        """All runs, in the order of the folders."""
        return list(dict.fromkeys(run for by in self.scores.values.values() for run in by))

    @cached_property
    def topics(self) -> list[str]:
        """The topics of all measures."""
        return list(dict.fromkeys(t for topics in self.scores.topics.values() for t in topics))

    def is_tested(self, measure: str) -> bool:
        """Whether pairs of runs are tested by a measure: a main measure, or any if runs are few."""
        n, n_topics = len(self.runs), len(self.topics)
        is_cheap = n * (n - 1) // 2 * n_topics * len(self.measures) <= _FEW
        return n > 1 and measure != LENGTH and (is_cheap or measure in (*PRIMARY, self.measures[0]))

    @cached_property
    def sides(self) -> list[Sides]:
        """Pairs of label sources for the same items: people and each folder, or two folders.

        Raises: InputError if there are labels and they match no judged item.
        """
        pairs: list[tuple[Path, Path, str | None]]
        if self.labels:
            pairs = [(labels, path, None) for labels in self.labels for path in self.paths]
        else:
            first, *others = self.paths
            pairs = [(first, path, kind) for path in others for kind in kinds_in(first)]
        compared, refused = [], []
        for one, other, kind in pairs:
            problems = Problems()
            try:
                compared.append(Sides(one, other, compare_judges(one, other, problems, kind)))
            except InputError as error:  # labels of another kind, or of other runs
                refused.append(error)
            else:
                self.problems.take(problems)
        if self.labels and not compared:
            raise refused[0]
        return compared

    def name_path(self, path: Path) -> Path:
        """The name of a folder on the page; a file keeps its name."""
        return self._named.get(path, path)

    def name_run(self, folder: Path, run_id: str) -> str:
        """The name in `runs` of a run of this folder."""
        return self.names[self.paths.index(folder)].get(run_id, run_id)

    def compare(self, measure: str) -> dict[str, Any]:
        """What `judge compare` prints by this measure: `runs`, and `pairs` if tested."""
        if measure not in self._compared:
            is_tested = self.is_tested(measure)
            self._compared[measure] = compare_scores(self.scores, measure, is_tested=is_tested)
        return self._compared[measure]

    @cached_property
    def corrected(self) -> list[CorrectedScore]:
        """The scores corrected with people's labels, as by `judge score --labels`."""
        of_runs: list[CorrectedScore] = []
        of_folders = zip(self.paths, self.names, strict=True) if self.labels else ()
        for (path, names), labels in product(of_folders, self.labels):
            try:
                scores = correct_scores(path, labels, self.problems, ignore_others=True)
            except InputError as error:
                self._not_corrected = str(error).replace(str(path), str(self.name_path(path)))
                continue
            of_page = [replace(one, run_id=names.get(one.run_id, "")) for one in scores.scores]
            of_runs += [one for one in of_page if one.run_id]
        return of_runs

    @property
    def not_corrected(self) -> str | None:
        """Why people's labels do not correct the scores of a folder; None if they do."""
        return self._not_corrected if self.corrected or self.labels else None
