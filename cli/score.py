"""`judge score`: scores of stored judgements."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer

from ..views.printing import Format
from .options import Level, print_result, where_of
from .signatures import There
from .stopping import list_problems
from .tables import aligned, cell, figure, interval, write_objects, write_rows
from .views.leaderboards import Printed, print_leaderboards

if TYPE_CHECKING:
    from ..programs.scoring.corrected_rows import (
        CorrectedDifference,
        CorrectedScore,
        CorrectedScores,
        Figure,
    )
    from ..programs.scoring.label_counts import LabelCounts

_FILES = (Format.CSV, Format.MARKDOWN)
_HEADER = ("topics like these", "these topics")


def score(
    context: typer.Context,
    path: There,
    *,
    topics: There | None = None,
    labels: There | None = None,
    where: list[str] | None = None,
    counts: str | None = None,
    measure: list[str] | None = None,
    against: str | None = None,
    by: str | None = None,
    half_width: float | None = None,
    ignore_other_labels: bool = False,
    level: Level = 0.95,
    printed: Printed,
) -> None:
    """Score stored judgements again, without a model, and correct the scores with human labels.

    Examples: judge score results/demo --json
    / judge score labels.jsonl --where condition=from_scratch
    / judge score results/demo --labels human.csv --half-width 0.02

    Args:
        path: A results folder, nugget or support assignments; with --labels any labels.
        topics: Topics that every run must answer.
        labels: Human labels of a random part of the items: also correct the scores.
        where (FIELD=VALUE): What rows of PATH, a file, must have, or with --labels people's labels;
            of one field repeated, either.
        counts (FIELD): Instead of scores: how often each label was given, by this field of the
            rows.
        measure: Measure to correct; may be repeated; else all.
        against: Run that others are compared with; else the judge's best.
        by (NAMES): Correct scores of slices instead of runs: of length,position,rank,citations and
            run:PATTERN.
        half_width: Say how many labels an interval of this half-width takes.
        ignore_other_labels: Leave out labels of topics or items that were not judged, and count
            them.
    """
    from ..programs.scoring.score import score_path
    from ..records.reading.problems import InputError, Problems
    from ..records.topics import read_topics
    from .views.partial import opened

    named = path
    (path,) = opened(context, [path])
    of_labels = {
        "--measure": measure,
        "--against": against is not None,
        "--by": by is not None,
        "--half-width": half_width is not None,
        "--ignore-other-labels": ignore_other_labels,
    }
    problems = Problems()
    way = printed.way
    of_boards = {"--measures": printed.measures, "--sort": printed.sort, "--format": way in _FILES}
    if (labels or counts) and (idle := [name for name, is_set in of_boards.items() if is_set]):
        what = "for leaderboards alone, wanted no --labels and no --counts"
        raise InputError(f"{', '.join(idle)}: {what}")
    topic_ids = list(read_topics(topics, Problems())) if topics is not None else None
    if labels is None and (idle := [name for name, is_set in of_labels.items() if is_set]):
        raise InputError(f"{', '.join(idle)}: for corrected scores alone, wanted --labels too")
    if counts is not None:
        from ..programs.scoring.label_counts import label_counts

        if labels is not None or topics is not None:
            raise InputError(f"--counts {counts}: wanted no --labels and no --topics")
        counted = label_counts(path, counts, problems, where_of(where or ()))
        objects = (count.as_dict() for count in counted)
        print_result(objects, lambda: _counts_text(counted, counts), as_json=way is Format.JSON)
    elif labels is None:
        rows = score_path(path, problems, topics=topics, where=where_of(where or ()))
        print_leaderboards(
            rows,
            path,
            way,
            topics=topic_ids,
            measures=printed.names,
            sort=printed.sort,
            named=named,
            has_standings=not where,
        )
    else:
        from ..programs.analysis.bias.slices import slicer
        from ..programs.scoring.corrected import corrected_scores

        for n, name in enumerate(by.split(",") if by is not None else [None]):
            corrected = corrected_scores(
                path,
                labels,
                problems if not n else Problems(),
                where=where_of(where or ()),
                topics=topics,
                measures=measure or (),
                against=against,
                half_width=half_width,
                level=level,
                ignore_others=ignore_other_labels,
                regroup=slicer(name.strip(), path, labels, problems) if name is not None else None,
            )
            if way is Format.JSON:
                write_rows(corrected.plain)
                write_objects(_corrected_rows(corrected, name))
            else:
                if corrected.plain:
                    print_leaderboards(corrected.plain, path, way, topics=topic_ids)
                sys.stdout.write("\n" * bool(corrected.plain or n) + _corrected_text(corrected))
    list_problems(problems)


def _counts_text(counted: Sequence[LabelCounts], by: str) -> str:
    """A table for each thing that is labelled."""
    blocks = []
    for of, group in groupby(counted, key=lambda one: one.of):
        rows = [one.as_dict() for one in group]
        table = [[f"{of} by {cell(by)}", "topics", "runs", "n", *rows[0]["labels"], "unjudged"]]
        for row in rows:
            numbers = [row["n_topics"], row["n_runs"], row["n"], *row["labels"].values()]
            name = "all" if row["value"] is None else cell(row["value"], 60)
            table.append([name, *(f"{n:,}" for n in (*numbers, row["n_unjudged"]))])
        blocks.append(aligned(table))
    return "\n".join(blocks)


def _corrected_rows(corrected: CorrectedScores, by: str | None) -> Iterator[dict[str, Any]]:
    """Every row as an object; `row` says whether it is a score or a difference, `by` of slices."""
    common = {"level": corrected.level, **({} if by is None else {"by": by.strip()})}
    for score in corrected.scores:
        yield {"row": "corrected", **common, **score.as_dict()}
    for minus in corrected.differences:
        yield {"row": "difference", **common, **minus.as_dict()}


def _corrected_text(corrected: CorrectedScores) -> str:
    """A table of scores and one of differences for each measure, with what to beware of."""
    blocks = []
    for measure, group in groupby(corrected.scores, key=lambda score: score.measure):
        scores = sorted(group, key=_best_first)
        blocks.append(_scores(measure, scores, corrected))
        minus = [row for row in corrected.differences if row.measure == measure]
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


def _scores(measure: str, scores: list[CorrectedScore], corrected: CorrectedScores) -> str:
    first = scores[0]
    title = f"{cell(measure)}, {corrected.level:.0%} intervals"
    if first.rho is not None and first.lam is not None and first.label_saving is not None:
        title += f"; judge and people correlate {first.rho:.2f}, the judge weighs {first.lam:.2f}"
        title += f" and saves {first.label_saving:.0%} of the labels"
    header = ["run", "judged", "corrected", *_HEADER, "error rates", "labels alone", *_HEADER]
    header += ["labels", "items", "topics"]
    if corrected.half_width is not None:
        header += [f"labels for +-{corrected.half_width:g}: {_HEADER[0]}", _HEADER[1]]
    if any(score.expected is not None for score in scores):
        header.insert(2, "expected")
    table = [header]
    for score in scores:
        row = [
            score.run_id,
            figure(score.judged),
            *_estimate(score.corrected),
            figure(score.plug_in),
        ]
        row += [*_estimate(score.human_only), f"{score.n_labels:,}", f"{score.n_items:,}"]
        row.append(f"{score.n_labelled_topics} of {score.n_topics}")
        if corrected.half_width is not None:
            row += _needed(score)
        if "expected" in header:
            row.insert(2, figure(score.expected))
        table.append(row)
    return f"{title}\n{aligned(table)}"


def _differences(rows: list[CorrectedDifference]) -> str:
    first = rows[0]
    header = [f"minus {first.against}", "judged", "corrected", *_HEADER]
    table = [[row.run_id, figure(row.judged), *_estimate(row.corrected)] for row in rows]
    return aligned([header, *table])


def _needed(score: CorrectedScore) -> list[str]:
    if score.needed is None:
        return ["-", "-"]
    if score.needed.like_these is None:
        like = f"none: the topics alone +-{score.needed.least_half_width:.3f}"
    else:
        like = f"{score.needed.like_these:,}"
    return [like, f"{score.needed.of_these:,}"]


def _estimate(estimate: Figure | None) -> list[str]:
    if estimate is None:
        return ["-", "-", "-"]
    bounds = (estimate.like_these, estimate.of_these)
    return [figure(estimate.value), *(interval(each.low, each.high) for each in bounds)]
