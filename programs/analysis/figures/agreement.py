"""Pictures of agreement: a confusion matrix, and runs scored by people against a judge."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from ....records.printed import estimate
from .drawing import drawing, printable, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PlotFormat = Literal["svg", "png"]
_LEVELS = {"run_level": "runs", "topic_mean": "per topic", "pooled": "all cells"}


def write_plots(
    comparison: Mapping[str, Any], folder: Path, form: PlotFormat = "svg"
) -> list[Path]:
    """Draw the result of `agree` into a folder: `confusion`, or `scores-MEASURE` for each measure.

    The same figures give the same bytes with the same matplotlib. A measure's name in a file's
    name is percent-encoded where it has other characters than letters, digits and `_.-~@()=`.

    Returns: the files written; none for the annotators of one file.
    Raises: InputError if matplotlib is not installed.
    """
    figures: dict[str, Figure] = {}
    with drawing():
        if comparison["kind"] == "scores":
            for measure, values in comparison["measures"].items():
                figures[f"scores-{quote(measure, safe='@()=')}"] = _scatter(measure, values)
        elif "confusion" in comparison:
            figures["confusion"] = _confusion(comparison)
        written = {folder / f"{name}.{form}": figure for name, figure in figures.items()}
        for path, figure in written.items():
            save(figure, path, form)
    return list(written)


def _confusion(comparison: Mapping[str, Any]) -> Figure:
    """Counts, shaded by their share of the row: where each true label went."""
    from matplotlib.figure import Figure

    labels, counts = [printable(label) for label in comparison["scale"]], comparison["confusion"]
    shares = [[n / max(sum(row), 1) for n in row] for row in counts]
    side = 2.2 + 0.9 * len(labels)
    figure = Figure(figsize=(side + 0.8, side), layout="constrained")
    axes = figure.add_subplot()
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xlabel("judged")
    axes.set_ylabel("human")
    for i, row in enumerate(counts):
        for j, n in enumerate(row):
            color = "white" if shares[i][j] > 0.6 else "black"
            axes.text(j, i, f"{n:,}", ha="center", va="center", color=color)
    kappa = estimate(comparison["intervals"]["cohen_kappa"]["unweighted"])
    axes.set_title(f"kappa {kappa}, n {comparison['n']:,}", fontsize=10)
    return figure


def _scatter(measure: str, values: Mapping[str, Any]) -> Figure:
    """A point a run, the line where both scores are equal, and tau-b at three levels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 4.6), layout="constrained")
    axes = figure.add_subplot()
    scores = values["run_scores"].values()
    human, judged = [s["human"] for s in scores], [s["judged"] for s in scores]
    axes.scatter(human, judged, s=16, color="tab:blue")
    if human:
        ends = min(*human, *judged), max(*human, *judged)
        axes.plot(ends, ends, color="grey", linewidth=0.8, linestyle="--")
    axes.set_xlabel(f"{printable(measure)}, human")
    axes.set_ylabel(f"{printable(measure)}, judged")
    lines = ["Kendall tau-b"]
    for level, name in _LEVELS.items():
        n = values["coefficients"][level]["tau_b"]["n"]
        lines.append(f"{name} {estimate(values['intervals'][level]['tau_b'])}, n {n:,}")
    if values["note"] is not None:
        lines += textwrap.wrap(values["note"], 48)
    axes.text(0.03, 0.97, "\n".join(lines), transform=axes.transAxes, va="top", fontsize=8)
    return figure
