"""Tables of `judge score` beside leaderboards: counts of labels, and corrected scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ....views.numbers import format_given, format_short_share
from ....views.table import Cell, Column, Kind, Row, Table

if TYPE_CHECKING:
    from ....metrics.inference import Interval
    from ...scoring.corrected_measure import (
        CorrectedDifference,
        CorrectedScore,
        CorrectedScores,
        Figure,
    )
    from ...scoring.score import LabelCounts

_MAX_LINES = 3  # runs without a correction that get a line each
_HEADER = ("topics like these", "these topics")


def make_count_tables(counted: Sequence[LabelCounts], by: str) -> Iterator[Table]:
    """Make a table for each kind of item."""
    for of, group in groupby(counted, key=lambda one: one.of):
        rows = [one.as_dict() for one in group]
        heads = ["topics", "runs", "n", *rows[0]["labels"], "unjudged"]
        columns = [Column("value", Kind.NAME, by), *(Column(head, Kind.COUNT) for head in heads)]
        cells = [
            [
                "all" if row["value"] is None else row["value"],
                *(row["n_topics"], row["n_runs"], row["n"]),
                *row["labels"].values(),
                row["n_unjudged"],
            ]
            for row in rows
        ]
        yield Table(f"Labels of {of}", columns, [Row(each) for each in cells])


def list_corrected_rows(corrected: CorrectedScores, by: str | None) -> Iterator[dict[str, Any]]:
    """Return every row as an object; `row` is "score" or "difference", `by` names slices."""
    common = {"level": corrected.level, **({} if by is None else {"by": by.strip()})}
    for score in corrected.scores:
        yield {"row": "corrected", **common, **score.as_dict()}
    for pooled in corrected.pooled:
        yield {"row": "pooled", **common, **pooled.as_dict()}
    for minus in corrected.differences:
        yield {"row": "difference", **common, **minus.as_dict()}


def make_corrected_tables(corrected: CorrectedScores) -> Iterator[Table]:
    """Make tables of scores and of differences for each measure, with warnings."""
    for measure, group in groupby(corrected.scores, key=lambda score: score.measure):
        scores = sorted(group, key=_best_first)
        notes = [f"{score.run_id}: {note}" for score in scores for note in score.warnings]
        notes += _explain_missing([score for score in scores if score.reason])
        minus = [row for row in corrected.differences if row.measure == measure]
        if pooled := [row for row in corrected.pooled if row.measure == measure]:
            scores += [replace(row, run_id="all runs (pooled)") for row in pooled]
            notes += _explain_pooled(pooled[0], scores)
        table = _scores(measure, scores, corrected)
        yield table if minus else replace(table, notes=notes)
        if minus:
            yield replace(_differences(minus), notes=notes)


def _explain_missing(scores: Sequence[CorrectedScore]) -> list[str]:
    """Return why runs have no correction; many runs without labels share one line."""
    from ...scoring.corrected_measure import MIN_LABELS

    few = [score for score in scores if score.n_labels < MIN_LABELS]
    if len(few) <= _MAX_LINES:
        return [f"{score.run_id}: {score.reason}" for score in scores]
    n_labels = sorted(score.n_labels for score in few)
    missing = sum(MIN_LABELS - n for n in n_labels)
    what = (
        f"{len(few)} runs have {n_labels[0]} to {n_labels[-1]} labels, {MIN_LABELS} each are needed"
    )
    rest = [f"{score.run_id}: {score.reason}" for score in scores if score not in few]
    return [f"{what}: label about {missing:,} more items, drawn at random from these runs", *rest]


def _explain_pooled(pooled: CorrectedScore, scores: Sequence[CorrectedScore]) -> list[str]:
    """Explain the pooled row, and the scores of runs without a correction."""
    what = pooled.reason or "the mean score of all runs, corrected with the labels of all of them"
    notes = [f"all runs (pooled): {what}", *(f"all runs (pooled): {x}" for x in pooled.warnings)]
    if any(score.corrected is None and score.plug_in is not None for score in scores):
        what = "the judge's score, corrected with the error rates of all labels together, which"
        notes.append(
            f"error rates: {what} holds only if the judge has the same error rates on all runs"
        )
    return notes


def _best_first(score: CorrectedScore) -> tuple[float, str]:
    return (1.0 if score.corrected is None else -score.corrected.value, score.run_id)


def _scores(measure: str, scores: list[CorrectedScore], corrected: CorrectedScores) -> Table:
    first = next((score for score in scores if score.corrected is not None), scores[0])
    aside = f"{corrected.level:.0%} intervals"
    if first.rho is not None and first.lam is not None and first.label_saving is not None:
        rho, lam = format_short_share(first.rho), format_short_share(first.lam)
        aside += f"; the judge saves {first.label_saving:.0%} of the labels"
        aside += f" (correlation with people {rho}, weight {lam})"
    is_pooled = any(row.measure == measure for row in corrected.pooled)
    columns = [
        Column("run", Kind.NAME), Column("judged", Kind.SHARE), *_estimate_columns("corrected"),
        Column("labels", Kind.COUNT, optional=1), Column("items", Kind.COUNT, optional=1),
        Column("topics", Kind.RATIO, optional=1),
        Column("error rates", Kind.SHARE, optional=0 if is_pooled else 3),
        *_estimate_columns("labels alone", optional=2),
    ]  # fmt: skip
    rows = [
        [
            score.run_id, score.judged, *_estimate(score.corrected), score.n_labels, score.n_items,
            (score.n_labelled_topics, score.n_topics), score.plug_in,
            *_estimate(score.human_only),
        ]
        for score in scores
    ]  # fmt: skip
    if any(score.expected is not None for score in scores):
        columns.insert(2, Column("expected", Kind.SHARE))
        for row, score in zip(rows, scores, strict=True):
            row.insert(2, score.expected)
    if corrected.half_width is not None:
        wanted = f"labels for +-{format_given(corrected.half_width)}"
        columns += [Column(f"{wanted}: {each}", Kind.COUNT, optional=1) for each in _HEADER]
        for row, score in zip(rows, scores, strict=True):
            row += _find_needed(score)
    return Table(f"Corrected {measure}", columns, [Row(row) for row in rows], aside, has_all=True)


def _differences(rows: list[CorrectedDifference]) -> Table:
    columns = [Column("run", Kind.NAME, f"minus {rows[0].against}")]
    columns += [Column("judged", Kind.DIFFERENCE), *_estimate_columns("corrected", is_signed=True)]
    cells = [[row.run_id, row.judged, *_estimate(row.corrected)] for row in rows]
    return Table("", columns, [Row(each) for each in cells], has_all=True)


def _estimate_columns(name: str, *, optional: int = 0, is_signed: bool = False) -> list[Column]:
    """Make columns of a value and its intervals for topics like these and for these topics."""
    kind = Kind.DIFFERENCE if is_signed else Kind.SHARE
    return [
        Column(name, kind, optional=optional),
        Column(f"{name}, {_HEADER[0]}", Kind.INTERVAL, _HEADER[0], optional, is_signed=is_signed),
        Column(f"{name}, {_HEADER[1]}", Kind.INTERVAL, _HEADER[1], max(optional, 1),
               is_signed=is_signed),
    ]  # fmt: skip


def _find_needed(score: CorrectedScore) -> list[Cell]:
    if score.needed is None:
        return [None, None]
    if score.needed.like_these is None:
        width = format_short_share(score.needed.least_half_width)
        return [f"none: the topics alone give +-{width}", score.needed.of_these]
    return [score.needed.like_these, score.needed.of_these]


def _estimate(estimate: Figure | None) -> list[Cell]:
    if estimate is None:
        return [None, None, None]
    bounds = (estimate.like_these, estimate.of_these)
    return [estimate.value, *map(_bounds, bounds)]


def _bounds(interval: Interval) -> Cell:
    return None if interval.low is None or interval.high is None else (interval.low, interval.high)
