"""The tables of `judge score --labels`: a block for each measure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from ..metrics.bootstrap import Interval
from ..programs.scoring.corrected_rows import (
    CorrectedDifference,
    CorrectedScore,
    CorrectedScores,
    Figure,
)
from .tables import aligned
from .terminal import cell

_HEADER = ("topics like these", "these topics")


def corrected_rows(found: CorrectedScores) -> Iterator[dict[str, Any]]:
    """Every row as an object; `row` says whether it is a score or a difference."""
    for score in found.scores:
        yield {"row": "corrected", "level": found.level, **score.as_dict()}
    for minus in found.differences:
        yield {"row": "difference", "level": found.level, **minus.as_dict()}


def corrected_text(found: CorrectedScores) -> str:
    """A table of scores and one of differences for each measure, with what to beware of."""
    blocks = []
    for measure, group in groupby(found.scores, key=lambda score: score.measure):
        scores = sorted(group, key=_best_first)
        blocks.append(_scores(measure, scores, found))
        minus = [row for row in found.differences if row.measure == measure]
        if minus:
            blocks.append(_differences(minus))
        notes = [
            cell(f"{score.run_id}: {note}")
            for score in scores
            for note in (*([score.reason] if score.reason else []), *score.warnings)
        ]
        if notes:
            blocks.append("".join(f"  {note}\n" for note in notes))
    return "\n".join(blocks)


def _best_first(score: CorrectedScore) -> tuple[float, str]:
    return (1.0 if score.corrected is None else -score.corrected.value, score.run_id)


def _scores(measure: str, scores: list[CorrectedScore], found: CorrectedScores) -> str:
    first = scores[0]
    title = f"{cell(measure)}, {found.level:.0%} intervals"
    if first.rho is not None and first.lam is not None and first.label_saving is not None:
        title += f"; judge and people correlate {first.rho:.2f}, the judge weighs {first.lam:.2f}"
        title += f" and saves {first.label_saving:.0%} of the labels"
    header = ["run", "judged", "corrected", *_HEADER, "error rates", "labels alone", *_HEADER]
    header += ["labels", "items", "topics"]
    if found.half_width is not None:
        header += [f"labels for +-{found.half_width:g}: {_HEADER[0]}", _HEADER[1]]
    if any(score.expected is not None for score in scores):
        header.insert(2, "expected")
    table = [header]
    for score in scores:
        row = [score.run_id, _f(score.judged), *_figure(score.corrected), _f(score.plug_in)]
        row += [*_figure(score.human_only), f"{score.n_labels:,}", f"{score.n_items:,}"]
        row.append(f"{score.n_labelled_topics} of {score.n_topics}")
        if found.half_width is not None:
            row += _needed(score)
        if "expected" in header:
            row.insert(2, _f(score.expected))
        table.append(row)
    return f"{title}\n{aligned(table)}"


def _differences(rows: list[CorrectedDifference]) -> str:
    first = rows[0]
    header = [f"minus {first.against}", "judged", "corrected", *_HEADER]
    table = [[row.run_id, _f(row.judged), *_figure(row.corrected)] for row in rows]
    return aligned([header, *table])


def _needed(score: CorrectedScore) -> list[str]:
    if score.needed is None:
        return ["-", "-"]
    if score.needed.like_these is None:
        like = f"none: the topics alone +-{score.needed.least_half_width:.3f}"
    else:
        like = f"{score.needed.like_these:,}"
    return [like, f"{score.needed.of_these:,}"]


def _figure(figure: Figure | None) -> list[str]:
    if figure is None:
        return ["-", "-", "-"]
    return [_f(figure.value), _bounds(figure.like_these), _bounds(figure.of_these)]


def _bounds(given: Interval) -> str:
    if given.low is None or given.high is None:
        return "-"
    return f"[{given.low:.3f} {given.high:.3f}]"


def _f(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
