"""Scores of runs, topics and single answers in one scatter, marked by the group of the run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ...programs.analysis.agree import agree_score_rows
from ...programs.analysis.compare_runs import PRIMARY
from ...programs.analysis.run_spread import match_groups
from ...programs.protocols.scoreboard import LENGTH
from ...programs.scoring.result import Result
from ...programs.scoring.score import score_path
from ...programs.scoring.topic_scores import TopicScores
from ...records.kinds import file_kind
from ...records.reading.problems import InputError, Problems, did_you_mean
from ...records.rows import ScoreRow
from ...records.scores import read_scores
from ...views.numbers import format_short_share
from .panels import GROUP_SHAPES, Level, draw_scatter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS = ("runs", "topics", "cells")
Cells = Mapping[tuple[str, str], float]


def read_levels(text: str | None) -> tuple[str, ...]:
    """Read `--levels`. Raises: InputError for an unknown level."""
    names = tuple(dict.fromkeys(name.strip() for name in (text or "runs").split(",")))
    for name in names:
        if name not in LEVELS:
            wanted = f"wanted some of {','.join(LEVELS)}{did_you_mean(name, LEVELS)}"
            raise InputError(f"--levels {name}: {wanted}")
    return names


def read_groups(path: Path | None, runs: Collection[str], problems: Problems) -> dict[str, str]:
    """The group of each run, "" without a file; names match with and without a team prefix.

    Raises: InputError if the file is wrong, names none of the runs, or has too many groups.
    """
    if path is None:
        return dict.fromkeys(runs, "")
    found = match_groups(path, runs, problems)
    if len(set(found.values())) > len(GROUP_SHAPES):
        n = len(set(found.values()))
        raise InputError(f"--run-groups {path}: {n} groups, wanted at most {len(GROUP_SHAPES)}")
    return found


def draw_tau_levels(
    paths: tuple[Path, Path],
    names: tuple[str, str],
    levels: Sequence[str],
    groups: Path | None,
    problems: Problems,
    measure: str | None,
    width: float,
) -> tuple[Figure, str]:
    """Draw the scores of two judges at several levels, and return the figure with a caption.

    The taus equal those of `judge agree` for two files of scores: over runs, the mean of the taus
    within topics, and over all (run, topic) cells. Source: arXiv:2411.09607, Figure 6;
    arXiv:2504.15205, Figure 1.
    """
    one, other = paths
    rows = [_read_rows(path, problems) for path in paths]
    agreed = agree_score_rows(rows[0], rows[1], one, other, {"resamples": 0})
    name = choose_measure(measure, agreed["measures"], f"{one} and {other}")
    found = agreed["measures"][name]
    aliases = agreed["run_aliases"]
    cells = [_cells(of, name, side) for of, side in zip(rows, ({}, aliases), strict=True)]
    runs: Mapping[str, Mapping[str, float]] = found["run_scores"]
    if len(runs) < 2:
        raise InputError(f"{one} and {other}: {len(runs)} run in common, wanted two or more")
    group_of = read_groups(groups, runs, problems)
    shared = sorted(cell for cell in cells[0].keys() & cells[1].keys() if cell[0] in runs)
    by_topic: dict[str, list[tuple[str, str]]] = {}
    for cell in shared:
        by_topic.setdefault(cell[1], []).append(cell)
    points = {
        "runs": [(of["human"], of["judged"], group_of[run]) for run, of in runs.items()],
        "topics": [
            (fmean(cells[0][c] for c in of), fmean(cells[1][c] for c in of), "")
            for of in by_topic.values()
        ],
        "cells": [(cells[0][c], cells[1][c], group_of[c[0]]) for c in shared],
    }
    taus = (
        ("runs", found["run_level"], found["n_runs"]),
        ("per topic", found["topic_mean"], found["n_topics"]),
        ("all cells", found["pooled"], found["n_cells"]),
    )
    text = "\n".join(
        ["Kendall's tau-b", *(f"{what} {format_short_share(tau)}" for what, tau, _ in taus)]
    )
    axes = (f"{name}, {names[0]}", f"{name}, {names[1]}")
    figure = draw_scatter([Level(each, points[each]) for each in levels], axes, text, width)
    each = ", ".join(f"{what} {format_short_share(tau)} (n = {n:,})" for what, tau, n in taus)
    caption = f"{name} by {names[0]} and by {names[1]}. Kendall's tau-b: {each}."
    return figure, f"{caption}{_explain(levels, group_of)} Dashed line: equal scores."


def draw_length_levels(
    found: Mapping[str, Any],
    scores: TopicScores,
    measure: str,
    levels: Sequence[str],
    groups: Path | None,
    problems: Problems,
    width: float,
) -> tuple[Figure, str]:
    """Draw score against length at several levels. Source: arXiv:2411.09607, Figure 7.

    Args:
        found: the result of `compare_with_length`.
    """
    if "topics" in levels:
        raise InputError("--levels topics: judge figure length has runs and cells")
    points = found["points"]
    group_of = read_groups(groups, [point["run"] for point in points], problems)
    words = {(run, t): v for run, of in scores.values[LENGTH].items() for t, v in of.items()}
    cells = [
        (length, value, group_of[run])
        for run, of in scores.values[measure].items()
        for topic, value in of.items()
        if run in group_of and value is not None
        if (length := words.get((run, topic))) is not None
    ]
    runs = [(point["words"], point["score"], group_of[point["run"]]) for point in points]
    by_level = {"runs": runs, "cells": cells}
    front = [(points[i]["words"], points[i]["score"]) for i in found["front"]]
    figure = draw_scatter(
        [Level(each, by_level[each]) for each in levels],
        *(("words of an answer", measure), "", width),
        front=front,
    )
    return figure, _explain(levels, group_of)


def choose_measure(measure: str | None, names: Mapping[str, Any], where: str) -> str:
    """The given measure, else the first main one. Raises: InputError for an unknown measure."""
    if measure is None:
        return next((name for name in PRIMARY if name in names), next(iter(names)))
    if measure not in names:
        listed = ", ".join(names)
        what = f"no measure {measure!r}, wanted one of {listed}{did_you_mean(measure, names)}"
        raise InputError(f"{where}: {what}")
    return measure


def _read_rows(path: Path, problems: Problems) -> list[ScoreRow]:
    if path.is_dir():
        return list(Result(path).scores)
    rows = (
        read_scores(path, problems) if file_kind(path) == "scores" else score_path(path, problems)
    )
    problems.raise_errors()
    return rows


def _cells(rows: Sequence[ScoreRow], measure: str, aliases: Mapping[str, str]) -> Cells:
    return {
        (aliases.get(row.run_id, row.run_id), row.topic_id): row.value
        for row in rows
        if row.measure == measure and row.topic_id != "all" and row.value is not None
    }


def _explain(levels: Sequence[str], group_of: Mapping[str, str]) -> str:
    """Explain the points in a caption."""
    what = {"runs": "a run", "topics": "a topic (the mean of its runs)", "cells": "a run and topic"}
    each = ", ".join(what[level] for level in levels)
    names = sorted(set(group_of.values()) - {""})
    groups = f" Shapes and colours: {', '.join(names)}." if names else ""
    return f" Points: {each}.{groups}"
