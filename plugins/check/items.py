"""Make the items of a table: labels by annotator and judge, groups, and covariates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...metrics.length import count_words
from ...programs.analysis.slices import Covariate
from ...records.columns import guess_columns
from ...records.kinds import load_kinds
from ...records.reading.problems import InputError, cell, did_you_mean
from ...records.tables import DEFAULT_MISSING, Table, as_number, is_missing
from .columns import Columns
from .scales import (
    Cut,
    Label,
    Scale,
    Spellings,
    are_numbers,
    cut_people,
    cut_scores,
    describe_cut,
    make_scale,
    needs_cut,
    take_majority,
)

_SHOWN = 5  # words that mean no label, in a note
ROW_GROUPS = 2000  # without topics: more rows are drawn in so many groups, which takes less memory
_TEXTS = ("answer", "sentence", "claim", "nugget", "key_point")  # whose words are a length


@dataclass(frozen=True)
class Items:
    """The n items that were labelled.

    Attributes:
        ratings: annotator -> (n,) labels; None: not labelled.
        truth: (n,) the label of people, the majority of several; None: no label or no majority.
        judge: (n,) the judge's label; None: not judged.
        clusters: (n,) the group of each item for the intervals; cluster_by: its column, or "".
        repeats: (n,) all labels of the judge, if it judged items repeatedly.
        n_rows: rows of the table; n_no_majority: items whose annotators have no majority.
        covariates: the values for `--by`.
    """

    scale: Scale
    ratings: Mapping[str, Sequence[Label]] = field(repr=False)
    truth: Sequence[Label] = field(repr=False)
    judge: Sequence[Label] = field(repr=False)
    clusters: Sequence[str] = field(repr=False)
    cluster_by: str
    repeats: Sequence[Sequence[str]] = field(repr=False)
    n_rows: int
    n_no_majority: int
    cut: Cut | None
    covariates: Sequence[Covariate] = field(repr=False)
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """How to read labels.

    Attributes:
        mapped: label -> the label to read it as. scale: worst to best; (): detected.
        cut: one cut for both sides, or one for people and one for the judge; (): none.
        missing: more words that mean no label, in lower case.
        by: columns by which to compare accuracy.
    """

    mapped: Mapping[str, str] = field(default_factory=dict)
    scale: Sequence[str] = ()
    cut: tuple[str, ...] = ()
    missing: Collection[str] = ()
    by: Sequence[str] = ()


def find_missing(
    table: Table, columns: Columns, reading: Reading
) -> tuple[frozenset[str], list[str]]:
    """The words that mean no label, and a note if one of the usual words is a label here.

    `none` is the worst label of some scales. It counts as a label if all labels belong to such a
    scale, or if the user's scale has it.
    """
    if reading.scale:
        on_scale = {label.strip().lower() for label in reading.scale}
        return DEFAULT_MISSING - on_scale | {*reading.missing}, []
    missing = DEFAULT_MISSING | {*reading.missing}
    names = (*columns.human, columns.judge)
    words = {
        str(value).strip().lower()
        for line in table.rows
        for name in names
        if isinstance(value := line.row.get(name), str) and value.strip()
    }
    for scale in (kind.labels for kind in load_kinds().values()):
        both = ({*scale} & DEFAULT_MISSING & words) - {*reading.missing}
        if both and words - (missing - both) <= {*scale} and len(words & {*scale}) > 1:
            named = " and ".join(sorted(both))
            note = f"{named} is read as a label; --missing {named} reads it as no label."
            return missing - both, [note]
    return missing, []


def make_items(table: Table, columns: Columns, reading: Reading) -> Items:
    """Make the items of a table. Raises: InputError for labels that cannot be compared."""
    missing, notes = find_missing(table, columns, reading)
    groups = _group(table, columns, missing)
    sides = {"people": columns.human, "the judge": (columns.judge,)}
    cells = {
        side: [line.row.get(name) for name in names for line in table.rows]
        for side, names in sides.items()
    }
    there = (v for of in cells.values() for v in of if not is_missing(v, missing))
    spellings = Spellings(reading.mapped, there)

    def read(value: Any) -> Label:
        return None if is_missing(value, missing) else spellings.label(value)

    rows = [table.rows[group[0]].row for group in groups]
    ratings = _ratings(table, columns, groups, read)
    repeats = [_judgements(table, columns, group, read) for group in groups]
    judge: list[Label] = [take_majority(of) if columns.repeat else of[0] if of else None
                          for of in repeats]  # fmt: skip
    by_row = make_by_row(len(groups))
    clusters = by_row
    if columns.topic:
        topics = [row.get(columns.topic) for row in rows]
        clusters = [
            f"row {by_row[i]}" if is_missing(topic, missing) else str(topic)
            for i, topic in enumerate(topics)
        ]
    read_sides = _on_scale(table, ratings, judge, clusters, reading)
    ratings, truth, judge, scale, cut, renamed = read_sides
    n_no_majority = sum(
        label is None and any(of[i] is not None for of in ratings.values())
        for i, label in enumerate(truth)
    )
    repeats = [[renamed.get(x, x) for x in of] for of in repeats] if columns.repeat else []
    return Items(
        scale=scale,
        ratings=ratings,
        truth=truth,
        judge=judge,
        clusters=clusters,
        cluster_by=columns.topic,
        repeats=repeats if cut is None else [],
        n_rows=len(table.rows),
        n_no_majority=n_no_majority,
        cut=cut,
        covariates=[_covariate(name, table, rows, missing) for name in reading.by],
        notes=(
            *notes,
            *_describe_missing(cells, missing),
            *scale.notes,
            *([describe_cut(cut, scale.labels)] if cut else []),
        ),
    )


def _describe_missing(
    cells: Mapping[str, Sequence[Any]], missing: Collection[str]
) -> Iterator[str]:
    """Say how many cells have no label, and which words they have instead."""
    parts = []
    for side, of in cells.items():
        words = Counter(
            str(value or "").strip().lower() or "empty"
            for value in of
            if is_missing(value, missing)
        )
        if words:
            named = ", ".join(f"{cell(word, 20)} {n:,}" for word, n in words.most_common(_SHOWN))
            parts.append(f"{sum(words.values()):,} of {len(of):,} of {side} ({named})")
    if parts:
        yield f"Labels missing: {'; '.join(parts)}."


def _on_scale(
    table: Table,
    ratings: dict[str, list[Label]],
    judge: list[Label],
    clusters: Sequence[str],
    reading: Reading,
) -> tuple[dict[str, list[Label]], list[Label], list[Label], Scale, Cut | None, Mapping[str, str]]:
    every = [label for of in ratings.values() for label in of]
    if not any(label is not None for label in every):
        raise InputError(f"{table.path}: no row has a label of people")
    if not any(label is not None for label in judge):
        raise InputError(f"{table.path}: no row has a label of the judge")
    human_cut, judge_cut = _find_cuts(reading.cut, every, judge)
    if human_cut is not None:
        cut_every = iter(cut_people(every, human_cut, table.path))
        ratings = {name: [next(cut_every) for _ in of] for name, of in ratings.items()}
        every = [label for of in ratings.values() for label in of]
    elif _are_scores(every):
        n = len({label for label in every if label is not None})
        raise InputError(
            f"{table.path}: people gave {n:,} different numbers; turn them into yes or no with "
            "--cut NUMBER (this number and above is yes; HUMAN,JUDGE for a cut each)"
        )
    cut = None
    if (judge_cut is not None and are_numbers(judge)) or needs_cut(every, judge):
        scale, names = make_scale(every, every, reading.scale, table.path)
        ratings = {who: [names.get(x or "", x) for x in of] for who, of in ratings.items()}
        truth = _majorities(ratings, len(judge))
        scores = [None if label is None else as_number(label) for label in judge]
        given = None if judge_cut is None else as_number(judge_cut)
        if given is not None and len(scale.labels) > 2:
            raise InputError(
                f"--cut {judge_cut}: people use {len(scale.labels)} labels; cut both sides with "
                "--cut HUMAN,JUDGE"
            )
        labels, cut = cut_scores(scores, truth, scale.labels, clusters, given)
        return ratings, truth, labels, scale, cut, {}
    if judge_cut is not None:
        judge = cut_people(judge, judge_cut, table.path)
    scale, names = make_scale(every, judge, reading.scale, table.path)
    ratings = {who: [names.get(x or "", x) for x in of] if reading.scale else of
               for who, of in ratings.items()}  # fmt: skip
    judge = [None if x is None else names.get(x, x) for x in judge]
    return ratings, _majorities(ratings, len(judge)), judge, scale, None, names


def _find_cuts(
    cuts: Sequence[str], human: Sequence[Label], judge: Sequence[Label]
) -> tuple[str | None, str | None]:
    """The cuts of people and of the judge; a single cut is for sides with over two labels."""
    if len(cuts) == 2:
        return cuts[0], cuts[1]
    if not cuts:
        return None, None
    fits = [len({label for label in side if label is not None}) > 2 for side in (human, judge)]
    if not any(fits):
        raise InputError(f"--cut {cuts[0]}: both sides have only two labels; remove --cut")
    return (cuts[0] if fits[0] else None), (cuts[0] if fits[1] else None)


def _are_scores(labels: Sequence[Label]) -> bool:
    """Whether people gave scores, not labels: many numbers, some of which are not whole."""
    if not are_numbers(labels):
        return False
    numbers = {float(label) for label in labels if label is not None}
    return len(numbers) > 7 and not all(number.is_integer() for number in numbers)


def _majorities(ratings: Mapping[str, Sequence[Label]], n: int) -> list[Label]:
    return [
        take_majority([label for of in ratings.values() if (label := of[i]) is not None])
        for i in range(n)
    ]


def make_by_row(n: int) -> list[str]:
    """The groups of rows without topics: each row alone, or random groups if there are many."""
    if n <= ROW_GROUPS:
        return [str(i) for i in range(n)]
    order = np.random.default_rng(0).permutation(n)
    return [str(at % ROW_GROUPS) for at in order.tolist()]


def _group(table: Table, columns: Columns, missing: Collection[str]) -> list[list[int]]:
    """Collect the rows of each item."""
    if not columns.item:
        return [[i] for i in range(len(table.rows))]
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, line in enumerate(table.rows):
        values = [line.row.get(name) for name in columns.item]
        if all(is_missing(value, missing) for value in values):
            where = f"{table.path}:{line.number}"
            raise InputError(f"{where}: {', '.join(columns.item)} is empty, wanted the item's id")
        groups.setdefault(tuple(map(str, values)), []).append(i)
    return list(groups.values())


def _ratings(
    table: Table, columns: Columns, groups: Sequence[Sequence[int]], read: Any
) -> dict[str, list[Label]]:
    """The label of each item by annotator; None: not labelled."""
    if not columns.annotator:
        ratings: dict[str, list[Label]] = {}
        for name in columns.human:
            ratings[name] = [_one_label(table, name, group, read) for group in groups]
        return ratings
    (human,) = columns.human
    by_name: dict[str, list[Label]] = {}
    for at, group in enumerate(groups):
        for i in group:
            line = table.rows[i]
            who = line.row.get(columns.annotator)
            if is_missing(who):
                continue
            of = by_name.setdefault(str(who), [None] * len(groups))
            label = read(line.row.get(human))
            if of[at] is not None and label is not None and of[at] != label:
                what = f"{who} labels the same item {label!r} here and {of[at]!r} before"
                raise InputError(f"{table.path}:{line.number}: {what}; wanted one label")
            of[at] = label if of[at] is None else of[at]
    if not by_name:
        raise InputError(f"{table.path}: column {columns.annotator} is empty; wanted annotators")
    return by_name


def _one_label(table: Table, name: str, group: Sequence[int], read: Any) -> Label:
    """The label of an item in a column, which must be the same in all its rows."""
    labels = {label: i for i in group if (label := read(table.rows[i].row.get(name))) is not None}
    if len(labels) > 1:
        number = table.rows[max(labels.values())].number
        what = f"{name} of one item is {' and '.join(map(repr, labels))}; wanted one label"
        hint = "; if several people labelled it, add --annotator COLUMN"
        raise InputError(f"{table.path}:{number}: {what}{hint}")
    return next(iter(labels), None)


def _judgements(table: Table, columns: Columns, group: Sequence[int], read: Any) -> list[str]:
    """The judge's labels of an item: one, or one for each repeat."""
    labels: dict[str, str] = {}
    for i in group:
        row = table.rows[i].row
        if (label := read(row.get(columns.judge))) is None:
            continue
        at = str(row.get(columns.repeat)) if columns.repeat else ""
        if labels.setdefault(at, label) != label:
            what = f"{columns.judge} of one item is {labels[at]!r} and {label!r}; wanted one label"
            hint = "; if it was judged repeatedly, add --repeat COLUMN"
            number = table.rows[i].number
            raise InputError(f"{table.path}:{number}: {what}{'' if columns.repeat else hint}")
    return list(labels.values())


