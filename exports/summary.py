"""A result as named numbers, as trackers of experiments keep them: never a 0 that nobody judged."""

from __future__ import annotations

from typing import Any

from ..evaluation.questions import question_scores
from ..programs.analysis.leaderboards import leaderboards
from ..programs.engine.folders.spending import cost_in_all, read_spending
from ..programs.scoring.result import Result

QUESTION_COLUMNS = (
    "run_id", "topic_id", "measure", "value", "n", "n_unjudged", "low", "high", "unjudged"
)  # fmt: skip


def numbers_of(result: Result) -> dict[str, float]:
    """By name: counts of the whole result; of each run and measure its mean and what it rests on.

    `RUN/MEASURE` is the mean; `/interval_low` and `/interval_high` its 95% interval by topic; `/n`
    and `/n_unjudged` the judgements that carry it and that are missing; where some are, `/low` and
    `/high` where it would lie if all were judged. What is not known has no entry.
    """
    spent = read_spending(result.folder)
    numbers: dict[str, float | None] = {
        "n_judged": result.n_judged,
        "n_unjudged": result.n_unjudged,
        "share_missing": result.manifest["share_missing"],
        "cost": cost_in_all(spent) if spent else None,
    }
    for board in leaderboards(result.scores, result.folder, with_all_intervals=True):
        for line in board.lines:
            for measure, mean in line.means.items():
                if measure not in board.measures:
                    continue
                name = f"{line.run_id}/{measure}"
                low, high = line.intervals.get(measure, (None, None))
                is_judged = bool(mean.n) or not mean.n_unjudged
                numbers[name] = mean.value if is_judged else None
                numbers |= {f"{name}/interval_low": low, f"{name}/interval_high": high}
                numbers |= {f"{name}/n": mean.n, f"{name}/n_unjudged": mean.n_unjudged}
                if mean.n_unjudged:
                    numbers |= {f"{name}/low": mean.low, f"{name}/high": mean.high}
    return {name: value for name, value in numbers.items() if value is not None}


def question_rows(result: Result) -> list[list[Any]]:
    """What each question was worth, a row a run, topic and measure, under QUESTION_COLUMNS.

    `value` None: not judged, or 0/0; `unjudged` says why, such as "refused 2, error 1".
    """
    return [
        [row.run_id, row.topic_id, row.measure, row.value, row.n, row.n_unjudged, row.low, row.high,
         ", ".join(f"{reason} {n}" for reason, n in row.reasons.items())]
        for row in question_scores(result)
    ]  # fmt: skip
