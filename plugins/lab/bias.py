"""`judge bias`: how the judge's label minus the label of people depends on length and others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...evaluation.comparing import (
    InOneLine,
    InTables,
    Source,
    list_wanted_values,
    open_source,
    warn_about,
)
from ...metrics.inference import LEVEL, mean_by_topic
from ...programs.analysis.slices import Covariate, covariates
from ...programs.analysis.tables.words import (
    compare_with_zero,
    count,
    join_words,
    name_level,
    write_estimate,
)
from ...programs.protocols.judged_files import are_ordered, find_judged_file, kind_of_folder
from ...programs.scoring.human_labels import human_labels
from ...records.columns import TableOptions
from ...records.reading.problems import InputError, Problems
from ...views.numbers import format_given
from ...views.table import Column, Kind, View
from .changes import Fit, least_squares
from .columns import Fields, estimate, make_table, show

Floats = NDArray[np.float64]
# The direction of a bias: for a positive slope of the covariate, and for a negative one.
_DIRECTIONS = {
    "length": ("longer texts", "shorter texts"),
    "position": ("later positions", "earlier positions"),
    "rank": ("later citations", "earlier citations"),
    "citations": ("more citations", "fewer citations"),
}


class Errors(InTables, dict[str, Any]):
    """The result of `judge bias --json`, as a dict that prints as tables."""

    __str__ = InTables.__str__

    def __repr__(self) -> str:
        names = ", ".join(row["by"] for row in self["by"])
        return f"Errors({self['kind']}, n={self['n']:,}, by {names})"

    def view(self) -> View:
        """The verdict, slopes and means by group."""
        return bias_view(self)


def find_bias(
    labels: str | Path,
    judged: Source,
    by: str | Sequence[str],
    *,
    where: Mapping[str, str | Sequence[str]] | None = None,
    kind: str | None = None,
    level: float = LEVEL,
) -> Errors:
    """Find the biases of a judge; see `judge_errors`. Takes a result or a path.

    Warns: UserWarning about rows that were left out.

    Example: find_bias("human.jsonl", "results/demo", ["length", "run"])
    """
    problems, names = Problems(), [by] if isinstance(by, str) else by
    with InOneLine(), ExitStack() as stack:
        paths = open_source(stack, labels), open_source(stack, judged)
        chosen = list_wanted_values(where)
        errors = judge_errors(*paths, names, problems, where=chosen, kind=kind, level=level)
    warn_about(problems)
    return Errors(errors)


def judge_errors(
    human: Path,
    judged: Path,
    by: Sequence[str],
    problems: Problems,
    *,
    where: Mapping[str, Sequence[str]] | None = None,
    kind: str | None = None,
    level: float = LEVEL,
    how: TableOptions | None = None,
) -> dict[str, Any]:
    """Compute judge minus people, overall and by properties of the items.

    The error of an item is the gain of the judge's label minus the gain of people's label, in
    [-1, 1]; each item has the same weight. For a number the slope is fitted by least squares with
    topics as clusters (CR3, Student's t), alone and adjusted for the other covariates; groups have
    means.

    Args:
        human: labels of people in any layout, or a results folder of them.
        judged: a results folder or file of judgements.
        by: see `covariates`.
        where, problems: as for `human_labels`; labels of unjudged items are left out.
        kind: the kind of judgements, if `human` is a folder.
        how: the columns, labels and missing values of a table of labels.

    Returns: `n` items with both labels on `n_topics`, `n_unjudged` items with only a human label,
        `error`, and `by`: for each covariate its description, `n`, `n_unknown`, the slopes `alone`
        and `together` per `unit` (None for groups, or if they cannot be separated) and `groups`.
    Raises: InputError if nothing can be compared, or the labels have no order.
    """
    if human.is_dir():
        human = find_judged_file(human, kind or kind_of_folder(human))
    items, by_people = human_labels(
        judged, human, problems, where or {}, ignore_others=True, how=how
    )
    if not are_ordered(items.kind, items.scale, judged, human):
        raise InputError(
            f"{human}: the labels have no order, so a judge cannot label too high or too low"
        )
    gains = items.measures[0].gains
    all_covariates = covariates(by, judged, items, human, problems)
    labelled = [i for i, label in enumerate(by_people) if label is not None]
    on = [i for i in labelled if items.labels[i] is not None]
    if not on:
        raise InputError(f"{human} and {judged}: no item has a label from both")
    topics = [items.topics[i] for i in on]
    errors = np.array([gains[items.labels[i] or ""] - gains[by_people[i] or ""] for i in on])
    together = _together(all_covariates, on, errors, topics)
    return {
        "kind": items.kind,
        "gains": {label: gains[label] for label in items.scale},
        "n": len(on),
        "n_topics": len(set(topics)),
        "n_unjudged": len(labelled) - len(on),
        "level": level,
        "error": asdict(mean_by_topic(errors, topics, level=level)),
        "is_separable": together is not None if len(all_covariates) > 1 else None,
        "by": [
            _row(covariate, i, on, errors, topics, together, level)
            for i, covariate in enumerate(all_covariates)
        ],
    }


def _row(
    covariate: Covariate,
    index: int,
    on: Sequence[int],
    errors: Floats,
    topics: Sequence[str],
    together: Fit | None,
    level: float,
) -> dict[str, Any]:
    has = [n for n, i in enumerate(on) if covariate.values[i] is not None]
    of_row = [topics[n] for n in has]
    column = _column(covariate, [on[n] for n in has])
    alone = beside = None
    if column is not None:
        columns = np.column_stack([np.ones(len(has)), column])
        fit = least_squares(errors[has], columns, of_row)
        alone = None if fit is None else asdict(fit.interval(1, level=level))
        beside = None if together is None else asdict(together.interval(1 + index, level=level))
    groups = []
    for name in covariate.groups:
        at = [n for n in has if covariate.group(on[n]) == name]
        mean = asdict(mean_by_topic(errors[at], [topics[n] for n in at], level=level))
        if at and np.ptp(errors[at]) == 0:  # a few equal errors do not make the mean exact
            mean |= {"low": None, "high": None}
        groups.append({"group": name, "n": len(at), "error": mean})
    return {
        "by": covariate.name,
        "what": covariate.what,
        "unit": covariate.unit or None,
        "n": len(has),
        "n_unknown": len(on) - len(has),
        "alone": alone,
        "together": beside,
        "groups": groups,
    }


def _column(covariate: Covariate, at: Sequence[int]) -> Floats | None:
    """The column of a regression for these items: numbers, or 1 for the first group."""
    if covariate.is_number:
        return np.array([covariate.values[i] for i in at], dtype=np.float64) / covariate.unit
    groups = covariate.groups
    if len(groups) > 2:
        return None
    return np.array([float(covariate.values[i] == groups[0]) for i in at])


def _together(
    all_covariates: Sequence[Covariate], on: Sequence[int], errors: Floats, topics: Sequence[str]
) -> Fit | None:
    """Fit all covariates together, on items that have all of them; each run is a group.

    Coefficient 1 + i belongs to covariate i; the coefficients of runs come last.
    """
    has = [
        n for n, i in enumerate(on) if all(each.values[i] is not None for each in all_covariates)
    ]
    at = [on[n] for n in has]
    if len(all_covariates) < 2 or not has:
        return None
    columns, dummies = [np.ones(len(at))], []
    for covariate in all_covariates:
        column = _column(covariate, at)
        if column is None:
            first, *others = covariate.groups[1:]
            columns.append(np.array([float(covariate.values[i] == first) for i in at]))
            dummies += [np.array([float(covariate.values[i] == g) for i in at]) for g in others]
        else:
            columns.append(column)
    of_row = [topics[n] for n in has]
    return least_squares(errors[has], np.column_stack([*columns, *dummies]), of_row)


# Tables


def bias_view(errors: Fields) -> View:
    """The view of `judge bias`."""
    level, by = name_level(errors["level"]), errors["by"]
    tables = []
    if slopes := [row for row in by if row["alone"] is not None]:
        columns = [
            show("by", Kind.NAME),
            (Column("per", Kind.TEXT), _unit),
            show("items", Kind.COUNT, path="n", optional=2),
            *estimate("alone", kind=Kind.DIFFERENCE, interval=level),
        ]
        if len(by) > 1:
            head = "adjusted for the others"
            columns += estimate("adjusted", head, "together", Kind.DIFFERENCE, (1, 1), level)
        title = "How judge minus people changes"
        tables.append(make_table(title, columns, slopes, has_all=True))
    columns = [
        show("by", Kind.NAME),
        show("group", Kind.NAME, "of"),
        show("items", Kind.COUNT, path="n"),
        *estimate("error", "judge minus people", "", Kind.DIFFERENCE, (0, 0), level, "interval"),
    ]
    every = {"by": "", "group": "all", "n": errors["n"], "error": errors["error"]}
    groups = [every, *({"by": row["by"], **of} for row in by for of in row["groups"])]
    about = f"{count(errors['n'], 'item')}, {count(errors['n_topics'], 'topic')}"
    tables.append(make_table("Judge minus people, mean over items", columns, groups, about))
    return View(bias_verdict(errors), tables, [*_notes(errors)])


def bias_verdict(errors: Fields) -> str:
    """Name the biases of the judge, adjusted for the other covariates, and its mean error."""
    found, others = [], []
    for row in errors["by"]:
        slope = row["together"] or row["alone"]
        if slope is None:
            continue
        if (side := compare_with_zero(slope)) == 0:
            others.append(row["by"])
        else:
            amount = write_estimate(slope, signed=True)
            found.append(f"{_direction(row, side)} ({amount}{_per(row)})")
    overall = _overall(errors["error"])
    if found:
        return f"The judge is biased towards {join_words(found)}; {overall}."
    if others:
        return f"No significant bias by {join_words(others, 'or')}; {overall}."
    return f"{overall[:1].upper()}{overall[1:]}."


def _direction(row: Fields, side: int) -> str:
    if row["unit"] is not None:
        upward, downward = _DIRECTIONS[row["by"]]
        return upward if side > 0 else downward
    first, other = (each["group"] for each in row["groups"])
    return str(first if side > 0 else other)


def _per(row: Fields) -> str:
    if row["unit"] is None:
        return ""
    words = " words" if row["by"] == "length" else ""
    return f" per {format_given(row['unit'])}{words}"


def _overall(error: Fields) -> str:
    amount = write_estimate(error, signed=True)
    side = compare_with_zero(error)
    if side == 0:
        return (
            f"overall the judge labels neither significantly higher nor lower than people: {amount}"
        )
    return f"overall the judge labels {'higher' if side > 0 else 'lower'} than people: {amount}"


def _unit(row: Fields) -> str:
    if row["unit"] is None:
        first, other = (each["group"] for each in row["groups"])
        return f"{first} minus {other}"
    return f"{format_given(row['unit'])} more"


def _notes(errors: Fields) -> Iterator[str]:
    labels = ", ".join(f"{label} {format_given(gain)}" for label, gain in errors["gains"].items())
    yield f"Gains: {labels}. Intervals are over topics."
    for row in errors["by"]:
        unknown = f"; unknown for {count(row['n_unknown'], 'item')}" if row["n_unknown"] else ""
        if row["by"] != "run" or unknown:
            yield f"{row['by']}: {row['what']}{unknown}."
    if errors["n_unjudged"]:
        yield f"Left out: {count(errors['n_unjudged'], 'item')} labelled by people but not judged."
    if errors["is_separable"] is False:
        yield "The covariates are so strongly correlated that their effects cannot be separated."
