"""Draws the figures of a paper, readable without colours, and writes them as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...records.reading.problems import InputError, pip_install
from ...records.writing import write_file
from ...views.numbers import format_share, format_short_share
from ...views.terminal import cut_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's blue and vermilion, which all readers tell from each other; shapes say it too.
_BLUE, _RED, _GREY = "#0072B2", "#D55E00", "#767676"
GROUP_SHAPES = "osDvPX"  # one for each group of runs; colours differ too
_LEVELS = ("runs", "topics", "cells")
_PER_INCH = 8.0  # characters of a name
_NAMED = 16  # points of a scatter that get a name
_CELL = 0.4  # inches a topic, from which a heat map has numbers
# Small type and thin lines; the same bytes each time, and no text that could steer them.
_SETTINGS: Any = {
    "svg.hashsalt": "nuggetjudge",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # text that stays text
    "text.parse_math": False,
    "font.size": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "hatch.linewidth": 0.5,
}
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
}
_DPI = 300


def find_format(path: Path) -> str:
    """The format that a file's name asks for. Raises: InputError for an unknown one."""
    form = path.suffix.lower().removeprefix(".")
    if form not in _METADATA:
        endings = ", ".join(f".{form}" for form in _METADATA)
        raise InputError(f"{path}: wanted a name that ends in one of {endings}")
    return form


@contextmanager
def use_matplotlib() -> Iterator[None]:
    """Draw and save within this block. Raises: InputError if matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise InputError(f"figures need matplotlib: {pip_install('plots')}") from None
    with matplotlib.rc_context(cast(Any, _SETTINGS)):
        yield


def save(figure: Figure, path: Path, form: str) -> None:
    """Write a figure and make its folder. Raises: InputError."""
    picture = BytesIO()
    figure.savefig(picture, format=form, metadata=_METADATA[form], dpi=_DPI)
    write_file(path, picture.getvalue())


def make_printable(text: str) -> str:
    """Without characters that XML cannot hold."""
    return "".join(c if c.isprintable() else "?" for c in text)


class CorrectedMean(NamedTuple):
    """A mean corrected with people's labels, and its interval over topics."""

    value: float
    low: float | None
    high: float | None


