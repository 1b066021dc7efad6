"""Figures 4 and 5 of the CRUX paper from a results folder, and their captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....programs.analysis.coverage_tables import MIN_RUNS, RunTau
from ....programs.analysis.tables.leaderboards import name_judges
from ....programs.config.sections import CoverageConfig
from ....programs.protocols.coverage.files import read_coverage
from ....programs.protocols.coverage.topic import CoverageData
from ....programs.protocols.program import Folder
from ....programs.scoring.result import Result
from ....records.reading.problems import InputError, Problems
from ....records.topics import natural_order
from ....views.numbers import format_short_share
from ....views.terminal import cut_names
from ..panels import make_figure, make_printable
from .annotators import (
    UNNAMED,
    LabelledReport,
    compare_annotators,
    correlate_annotators,
)
from .readings import correlate_all, mean_by_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BLUE, _RED = "#0072B2", "#D55E00"
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")  # of annotators; repeated for more of them


def draw_measures(results: Sequence[Path], problems: Problems, width: float) -> tuple[Figure, str]:
    """Figure 5: tau-b of every two measures. Raises: InputError with under three runs."""
    folder, data, settings = _read(results, problems, "measures")
    matrix = correlate_all(mean_by_run(data, settings), settings)
    n_runs = max((tau.n_runs for of in matrix.values() for tau in of.values()), default=0)
    if n_runs < MIN_RUNS:
        what = f"{n_runs} runs have all measures, {MIN_RUNS} are needed"
        raise InputError(f"{folder}: {what}")
    caption = (
        f"Kendall's tau-b of every two measures of the same {n_runs:,} runs over "
        f"{len(data.questions):,} topics, judged by {_name(folder)}. Cov(y) measures the reports, "
        f"all others the contexts (k = {settings.k})."
    )
    return _draw_matrix(matrix, width), caption


def draw_annotators(
    results: Sequence[Path], labels: Path | None, problems: Problems, width: float
) -> tuple[Figure, str]:
    """Figure 4: coverage of reports by the judge and by each annotator. Raises: InputError."""
    if labels is None:
        raise InputError("judge figure annotators: needs labels of people (--labels)")
    folder, data, settings = _read(results, problems, "annotators")
    reports = compare_annotators(data, settings, labels, problems)
    rhos = correlate_annotators(reports)
    texts = [f"{person} {format_short_share(rho)}" for person, (rho, _) in rhos.items()]
    n_reports = max(n for _, n in rhos.values())
    n_labels = sum(report.n for report in reports)
    caption = (
        f"Coverage of {n_reports:,} reports over {n_labels:,} labelled answerable questions: line, "
        f"{_name(folder)}; marks, annotators; bars, their mean. Spearman's rho of the judge with "
        f"{', '.join(texts)}."
    )
    if list(rhos) == [UNNAMED]:
        caption += " The labels name no annotator (field annotator)."
    return _draw_reports(reports, rhos, width), caption


def _read(
    results: Sequence[Path], problems: Problems, kind: str
) -> tuple[Path, CoverageData, CoverageConfig]:
    if len(results) != 1:
        raise InputError(f"judge figure {kind}: wanted one results folder, got {len(results)}")
    if not results[0].is_dir():
        raise InputError(f"judge figure {kind}: {results[0]} is a file, wanted a results folder")
    return (results[0], *read_coverage(Folder(results[0], problems)))


def _name(folder: Path) -> str:
    return name_judges(Result(folder).judged_by) or "the judge"


def _draw_matrix(matrix: Mapping[str, Mapping[str, RunTau]], width: float) -> Figure:
    values = np.array(
        [
            [np.nan if t.tau.value is None else t.tau.value for t in of.values()]
            for of in matrix.values()
        ]
    )
    side = min(width, 4.2)
    figure, axes = make_figure(side, 0.86 * side)
    axes.patch.set(facecolor="white", edgecolor="0.6", hatch="////")
    cells = np.ma.masked_invalid(values)
    axes.pcolormesh(cells, cmap="Blues", vmin=0, vmax=1, edgecolors="white", linewidth=0.8)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            color = "white" if value > 0.6 else "black"
            how: Any = {"ha": "center", "va": "center", "color": color, "fontsize": 7}
            axes.text(column + 0.5, row + 0.5, format_short_share(value), **how)
    places = np.arange(len(matrix)) + 0.5
    axes.set_xticks(places, list(matrix), rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(places, list(matrix))
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_aspect("equal")
    return figure


def _draw_reports(
    reports: Sequence[LabelledReport],
    rhos: Mapping[str, tuple[float | None, int]],
    width: float,
) -> Figure:
    """Draw one panel per run; each topic has a bar, a mark per annotator and the judge's point."""
    runs = list(dict.fromkeys(report.run_id for report in reports))
    topics = sorted({report.topic_id for report in reports}, key=natural_order)
    figure, alone = make_figure(width, 0.8 + 1.15 * len(runs))
    alone.remove()
    panels = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    places = {topic: x for x, topic in enumerate(topics)}
    step = 0.6 / max(1, len(rhos))
    for axes, run in zip(panels, runs, strict=True):
        of_run = [report for report in reports if report.run_id == run]
        of_run.sort(key=lambda report: places[report.topic_id])
        xs = [places[report.topic_id] for report in of_run]
        means = [float(np.mean(list(report.people.values()))) for report in of_run]
        axes.bar(xs, means, width=0.75, color="0.87", zorder=1)
        for i, person in enumerate(rhos):
            shift = (i - (len(rhos) - 1) / 2) * step
            points = [
                (x + shift, report.people[person])
                for x, report in zip(xs, of_run, strict=True)
                if person in report.people
            ]
            mark: Any = {"marker": _MARKS[i % len(_MARKS)], "linestyle": "none", "markersize": 4}
            label = f"{person} (ρ {format_short_share(rhos[person][0])})"
            axes.plot(
                *zip(*points, strict=True),
                color=_RED, markerfacecolor="white", label=make_printable(label), zorder=3, **mark,
            )  # fmt: skip
        judged = [np.nan if report.judge is None else report.judge for report in of_run]
        axes.plot(xs, judged, color=_BLUE, marker=".", linewidth=1, label="judge", zorder=2)
        axes.set_ylim(-0.06, 1.06)
        axes.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
        axes.set_ylabel(make_printable(cut_names([run], 18, "…")[0]))
    names = [make_printable(name) for name in cut_names(topics, 16, "…")]
    panels[-1].set_xticks(
        range(len(topics)), names, rotation=45, ha="right", rotation_mode="anchor"
    )
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside upper center", ncols=2 if width < 5 else 5)
    return figure
