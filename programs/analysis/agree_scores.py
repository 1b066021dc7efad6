"""How far two files of scores put the runs in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...metrics import taus
from ...metrics.bootstrap import Draws
from ...metrics.order.intervals import tau_intervals
from ...records.labels.run_names import run_aliases
from ...records.reading.nearest import did_you_mean
from ...records.reading.problems import InputError, Problems
from ...records.rows import ScoreRow
from ...records.scores import read_scores
from ..inputs.coverage import ORACLES
from .agree_labels import plain


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
    (truth_cells, truth_runs), (cells, runs) = map(_values, (truth, other), names)
    estimates = taus(truth_cells, cells, truth_runs=truth_runs, judged_runs=runs)
    intervals = tau_intervals(
        estimates, truth_cells, cells, truth_runs=truth_runs, judged_runs=runs, **draws
    )
    both = sorted(truth_runs.keys() & runs.keys())
    return {
        **estimates.as_dict(),
        "intervals": plain(intervals),
        "run_scores": {run: {"human": truth_runs[run], "judged": runs[run]} for run in both},
    }


def _values(
    rows: list[ScoreRow], measure: str
) -> tuple[dict[tuple[str, str], float | None], dict[str, float]]:
    """Values by (run, topic), and the means by run: those in the file, else over its topics.

    The mean of a run that the file has no mean of counts 0 for a topic that the run lacks and
    leaves out one without a value, as `mean_over_topics` does.
    """
    chosen = [row for row in rows if row.measure == measure]
    cells = {(r.run_id, r.topic_id): r.value for r in chosen if r.topic_id != "all"}
    means = {
        row.run_id: row.value for row in chosen if row.topic_id == "all" and row.value is not None
    }
    if not means:
        topics = {topic for (_, topic), value in cells.items() if value is not None}
        for run in {run for run, _ in cells}:
            values = [cells.get((run, topic), 0.0) for topic in sorted(topics)]
            present = [value for value in values if value is not None]
            if present:
                means[run] = sum(present) / len(present)
    return cells, means
