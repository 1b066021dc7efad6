"""`nuggetjudge.check`: compare a judge with labels of people, from one table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...evaluation.comparing import InOneLine, InTables, warn_about
from ...metrics.inference import LEVEL
from ...records.reading.problems import InputError, Problems
from ...records.tables import DEFAULT_MISSING, Table, make_table
from ...views.table import View
from .certifying import leave_out_fitted
from .columns import Columns, choose_columns, flatten_table, write_command
from .items import Items, Reading, make_items
from .measure import measure
from .readers import Results, read_results
from .tables import make_check_view
from .verdict import (
    as_objects,
    decide,
    find_requirements,
    judge_requirements,
    write_sentence,
    write_verdict,
)


class Check(InTables, dict[str, Any]):
    """The result of `nj.check`: a dict ready for JSON that prints as tables.

    Keys: those of `judge check --json`, see `measure.measure`; also `sentence`, `verdict`,
    `outcome` (passed, failed or not enough labels) and `requirements`.
    """

    __str__ = InTables.__str__

    def __repr__(self) -> str:
        return f"Check(n={self['n']:,}, {self['outcome']})"

    @property
    def is_passed(self) -> bool:
        """Whether the lower end of every required interval reaches its bound."""
        return bool(self["outcome"] == "passed")

    def view(self) -> View:
        """The sentence, the verdict, and the tables behind them."""
        return make_check_view(self)


def check(
    data: Any,
    human: str | Sequence[str] = (),
    judge: str = "",
    *,
    annotator: str = "",
    topic: str = "",
    item: str | Sequence[str] = (),
    repeat: str = "",
    where: Mapping[str, str | Sequence[str]] | None = None,
    labels: Mapping[str, str] | None = None,
    scale: Sequence[str] = (),
    cut: float | str | Sequence[float | str] | None = None,
    missing: Sequence[str] = (),
    by: str | Sequence[str] = (),
    require: str | None = None,
    level: float = LEVEL,
) -> Check:
    """Check a judge against labels of people, in one table.

    Columns that you do not name are guessed.

    Args:
        data: a path (CSV, spreadsheet, JSONL, Parquet, results of Inspect, DeepEval, promptfoo or
            MLflow), a frame of pandas or polars, or a list of dicts.
        human: the column with labels of people, or one column for each annotator.
        judge: the column with the judge's labels or scores.
        annotator: the column with the name of the person who labelled a row.
        topic: the column whose equal values mark rows that are not independent (topic, document,
            run); intervals treat them as one group. "none": rows are independent.
        item: the column or columns with the id of an item, if an item has several rows.
        repeat: the column with the number of a repeated judgement.
        where: column -> the value, or values, that a row must have; None: all rows.
        labels: labels to read as other labels, such as {"pass": "support"}.
        scale: all labels from worst to best; (): the labels of the table.
        cut: turns labels or scores into yes or no: this value and above is yes. Two: a cut for
            people and a cut for the judge. None: no cut.
        missing: more words that mean no label.
        by: columns by which to compare the judge's accuracy; "length": words of the answer.
        require: bounds for the lower ends of intervals, such as "kappa>=.6"; None: sensitivity
            and specificity >= .8, or with more than two labels the recall of each.
        level: the level of the intervals, in (0, 1).

    Returns: a dict ready for JSON that prints as tables; `is_passed` is True if the lower end of
        every required interval reaches its bound.
    Raises: InputError if the columns or labels cannot be compared.
    Warns: UserWarning if rows were left out.

    Example: nj.check("labels.csv", human="human", judge="judge")

    The judge says yes to all 20 positive items and to 10 of 20 negative ones:

    >>> rows = [{"human": x, "judge": y} for x, y in ["yy", "yy", "nn", "ny"] * 10]
    >>> found = check(rows)
    >>> found["sensitivity"]["value"], found["specificity"]["value"], found["cohen_kappa"]["linear"]
    (1.0, 0.5, 0.5)
    """
    problems = Problems()
    given = Columns(_as_tuple(human), judge, annotator, topic, _as_tuple(item), repeat)
    cuts = [] if cut is None else [cut] if isinstance(cut, str | float | int) else list(cut)
    with InOneLine():
        reading = Reading(
            labels or {}, tuple(scale), read_cuts([str(x) for x in cuts]),
            list_missing(missing), _as_tuple(by),
        )  # fmt: skip
        results = read_data(data, problems)
        chosen = {n: [v] if isinstance(v, str) else [*v] for n, v in (where or {}).items()}
        found = check_results(results, given, reading, chosen, require=require, level=level)
    warn_about(problems)
    return found


def _as_tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) and names else tuple(names)


def list_missing(words: Iterable[str]) -> frozenset[str]:
    """More words that mean no label, spelled as they are compared."""
    return frozenset(word.strip().lower() for word in words)


def read_cuts(cuts: Sequence[str]) -> tuple[str, ...]:
    """One cut, or people's and the judge's. Raises: InputError for more than two."""
    if len(cuts) > 2:
        raise InputError(f"--cut {','.join(cuts)}: wanted one label or number, or HUMAN,JUDGE")
    return tuple(cut.strip() for cut in cuts)


def read_data(data: Any, problems: Problems, sheet: str | None = None) -> Results:
    """A file, or rows in memory, as a table. Raises: InputError, also for errors of its rows."""
    if isinstance(data, str | os.PathLike):
        results = read_results(Path(data), problems, sheet)
    else:
        results = Results(make_table(data))
    problems.raise_errors()
    return Results(flatten_table(results.table), results.judged)


def check_results(
    results: Results,
    given: Columns,
    reading: Reading,
    where: Mapping[str, Sequence[str]],
    *,
    require: str | None = None,
    level: float = LEVEL,
    others: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Check:
    """Check the judge of a table.

    Args:
        others: options of the command beside the columns, for the command that repeats a guess.
        notes: what to say beside what is found.

    Raises: InputError where nothing can be compared.
    """
    table = results.table
    rows = list(table.rows)
    for name, wanted in where.items():
        if name not in table.columns:
            raise InputError(f"--where {name}: {table.path} has no such column")
        rows = [line for line in rows if str(line.row.get(name)) in wanted]
    if not rows:
        raise InputError(f"{table.path}: no rows{' match --where' if where else ''}")
    table = Table(table.path, table.columns, rows, table.notes)
    usual = DEFAULT_MISSING | {*reading.missing}
    columns = choose_columns(table, given, usual, results.judged)
    items = make_items(table, columns, reading)
    notes = [*notes, *([f"Read as {', '.join(table.notes)}."] if table.notes else [])]
    if columns.is_guessed:
        notes.append(_describe_guess(table.path, columns, others))
    return check_items(items, table.path, require=require, level=level, notes=notes)


def leave_out_fitted_rows(
    results: Results, others: Sequence[Results], given: Columns, reading: Reading
) -> tuple[Results, int]:
    """Leave out rows whose topic, or item without topics, is in a file of `others`; count them."""
    usual = DEFAULT_MISSING | {*reading.missing}
    columns = choose_columns(results.table, given, usual, results.judged)
    key = [columns.topic] if columns.topic else columns.item
    table, n = leave_out_fitted(results.table, [other.table for other in others], key)
    return Results(table, results.judged), n


def _describe_guess(path: Path, columns: Columns, others: Sequence[str]) -> str:
    if path.is_file():
        return f"Columns were guessed. To name them, run: {write_command(path, columns, others)}"
    words = ((name, getattr(columns, name)) for name in ("human", "judge", "annotator", "topic"))
    named = (f"{name} {', '.join([of] if isinstance(of, str) else of)}" for name, of in words if of)
    return f"Columns were guessed: {'; '.join(named)}."


def check_items(
    items: Items, path: Path, *, require: str | None = None, level: float = LEVEL,
    notes: Sequence[str] = (),
) -> Check:  # fmt: skip
    """Check the judge of items; `path`, the file they are from, is for messages."""
    figures = measure(items, path, level=level)
    findings = judge_requirements(figures, find_requirements(figures, require))
    return Check(
        figures,
        requirements=as_objects(findings),
        outcome=decide(findings).value,
        sentence=write_sentence(figures),
        verdict=write_verdict(findings, level),
        notes=[*items.notes, *notes],
    )