def _covariate(
    name: str, table: Table, rows: Sequence[Mapping[str, Any]], missing: Collection[str]
) -> Covariate:
    """The values of a covariate: groups or numbers of a column, or the length of its texts."""
    column = name
    if column not in table.columns:
        texts = guess_columns(table, _TEXTS).columns if name == "length" else {}
        if not texts:
            what = f"no such column in {table.path}; it has {', '.join(table.columns)}"
            raise InputError(f"--by {name}: {what}{did_you_mean(name, table.columns)}")
        column = next(iter(texts.values()))[0]
    values = [None if is_missing(value := row.get(column), missing) else value for row in rows]
    there = [value for value in values if value is not None]
    if len({str(value) for value in there}) < 2:
        raise InputError(f"--by {name}: all rows have the same value; choose another column")
    numbers = [as_number(value) for value in values]
    if all(as_number(value) is not None for value in there) and len(set(numbers)) > 4:
        return _cut_at_median(Covariate(name, column, numbers))
    words = [None if value is None else float(count_words(str(value))) for value in values]
    is_text = len({str(value) for value in there}) > max(20, len(there) // 4)
    if name == "length" or is_text:
        return _cut_at_median(Covariate(name, f"words of {cell(column, 30)}", words))
    return Covariate(name, column, [None if v is None else str(v) for v in values], 0.0)


def _cut_at_median(covariate: Covariate) -> Covariate:
    numbers = [value for value in covariate.values if isinstance(value, float)]
    cut = float(np.median(numbers))
    if cut == max(numbers):
        cut = max((value for value in numbers if value < cut), default=cut)
    return replace(covariate, cut=cut)
