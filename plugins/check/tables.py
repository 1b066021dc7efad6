"""The view of `judge check`: a sentence, the verdict, and the tables behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...programs.analysis.tables.words import (
    compare_with_zero,
    count,
    get_interval,
    name_level,
)
from ...records.reading.problems import cell
from ...views.table import Column, Kind, Row, Style, Styled, Table, View
from .verdict import Outcome, format_percent

Figures = Mapping[str, Any]
_STYLES = {Outcome.FAILED: Style.UNJUDGED, Outcome.OPEN: Style.WARNING}
_MAX_SQUARE = 12  # labels of a confusion table
_MAX_GROUPS = 12  # groups shown of a covariate, the most different first


def make_check_view(figures: Figures) -> View:
    """The sentence, the verdict, and the tables."""
    tables = [_requirements(figures), _agreement(figures)]
    if len(figures["scale"]) <= _MAX_SQUARE:
        tables.append(_confusion(figures))
    tables += [_by_label(figures), _rates(figures)]
    tables += [_groups(figures, of) for of in figures["by"]]
    return View(figures["sentence"], tables, [*_notes(figures)])


def _interval(figures: Figures) -> Column:
    return Column("interval", Kind.INTERVAL, name_level(figures["level"]))


def _value(row: Figures | None) -> list[Any]:
    return [None if row is None else row["value"], get_interval(row)]


def _requirements(figures: Figures) -> Table:
    columns = [
        Column("figure", Kind.TEXT, "figure"),
        Column("value", Kind.SHARE),
        _interval(figures),
        Column("wanted", Kind.SHARE, "wanted"),
        Column("items", Kind.COUNT),
        Column("outcome", Kind.TEXT, ""),
    ]
    rows = [
        Row([
            each["figure"], *_value(each), each["least"], each["n"],
            Styled(each["outcome"], _STYLES.get(Outcome(each["outcome"]), Style.PLAIN)),
        ])
        for each in figures["requirements"]
    ]  # fmt: skip
    return Table(figures["verdict"], columns, rows)


def _agreement(figures: Figures) -> Table:
    """Kappa of the judge, and of people if several labelled."""
    intervals, annotators = figures["intervals"], figures["annotators"]
    is_weighted = figures["is_ordered"] and len(figures["scale"]) > 2
    names = (["linear", "quadratic"] if is_weighted else []) + ["unweighted"]
    several = annotators is not None
    who = "judge, majority" if several else "judge"
    rows = []
    for name in names:
        title = f"Cohen kappa, {name}" if is_weighted else "Cohen kappa"
        rows.append((title, who, intervals["cohen_kappa"][name]))
        if several:
            rows.append((title, "judge, each", annotators["judge"]["intervals"][name]))
            among = annotators["among"]["intervals"]["pairwise_kappa"][name]
            rows.append((title, "annotators", among))
    rows.append(("share of equal labels", who, intervals["accuracy"]))
    if several:
        equal = annotators["among"]["intervals"]["observed"]
        rows.append(("share of equal labels", "annotators", equal))
    of_whom = [Column("who", Kind.TEXT, "of")] * several
    columns = [Column("figure", Kind.TEXT, "agreement"), *of_whom]
    columns += [Column("value", Kind.SHARE), _interval(figures)]
    made = [
        Row([title, *[of] * several, *_value(row)], Style.PLAIN if i else Style.LEADING)
        for i, (title, of, row) in enumerate(rows)
    ]
    return Table(_counts(figures), columns, made)


def _counts(figures: Figures) -> str:
    clusters = figures["clusters"]
    text = count(figures["n"], "item")
    if clusters["by"]:
        text += f", {clusters['n']:,} groups by {cell(clusters['by'], 30)}"
    if figures["annotators"] is not None:
        text += f", {len(figures['annotators']['names'])} annotators"
    return text


def _confusion(figures: Figures) -> Table:
    scale = figures["scale"]
    columns = [Column("human", Kind.NAME, "people")]
    columns += [Column(label, Kind.COUNT, optional=1) for label in scale]
    rows = [Row([label, *row]) for label, row in zip(scale, figures["confusion"], strict=True)]
    return Table("People's labels (rows) by the judge's (columns)", columns, rows, has_all=True)


def _by_label(figures: Figures) -> Table:
    """Recall and precision by label; for two labels, recall is sensitivity or specificity."""
    columns = [
        Column("label", Kind.NAME),
        Column("people", Kind.COUNT),
        Column("recall", Kind.SHARE),
        Column("recall_interval", Kind.INTERVAL, name_level(figures["level"])),
        Column("precision", Kind.SHARE),
        Column("precision_interval", Kind.INTERVAL, name_level(figures["level"]), optional=2),
        Column("f1", Kind.SHARE, "F1", optional=1),
    ]
    rows = []
    for label in reversed(figures["scale"]):
        recall, precision = figures["recall"][label], figures["precision"][label]
        rows.append(Row([label, recall["n"], *_value(recall), *_value(precision),
                         figures["f1"][label]]))  # fmt: skip
    notes = []
    if len(figures["scale"]) == 2:
        low, high = (cell(label, 30) for label in figures["scale"])
        notes = [f"Sensitivity is the recall of {high}, specificity the recall of {low}."]
    return Table("", columns, rows, notes=notes)


def _rates(figures: Figures) -> Table:
    columns = [
        Column("label", Kind.NAME),
        Column("judge", Kind.SHARE),
        Column("people", Kind.SHARE),
        Column("corrected", Kind.SHARE),
        Column("corrected_interval", Kind.INTERVAL, name_level(figures["level"])),
        Column("difference", Kind.DIFFERENCE, "judge minus people"),
    ]
    rows = [
        Row([label, row["judge"], row["people"], *_value(row["corrected"]),
             None if row["difference"] is None else row["difference"]["value"]])
        for label, row in figures["rates"].items()
    ]  # fmt: skip
    first = next(iter(figures["rates"].values()))
    n, n_labels = first["n"], first["n_labels"]
    title = f"Share of labels in {count(n, 'judged item')}, {n_labels:,} labelled by people"
    notes = []
    if n_labels < n:
        notes = [
            "The corrected share is valid if the labelled items are a random sample of all items."
        ]
    return Table(title, columns, rows, notes=notes)


def _groups(figures: Figures, of: Figures) -> Table:
    scale = figures["scale"]
    groups = of["groups"]
    is_binary = len(scale) == 2
    columns = [Column("group", Kind.NAME, cell(of["what"], 30)), Column("items", Kind.COUNT),
               Column("accuracy", Kind.SHARE, "equal labels"),
               Column("minus_rest", Kind.DIFFERENCE, "minus the rest"),
               Column("interval", Kind.INTERVAL, "interval", is_signed=True)]  # fmt: skip
    if is_binary:
        columns += [Column("sensitivity", Kind.SHARE, optional=1),
                    Column("specificity", Kind.SHARE, optional=1)]  # fmt: skip
    if figures["is_ordered"]:
        columns.append(Column("error", Kind.DIFFERENCE, "judge minus people", optional=2))
    rows = []
    ordered = groups
    if len(groups) > _MAX_GROUPS:
        ordered = sorted(groups, key=lambda g: -abs(g["accuracy_minus_rest"]["value"] or 0.0))
    for group in ordered[:_MAX_GROUPS]:
        rest = group["accuracy_minus_rest"]
        cells = [group["group"], group["n"], group["accuracy"]["value"], *_value(rest)]
        if is_binary:
            cells += [group["recall"][label]["value"] for label in reversed(scale)]
        if figures["is_ordered"]:
            cells.append(group["error"]["value"])
        rows.append(Row(cells, Style.WARNING if compare_with_zero(rest) < 0 else Style.PLAIN))
    notes = [_differs(of, groups)]
    if len(groups) > _MAX_GROUPS:
        notes.append(f"{len(groups) - _MAX_GROUPS:,} groups that differ less are not shown.")
    if len(groups) > 2:
        level = f"{100 * figures['level']:g}%"
        notes.append(
            f"The {level} level holds for the intervals of all {len(groups):,} groups jointly."
        )
    return Table(f"The judge by {cell(of['by'], 30)}", columns, rows, notes=notes)


def _differs(of: Figures, groups: Sequence[Figures]) -> str:
    worse = [g for g in groups if compare_with_zero(g["accuracy_minus_rest"]) < 0]
    if not worse:
        return f"No group of {cell(of['by'], 30)} is judged significantly worse than the rest."
    names = ", ".join(cell(g["group"], 30) for g in worse[:3]) + ", ..." * (len(worse) > 3)
    return f"Judged significantly worse than the rest: {names}."


def _notes(figures: Figures) -> Iterator[str]:
    clusters = figures["clusters"]
    if clusters["by"]:
        by = cell(clusters["by"], 30)
        yield f"Intervals treat rows with the same {by} as one group, as they are not independent."
    else:
        yield "Intervals treat rows as independent; if some belong together, add --topic COLUMN."
    left = {
        "without a label of people": figures["n_unlabelled"],
        "without a judgement": figures["n_unjudged"],
        "without a majority of annotators": figures["n_no_majority"],
    }
    if any(left.values()):
        parts = ", ".join(f"{n:,} {what}" for what, n in left.items() if n)
        yield f"{count(figures['n_items'], 'item')}; left out of the agreement: {parts}."
    if (again := figures["repeats"]) is not None:
        yield (
            f"Judged repeatedly: {count(again['n_items'], 'item')}; {again['n_flaky']:,} of them "
            "changed their label. Two judgements of an item agree in "
            f"{format_percent(again['same']['value'])} of cases."
        )
    yield from figures["notes"]
