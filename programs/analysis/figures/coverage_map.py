"""A picture of one topic: which passage of its pool answers which question, and how well."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....records.questions import HIGHEST_RATING
from ....records.reading.problems import InputError
from ...protocols.coverage.topic import TopicView
from .drawing import drawing, format_of, printable, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

_ANSWERABLE = {1.0: "yes", 0.0: "no", None: "?"}


def write_map(view: TopicView, path: Path) -> None:
    """Draw the ratings of a topic's pool: passages in natural order by questions.

    Missing ratings are hatched. Above each question stands whether it is answerable (`?`: missing
    ratings leave it open), beside each required passage when it was taken. The same ratings give
    the same bytes with the same matplotlib.

    Args:
        path: where to; its ending is the format: .png, .svg or .pdf.

    Raises: InputError for another ending, a pool without passages, or if matplotlib is not
        installed.
    """
    form = format_of(path)
    if not view.pool:
        raise InputError(f"topic {view.topic_id}: no passages in its pool, so nothing to draw")
    with drawing():
        save(_figure(view), path, form)


def _figure(view: TopicView) -> Figure:
    from matplotlib.figure import Figure

    ratings = view.matrix(view.pool)
    n_passages, n_questions = ratings.shape
    size = (3.6 + 0.3 * n_questions, 2.2 + 0.2 * n_passages)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor("0.85")
    colors = _shade(axes, ratings, view.settings.eta)
    bar = figure.colorbar(colors, ax=axes, ticks=range(HIGHEST_RATING + 1), aspect=40)
    bar.ax.tick_params(length=0, labelsize=7)
    bar.set_label("rating", fontsize=8)
    axes.set_xticks(range(n_questions), view.question_ids)
    axes.set_yticks(range(n_passages), [_short(name, view.topic_id) for name in view.pool])
    axes.tick_params(length=0, labelsize=7)
    axes.set_xlabel("question", fontsize=8)
    axes.set_ylabel("passage", fontsize=8)
    _mark(axes, view)
    n_open = int(np.isnan(view.answerable).sum())
    axes.set_title(
        f"{printable(view.topic_id)}: {n_passages} passages, {len(view.required)} required; "
        f"{n_questions} questions,\n{view.n_answerable} answerable"
        + (f", {n_open} open" if n_open else "")
        + f" (rating >= {view.settings.eta}); {int(np.isnan(ratings).sum())} ratings missing",
        fontsize=8,
        loc="left",
    )
    return figure


def _shade(axes: Axes, ratings: NDArray[np.float64], eta: int) -> AxesImage:
    """A square a rating, with its number; what is missing is hatched."""
    from matplotlib import colormaps
    from matplotlib.colors import BoundaryNorm
    from matplotlib.patches import Rectangle

    levels = HIGHEST_RATING + 1
    norm = BoundaryNorm(np.arange(levels + 1) - 0.5, levels)
    shown = axes.imshow(
        np.ma.masked_invalid(ratings),
        cmap=colormaps["Blues"].resampled(levels),
        norm=norm,
        aspect="auto",
    )
    for (i, j), rating in np.ndenumerate(ratings):
        if np.isnan(rating):
            axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, hatch="////", fill=False, lw=0))
        elif rating:
            weight = "bold" if rating >= eta else "normal"
            color = "white" if rating > HIGHEST_RATING / 2 else "black"
            axes.text(j, i, f"{rating:.0f}", ha="center", va="center", fontsize=6,
                      color=color, weight=weight)  # fmt: skip
    return shown


def _mark(axes: Axes, view: TopicView) -> None:
    """Which questions are answerable, above; which passages are required, to the right."""
    top = axes.secondary_xaxis("top")
    marks = [_ANSWERABLE[None if np.isnan(x) else float(x)] for x in view.answerable]
    top.set_xticks(range(len(marks)), marks)
    top.set_xlabel("answerable", fontsize=7)
    right = axes.secondary_yaxis("right")
    index = {name: i for i, name in enumerate(view.pool)}
    taken = [(index[name], str(n)) for n, name in enumerate(view.required, 1)]
    right.set_yticks([i for i, _ in taken], [f"required {n}" for _, n in taken])
    for axis in (top, right):
        axis.tick_params(length=0, labelsize=7)


def _short(name: str, topic_id: str) -> str:
    """The id of a passage without that of its topic, which is in the title."""
    return printable(name.removeprefix(f"{topic_id}:"))