def draw_forest(
    rows: Sequence[Mapping[str, Any]],
    leading: Sequence[str],
    corrected: Mapping[str, CorrectedMean],
    measure: str,
    width: float,
) -> Figure:
    """A row a run: mean and interval, corrected diamond, dashed line below the tied group."""
    size = 7.0 if len(rows) <= 60 else 5.0
    step = size * (1.35 if corrected else 1.2) / 72
    figure, axes = make_figure(width, max(1.2, 0.45 + step * len(rows)))
    for y, row in enumerate(rows):
        is_tied = not leading or row["run_id"] in leading
        color = _BLUE if is_tied else _GREY
        shift = 0.18 if row["run_id"] in corrected else 0.0
        low, high = row["low"], row["high"]
        if low is not None:
            axes.plot([low, high], [y - shift] * 2, color=color, linewidth=1)
        face = color if is_tied else "white"
        axes.plot(row["mean"], y - shift, "o", color=color, markerfacecolor=face, markersize=4)
        if found := corrected.get(row["run_id"]):
            if found.low is not None and found.high is not None:
                axes.plot([found.low, found.high], [y + 0.22] * 2, color=_RED, linewidth=0.8)
            axes.plot(found.value, y + 0.22, "D", color=_RED, markerfacecolor="white", markersize=3)
        axes.annotate(
            format_share(row["mean"]),
            (1.0, y),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=size,
            annotation_clip=False,
        )
    at = [y for y, row in enumerate(rows) if row["run_id"] in leading]
    if at and len(leading) < len(rows):
        axes.axhline(at[-1] + 0.5, color="black", linewidth=0.6, linestyle=(0, (4, 3)))
    _name_rows(axes, [row["run_id"] for row in rows], width, size)
    ends = [v for r in rows for v in (r["mean"], r["low"], r["high"]) if v is not None]
    ends += [v for found in corrected.values() for v in found if v is not None]
    if min(ends) >= 0 and max(ends) <= 1:
        axes.set_xlim(-0.01, 1.01)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    _short_ticks(axes.xaxis)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(make_printable(measure))
    axes.grid(axis="x", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    return figure


def draw_ranks(
    points: Sequence[tuple[str, float, float]], names: Sequence[str], text: str, width: float
) -> Figure:
    """A point a run: its score by one judge and by the other."""
    side = min(width, 3.6)
    figure, axes = make_figure(side, side)
    values = np.array([point[1:] for point in points])
    low, high = float(values.min()), float(values.max())
    pad = 0.06 * (high - low) or 0.05
    ends = low - pad, high + pad
    axes.plot(ends, ends, color=_GREY, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
    axes.plot(values[:, 0], values[:, 1], "o", color=_BLUE, markersize=3.5, alpha=0.8, mew=0)
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_aspect("equal")
    axes.set_xlabel(make_printable(names[0]))
    axes.set_ylabel(make_printable(names[1]))
    axes.text(0.03, 0.98, text, transform=axes.transAxes, va="top", fontsize=7)
    _short_ticks(axes.xaxis, axes.yaxis)
    if len(points) <= _NAMED:
        line = np.linspace(ends[0], ends[1], 200)
        _name_points(
            figure, axes, [p[0] for p in points], values, [*values, *zip(line, line, strict=True)]
        )
    return figure


def draw_heat_map(
    runs: Sequence[str],
    topics: Sequence[str],
    table: NDArray[np.float64],
    answered: Sequence[Sequence[bool]],
    measure: str,
    width: float,
) -> Figure:
    """A row a run, a column a topic, from the highest mean to the lowest; darker is higher.

    Args:
        table: (n_runs, n_topics); nan is hatched.
    """
    means = [float(np.nanmean(c)) if not np.isnan(c).all() else -1.0 for c in table.T]
    order = sorted(range(len(topics)), key=lambda i: (-means[i], topics[i]))
    cells = np.ma.masked_invalid(table[:, order])
    size = 7.0 if len(runs) <= 60 else 5.0
    figure, axes = make_figure(width, max(1.4, 1.3 + size * 1.3 / 72 * len(runs)))
    axes.patch.set(facecolor="white", edgecolor="0.6", hatch="////")
    is_share = not len(cells.compressed()) or (cells.min() >= 0 and cells.max() <= 1)
    low, high = (0.0, 1.0) if is_share else (None, None)
    lines: Any = {"edgecolors": "white", "linewidth": 0.4}
    image = axes.pcolormesh(cells, cmap="Blues", vmin=low, vmax=high, **lines)
    axes.invert_yaxis()
    _name_rows(axes, runs, width, size, shift=0.5)
    shown = [topics[i] for i in order] if len(topics) <= 40 else []
    axes.set_xticks(np.arange(len(shown)) + 0.5, map(make_printable, cut_names(shown, 16, "…")))
    turn = 0 if width / len(topics) >= 2 * _CELL else 90
    axes.tick_params(axis="x", labelrotation=turn, labelsize=6)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if not shown:
        axes.set_xlabel(f"{len(topics):,} topics")
    bar = figure.colorbar(image, ax=axes, aspect=30, pad=0.02, fraction=0.05)
    bar.outline.set_visible(False)
    bar.set_label(make_printable(measure))
    bar.ax.tick_params(length=2, labelsize=6)
    _short_ticks(bar.ax.yaxis)
    has_values = is_share and width / len(topics) >= _CELL and len(runs) <= _NAMED
    for y, row in enumerate(answered):
        for x, i in enumerate(order):
            value = table[y, i]
            if not np.isnan(value) and (has_values or not row[i]):
                text = format_short_share(value) if row[i] else "–"
                color = "white" if is_share and value > 0.55 else "black"
                at: Any = {"ha": "center", "va": "center", "fontsize": 6, "color": color}
                axes.text(x + 0.5, y + 0.5, text, **at)
    return figure


def draw_lengths(
    points: Sequence[Mapping[str, Any]], front: Sequence[int], measure: str, width: float
) -> Figure:
    """A point a run, and the line of the runs that no other beats in both."""
    figure, axes = make_figure(width, 0.72 * min(width, 4.6))
    values = np.array([[point["words"], point["score"]] for point in points], dtype=float)
    line = values[list(front)]
    axes.plot(line[:, 0], line[:, 1], color=_GREY, linewidth=0.8, drawstyle="steps-post", zorder=1)
    on = np.isin(np.arange(len(points)), list(front))
    axes.plot(*values[on].T, "o", color=_BLUE, markersize=4, linestyle="none")
    axes.plot(
        *values[~on].T, "o", color=_BLUE, markerfacecolor="white", markersize=4, linestyle="none"
    )
    axes.set_xlim(0, 1.06 * float(values[:, 0].max()))
    axes.set_ylim(min(0.0, 1.1 * float(values[:, 1].min())), 1.1 * float(values[:, 1].max()) or 1.0)
    axes.set_xlabel("words of an answer (mean)")
    axes.set_ylabel(make_printable(measure))
    _short_ticks(axes.yaxis)
    first = [*front, *(i for i in range(len(points)) if i not in set(front))]
    names = [points[i]["run"] for i in first[:_NAMED]]
    steps = [
        (x, y)
        for (a, low), (b, high) in pairwise(line)
        for x, y in [
            *zip(np.linspace(a, b, 60), [low] * 60, strict=True),
            *zip([b] * 60, np.linspace(low, high, 60), strict=True),
        ]
    ]
    _name_points(figure, axes, names, values[first], [*values, *steps])
    return figure


MAX_LINES = 9  # runs of a radar or of lines; more cannot be distinguished
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#767676", "#000000",
           "#882255")  # fmt: skip
_MARKS = "osD^vPXh*"


def draw_radar(
    groups: Sequence[str], values: Mapping[str, Sequence[float]], measure: str, width: float
) -> Figure:
    """Draw an axis per group and a closed line per run, with 0 in the middle.

    Args:
        values: run -> (n_groups,) means; nan leaves a gap. The first `MAX_LINES` are drawn.
    """
    from matplotlib.figure import Figure

    side = min(width, 4.6)
    shown = list(values.items())[:MAX_LINES]
    n_rows = -(-len(shown) // 2)
    figure = Figure(figsize=(side, 0.92 * side + 0.17 * n_rows), layout="constrained")
    axes: Any = figure.add_subplot(projection="polar")
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    angles = np.linspace(0, 2 * np.pi, len(groups), endpoint=False)
    for i, (run, means) in enumerate(shown):
        closed = [*means, means[0]]
        line: Any = {"color": _COLORS[i], "linewidth": 1, "marker": _MARKS[i], "markersize": 3}
        axes.plot([*angles, angles[0]], closed, label=make_printable(run), clip_on=False, **line)
    known = [x for _, means in shown for x in means if not np.isnan(x)]
    axes.set_ylim(min(0.0, *known, 0.0), _round_up(max(known, default=1.0)))
    axes.set_xticks(angles, [_break(name) for name in cut_names(list(groups), 22, "…")])
    for label, angle in zip(axes.get_xticklabels(), angles, strict=True):
        sine = np.sin(angle)
        label.set_horizontalalignment(
            "center" if abs(sine) < 0.1 else "left" if sine > 0 else "right"
        )
    axes.tick_params(axis="x", pad=-1, labelsize=7)
    axes.tick_params(axis="y", labelsize=6, labelcolor=_GREY)
    axes.grid(linewidth=0.4, color="0.8")
    axes.spines["polar"].set(color="0.7", linewidth=0.5)
    axes.set_rlabel_position(180 / len(groups))
    _short_ticks(axes.yaxis)
    _name_lines(figure, axes, measure, width)
    return figure


def draw_group_lines(
    groups: Sequence[str], values: Mapping[str, Sequence[float]], measure: str, width: float
) -> Figure:
    """Draw a line per run over ordered groups, such as lengths. Arguments: see `draw_radar`."""
    figure, axes = make_figure(width, 0.72 * min(width, 4.6) + 0.17 * -(-len(values) // 2))
    shown = list(values.items())[:MAX_LINES]
    for i, (run, means) in enumerate(shown):
        line: Any = {"color": _COLORS[i], "linewidth": 1, "marker": _MARKS[i], "markersize": 3}
        axes.plot(range(len(groups)), means, label=make_printable(run), **line)
    known = [x for _, means in shown for x in means if not np.isnan(x)]
    axes.set_ylim(min(0.0, *known, 0.0), _round_up(max(known, default=1.0)))
    axes.set_xticks(range(len(groups)), [_break(name) for name in groups])
    axes.set_xlabel("words of the documents (topics)")
    axes.set_ylabel(make_printable(measure))
    _short_ticks(axes.yaxis)
    _name_lines(figure, axes, "", width)
    return figure


def _break(head: str) -> str:
    """Put the number of topics on a line below the group's name."""
    name, space, n = make_printable(head).rpartition(" ")
    return f"{name}\n{n}" if space else n


def _name_lines(figure: Figure, axes: Axes, title: str, width: float) -> None:
    handles, names = axes.get_legend_handles_labels()
    cut = cut_names(list(names), 24, "…")
    figure.legend(handles, cut, loc="outside lower center", ncols=2, title=title, title_fontsize=7)


def _round_up(most: float) -> float:
    """A round end of an axis: 1 for shares above .8, else the next fifth."""
    return -(-most * 5 // 1) / 5 if 0 < most <= 1 else max(1.0, 1.05 * most)


class Level(NamedTuple):
    """Points of one level, `runs`, `topics` or `cells`: each has x, y and the group of its run."""

    name: str
    points: Sequence[tuple[float, float, str]]


def draw_scatter(
    levels: Sequence[Level],
    names: tuple[str, str],
    text: str,
    width: float,
    *,
    front: Sequence[tuple[float, float]] | None = None,
) -> Figure:
    """Draw runs on top of topics on top of cells, with a shape and colour per group, and a legend.

    Args:
        names: names of the axes. text: text in the upper left corner, or "".
        front: corners of a step line; None: both axes are scores, and a line shows equal scores.
    """
    side = min(width, 4.6)
    figure, axes = make_figure(side, side if front is None else 0.72 * side)
    groups = sorted(
        {group for level in levels if level.name != "topics" for *_, group in level.points}
    )
    for level in sorted(levels, key=lambda one: -_LEVELS.index(one.name)):
        for at, group in enumerate(groups if level.name != "topics" else [""]):
            own = [point[:2] for point in level.points if point[2] == group]
            if own:
                words = " ".join(filter(None, (make_printable(group), level.name)))
                axes.plot(*zip(*own, strict=True), label=words, **_mark(level.name, at))
    values = np.array([point[:2] for level in levels for point in level.points], dtype=float)
    low, high = values.min(axis=0), values.max(axis=0)
    if front is None:
        pad = 0.04 * float(high.max() - low.min()) or 0.05
        ends = (float(low.min()) - pad, float(high.max()) + pad)
        axes.plot(ends, ends, color=_GREY, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        axes.set_xlim(*ends)
        axes.set_ylim(*ends)
        axes.set_aspect("equal")
        _short_ticks(axes.xaxis)
    else:
        steps = np.array(front, dtype=float)
        axes.plot(*steps.T, color="black", linewidth=0.8, drawstyle="steps-post", zorder=6)
        axes.set_xlim(0, 1.04 * float(high[0]))
        axes.set_ylim(min(0.0, 1.04 * float(low[1])) - 0.02, 1.04 * float(high[1]) or 1.0)
    axes.set_xlabel(make_printable(names[0]))
    axes.set_ylabel(make_printable(names[1]))
    _short_ticks(axes.yaxis)
    if text:
        axes.text(
            *(0.03, 0.98, text), transform=axes.transAxes, va="top", fontsize=7, zorder=7,
            bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1.5},
        )  # fmt: skip
    handles, heads = axes.get_legend_handles_labels()
    order = sorted(range(len(heads)), key=lambda at: _LEVELS.index(heads[at].rpartition(" ")[2]))
    figure.legend(
        [handles[at] for at in order], [heads[at] for at in order],
        loc="outside upper center", ncols=2 if len(order) > 3 else len(order),
        handletextpad=0.2, columnspacing=1.0,
    )  # fmt: skip
    return figure


def _mark(level: str, at: int) -> Any:
    """The look of the points of a level, for the group with this index."""
    if level == "topics":
        look = {"color": "#F0E442", "markeredgecolor": "black", "mew": 0.4, "markersize": 5}
        return {**look, "marker": "^", "linestyle": "none", "zorder": 4}
    shape = {"marker": GROUP_SHAPES[at], "linestyle": "none"}
    if level == "runs":
        color = (_RED, "#E69F00", "#000000", "#009E73", "#56B4E9", "#CC79A7")[at]
        return {**shape, "color": color, "markersize": 4, "mec": "white", "mew": 0.4, "zorder": 5}
    color = (_BLUE, "#CC79A7", "#009E73", "#767676", "#56B4E9", "#E69F00")[at]
    return {**shape, "color": color, "markersize": 2.2, "mew": 0, "alpha": 0.45, "zorder": 3}


def draw_shares(
    names: Sequence[str], scale: Sequence[str], shares: Sequence[Sequence[float]], width: float
) -> Figure:
    """Draw a group of bars per label, with a bar per judge and its share in percent."""
    figure, axes = make_figure(width, max(1.8, 0.55 * min(width, 4.6)))
    each = 0.8 / len(names)
    hatches = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")
    for at, (name, values) in enumerate(zip(names, shares, strict=True)):
        x = np.arange(len(scale)) - 0.4 + each * (at + 0.5)
        color = (_BLUE, "#E69F00", "#009E73", "#CC79A7", "#56B4E9", _RED)[at % 6]
        look: Any = {"color": color, "edgecolor": "white", "hatch": hatches[at % 6]}
        percent = [100 * value for value in values]
        bars = axes.bar(x, percent, each * 0.92, label=make_printable(name), linewidth=0.4, **look)
        axes.bar_label(bars, fmt="%.0f", fontsize=6, padding=1)
    axes.set_xticks(np.arange(len(scale)), list(map(make_printable, scale)))
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel("% of the items")
    figure.legend(loc="outside upper center", ncols=2 if len(names) > 3 else len(names))
    return figure


def draw_confusion(
    counts: NDArray[np.int64], scale: Sequence[str], names: tuple[str, str], width: float
) -> Figure:
    """Draw a square per pair of labels, with its share of all items in percent; darker is more.

    Args:
        counts: (k, k); rows are labels of the first of `names`, columns of the second.
    """
    side = min(width, 0.75 * len(scale) + 1.1)
    figure, axes = make_figure(side, 0.9 * side)
    shares = 100 * counts / counts.sum()
    axes.pcolormesh(shares, cmap="Blues", vmin=0, edgecolors="white", linewidth=0.8)
    for (row, column), share in np.ndenumerate(shares):
        color = "white" if share > 0.65 * shares.max() else "black"
        how: Any = {"ha": "center", "va": "center", "color": color, "fontsize": 7}
        axes.text(column + 0.5, row + 0.5, f"{share:.1f}", **how)
    places = np.arange(len(scale)) + 0.5
    axes.set_xticks(places, list(map(make_printable, scale)))
    axes.set_yticks(places, list(map(make_printable, scale)))
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_aspect("equal")
    axes.set_xlabel(make_printable(names[1]))
    axes.set_ylabel(make_printable(names[0]))
    return figure


def draw_filter_scores(
    scores: NDArray[np.float64], rates: Sequence[tuple[float, float]], n_bins: int, width: float
) -> Figure:
    """Draw bars, the share of scores in each bin, and lines, the share up to a score and `rates`.

    Args:
        scores: (n,) in [0, 1], sorted. rates: (threshold, false positives) each; may be empty.
    """
    figure, axes = make_figure(width, 0.9 * min(width, 4.6))
    bars, edges = np.histogram(scores, bins=n_bins, range=(0, 1))
    middle = (edges[:-1] + edges[1:]) / 2
    axes.bar(middle, bars / len(scores), width=0.9 / n_bins, color=_GREY, label="points")
    steps = np.linspace(0, 1, 201)
    below = np.searchsorted(scores, steps, side="right") / len(scores)
    axes.plot(steps, below, color=_BLUE, linewidth=1, label="points up to the score (CDF)")
    if rates:
        line: Any = {"color": _RED, "linewidth": 1, "marker": "o", "markersize": 3}
        axes.plot(*zip(*rates, strict=True), label="false positives of the threshold", **line)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("score of the filter, or threshold")
    axes.set_ylabel("share")
    _short_ticks(axes.xaxis, axes.yaxis)
    figure.legend(loc="outside lower center", ncols=1 if width < 5 else 3)
    return figure


def _short_ticks(*sides: Axis) -> None:
    """Ticks as all numbers are written: .25 for 0.25."""
    for side in sides:
        side.set_major_formatter(lambda value, _: f"{round(value, 6):g}".replace("0.", ".", 1))


def make_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Make a figure with one panel; sizes are in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    layout: Any = figure.get_layout_engine()
    layout.set(w_pad=0.02, h_pad=0.02)
    return figure, figure.add_subplot()


def _name_rows(
    axes: Axes, names: Sequence[str], width: float, size: float, shift: float = 0.0
) -> None:
    cut = cut_names(list(names), int(width * _PER_INCH * 7 / size), "…")
    axes.set_yticks(np.arange(len(names)) + shift, [make_printable(name) for name in cut])
    axes.tick_params(axis="y", length=0, labelsize=size)


def _name_points(
    figure: Figure,
    axes: Axes,
    names: Sequence[str],
    values: NDArray[np.float64],
    drawn: Sequence[Any],
) -> None:
    """Names beside points, in the order given, where they cover nothing drawn and no other name."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # names are within the axes, which keep their place
    every = axes.transData.transform(np.array(drawn, dtype=float))
    taken: list[Any] = []
    frame = axes.get_window_extent()
    sides = (("left", (4, 0)), ("right", (-4, 0)), ("center", (0, 6)), ("center", (0, -6)))
    for name, at in zip(cut_names(list(names), 24, "…"), values, strict=False):
        for side, offset in sides:
            how: Any = {"xytext": offset, "textcoords": "offset points", "fontsize": 6}
            text = axes.annotate(make_printable(name), at, ha=side, va="center_baseline", **how)
            box = text.get_window_extent()
            is_within = frame.x0 <= box.x0 and box.x1 <= frame.x1
            is_within = is_within and frame.y0 <= box.y0 and box.y1 <= frame.y1
            covers = box.count_contains(every) or any(box.overlaps(other) for other in taken)
            if is_within and not covers:
                taken.append(box)
                break
            text.remove()
