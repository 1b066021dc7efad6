"""How far two files of scores put the runs in the same order."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ...metrics import taus
from ...metrics.inference import Draws
from ...metrics.rank_correlation import tau_intervals
from ...records.labels import run_aliases
from ...records.reading.problems import InputError, Problems, did_you_mean
from ...records.rows import ScoreRow
from ...records.scores import read_scores
from ..inputs import ORACLES
from ..protocols.table import is_of_answered
from .agree_labels import plain

_DIGITS = 12  # of a mean made here, so that equal means are tied however they were added up
_CLOSE = 1e-3  # a run's score and its mean over topics, which may have been printed to 4 digits


def agree_scores(
    human: Path,
    judged: Path,
    problems: Problems,
    draws: Draws,
    measures: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Compare the scores of each measure that both files have; the oracles of coverage are out.

    Args:
        measures: of the judged file -> of the human one, where they have other names; only those
            are compared then.

    Returns: see `agree`. The scores of runs are means over the topics that both files have, without
        the (run, topic) that one of them has no value of. Where that cannot be had, because a file
        has scores of runs alone, or other ones than the means of its topics, the scores of runs are
        those of the files, and `note` says over which topics each is.
    Raises: InputError if there is no measure in common, or one that is named is not there.
    """
    truth, other = read_scores(human, problems), read_scores(judged, problems)
    problems.raise_errors()
    truth, other = ([r for r in rows if r.run_id not in ORACLES] for rows in (truth, other))
    aliases = run_aliases({row.run_id for row in truth}, {row.run_id for row in other})
    other = [r.model_copy(update={"run_id": aliases.get(r.run_id, r.run_id)}) for r in other]
    measures_of = [dict.fromkeys(row.measure for row in rows) for rows in (truth, other)]
    pairs = [(name, name) for name in measures_of[0] if name in measures_of[1]]
    if measures:
        pairs = [(measures[name], name) for name in measures]
    for path, names, side in ((human, measures_of[0], 0), (judged, measures_of[1], 1)):
        for pair in pairs:
            if pair[side] not in names:
                what = f"no measure {pair[side]!r}{did_you_mean(pair[side], names)}"
                raise InputError(f"{path}: {what}")
    if not pairs:
        raise InputError(f"{human} and {judged}: no measure in common; name two by --measure")
    by_name = {
        one if one == two else f"{one}={two}": _of_measure(truth, other, (one, two), draws)
        for one, two in pairs
    }
    return {"kind": "scores", "measures": by_name, "run_aliases": aliases}


def _of_measure(
    truth: list[ScoreRow], other: list[ScoreRow], names: tuple[str, str], draws: Draws
) -> dict[str, Any]:
    sides = [_Scores(rows, name) for rows, name in zip((truth, other), names, strict=True)]
    shared = sides[0].topics & sides[1].topics
    is_joined = bool(shared) and all(side.are_means for side in sides)
    joined = [side.cells for side in sides]
    runs: list[Mapping[str, float]] = [side.runs for side in sides]
    if is_joined:
        joined = [one.on(shared, two) for one, two in (sides, sides[::-1])]
        runs = [
            side.runs if cells == side.cells else side.means(cells, shared)
            for side, cells in zip(sides, joined, strict=True)
        ]
    estimates = taus(sides[0].cells, sides[1].cells, truth_runs=runs[0], judged_runs=runs[1])
    intervals = tau_intervals(estimates, *joined, truth_runs=runs[0], judged_runs=runs[1], **draws)
    both = sorted(runs[0].keys() & runs[1].keys())
    n_topics = {
        "human": sides[0].n_topics,
        "judged": sides[1].n_topics,
        "shared": len(shared) if is_joined else None,
    }
    return {
        **estimates.as_dict(),
        "intervals": plain(intervals),
        "run_scores": {run: {"human": runs[0][run], "judged": runs[1][run]} for run in both},
        "run_topics": n_topics,
        "note": _note(n_topics, is_other=bool(sides[0].topics and sides[1].topics and not shared)),
    }


class _Scores:
    """One measure of one side.

    Attributes:
        cells: by (run, topic), None: not judged. topics: those of which any run has a value.
        runs: scores over all topics: those in the file, else the means of its topics.
    """

    def __init__(self, rows: Sequence[ScoreRow], measure: str) -> None:
        self._measure = measure
        chosen = [row for row in rows if row.measure == measure]
        self.cells = {(r.run_id, r.topic_id): r.value for r in chosen if r.topic_id != "all"}
        self.topics = {topic for (_, topic), value in self.cells.items() if value is not None}
        self._read = [r for r in chosen if r.topic_id == "all" and r.value is not None]
        read = {row.run_id: row.value for row in self._read if row.value is not None}
        self._names = sorted(read or {run for run, _ in self.cells})
        self.runs = read or self.means(self.cells, self.topics)

    @cached_property
    def are_means(self) -> bool:
        """Whether the scores of its runs are the means of its topics."""
        means = self.means(self.cells, self.topics, self._n_unanswered)
        return bool(self.topics) and all(
            run in means and math.isclose(score, means[run], rel_tol=_CLOSE, abs_tol=_CLOSE)
            for run, score in self.runs.items()
        )

    @property
    def n_topics(self) -> int | None:
        """Of the scores of runs; None: the file does not say."""
        return len(self.topics) + self._n_unanswered if self.are_means else self._n_said

    def on(self, topics: Collection[str], other: _Scores) -> dict[tuple[str, str], float | None]:
        """Its cells on these topics, without a value where the other has none."""
        return {
            cell: None if other.cells.get(cell, 0.0) is None else value
            for cell, value in self.cells.items()
            if cell[1] in topics
        }

    def means(
        self,
        cells: Mapping[tuple[str, str], float | None],
        topics: Collection[str],
        n_unanswered: int = 0,
    ) -> dict[str, float]:
        """The mean of each run as `mean_over_topics` makes it: without those that have no value.

        A topic that a run did not answer counts 0, but in measures of answers alone.
        """
        absent = None if is_of_answered(self._measure) else 0.0
        means = {}
        for run in self._names:
            values = [cells.get((run, topic), absent) for topic in sorted(topics)]
            present = [value for value in values if value is not None]
            if present:
                n = len(present) + (n_unanswered if absent is not None else 0)
                means[run] = round(math.fsum(present) / n, _DIGITS)
        return means

    @property
    def _n_said(self) -> int | None:
        said = [n for r in self._read if (n := r.n_asked or r.n_topics) is not None]
        return max(said, default=None)

    @property
    def _n_unanswered(self) -> int:
        """Topics that no run answered, of which a file has no rows."""
        return max(0, (self._n_said or 0) - len(self.topics))


def _note(n_topics: Mapping[str, int | None], *, is_other: bool) -> str | None:
    """What a reader has to know of the topics behind the scores of runs.

    Args:
        is_other: no topic is in both files.
    """
    human, judged, shared = (n_topics[name] for name in ("human", "judged", "shared"))
    if human is not None and human == judged and not is_other and shared in (None, human):
        return None
    counts = ["unknown" if n is None else f"{n:,}" for n in (human, judged)]
    both = f"human {counts[0]}, judged {counts[1]}"
    if shared is not None:
        return f"runs: means over the {shared:,} topics that both files have; {both}"
    return f"run scores {'are' if is_other else 'may be'} over different topics: {both}"
