"""Exports labels as files that `judge agree`, `calibrate`, `score` and `next` read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ....programs.analysis.tables.words import count
from ....programs.engine.label_sheet import write_sheet
from ....records.kinds import Cell
from ....records.reading.fields import read_lines
from ....records.reading.lines import first_line, is_json
from ....records.reading.problems import InputError, Problems
from ....records.writing import remove
from ..store.events import Condition
from ..store.kinds import Kind
from ..store.people import check_people
from .banks import export_bank
from .collected import Collected, choose_kind, collect
from .rows import annotator_rows, check_rows, decision, make_adjudicated_rows
from .texts import Beside, beside, task_in
from .verified import export_verified

LabelsAs = Literal["annotators", "adjudicated"]
_OURS = ("condition", "chosen_by", "probability", "seconds", "spans")  # only an export has these


@dataclass(frozen=True)
class Exported:
    """The written files.

    Attributes:
        kind: kind of the labels. path: their file. n_rows: its rows. people: the annotators.
        n_cells: labelled cells. n_cannot_tell: labels "cannot tell".
        n_open: cells without a majority label and without a verdict.
        checks: file of repeats and controls; None if there are none. n_checks: its rows.
        condition: condition of all labels. n_without_importance: nuggets of a bank.
    """

    kind: Kind
    path: Path
    n_rows: int
    people: tuple[str, ...]
    n_cells: int = 0
    n_cannot_tell: int = 0
    n_open: int = 0
    checks: Path | None = None
    n_checks: int = 0
    condition: Condition | None = None
    n_without_importance: int = 0


def export(
    folder: Path,
    out: Path,
    problems: Problems,
    *,
    labels_as: LabelsAs = "annotators",
    kind: Kind | None = None,
    condition: Condition | None = None,
    results: Sequence[Path] = (),
    annotator: str | None = None,
) -> Exported:
    """Write the labels of a folder as one file, which replaces an earlier export.

    Labels: ids, `label`, `annotator`, `rationale`, `condition`, `chosen_by`, `probability`,
    `seconds`, `spans` (offsets in the texts, in code points) and the texts that the judge reads.
    Repeats and controls go to a separate file next to it (`NAME.checks.csv`). Nuggets: a bank
    that `judge run --nuggets` reads. Key points: a sheet that `judge build long2rag` reads.

    Args:
        folder: folder of labels; people may be working in it.
        out: `.csv` or `.jsonl`; `.jsonl` for nuggets.
        labels_as: `annotators`: a row for each person and cell. `adjudicated`: one for each cell,
            without an annotator: the verdict, otherwise the majority label. Cells without either
            have no label; adjudicate them, or the sample is no longer random.
        kind, condition: which labels to take; None: the only ones.
        results: the labelled results, see `task_in`.
        annotator: for nuggets, the person whose edits count.

    Raises: InputError if there is nothing to write, an argument must choose, or writing fails.
    """
    people = check_people(folder)
    kind = choose_kind(folder, people, kind)
    if kind == "bank":
        task = task_in(folder, kind, results, problems)
        n, editors, n_without = export_bank(folder, out, people, task, annotator, problems)
        return Exported(kind, out, n, tuple(editors), n_without_importance=n_without)
    if annotator is not None:
        raise InputError(f"--annotator {annotator}: works for nuggets only; leave it out")
    collected = collect(folder, kind=kind, condition=condition)
    if not collected.labels:
        raise InputError(f"{folder}: has only repeats and controls, which are not labels of {kind}")
    if collected.n_doubled:
        what = f"{collected.n_doubled:,} imported labels are of people who labelled the items here"
        problems.skip(folder, 0, "labelled_here", what)
    task = task_in(folder, kind, results, problems)
    if kind == "verify":
        n = export_verified(
            folder, out, collected, task, problems, by_cell=labels_as == "adjudicated"
        )
        return _finish_export(collected, out, n)
    extras = beside(
        kind, [*collected.labels, *(one.cell for _, one in collected.checks)], task, problems
    )
    rows = annotator_rows(collected)
    if labels_as == "adjudicated":
        rows = make_adjudicated_rows(collected, extras.topics)
    n = _write(out, rows, extras, problems)
    exported = _finish_export(collected, out, n)
    checks = out.with_name(f"{out.stem}.checks{out.suffix}")
    if not collected.checks:
        _remove_earlier(checks, problems)
        return exported
    n_checks = _write(checks, check_rows(collected), extras, problems)
    return Exported(**{**vars(exported), "checks": checks, "n_checks": n_checks})


def summary(exported: Exported, labels_as: LabelsAs = "annotators") -> list[str]:
    """Lines that describe the written files."""
    who = f"{len(exported.people)} {'person' if len(exported.people) == 1 else 'people'}"
    if exported.kind == "bank":
        lines = [f"{exported.path}: nuggets of {count(exported.n_rows, 'topic')}, edited by {who}"]
        if exported.n_without_importance:
            what = "nuggets have no importance yet, so no score counts them"
            lines.append(f"{exported.n_without_importance:,} {what}")
        return lines
    what = f"{exported.n_rows:,} rows, {exported.n_cells:,} items labelled by {who}"
    lines = [f"{exported.path}: {what}, {exported.condition}"]
    if exported.n_cannot_tell:
        what = 'answers are "cannot tell" and have no label'
        lines.append(f"{exported.n_cannot_tell:,} {what}")
    if exported.n_open:
        empty = ", and without a label in the file" if labels_as == "adjudicated" else ""
        what = f"{count(exported.n_open, 'item')} without a majority label{empty}"
        lines.append(f"{what}: adjudicate these, or the sample is no longer random")
    if exported.checks is not None:
        what = "repeats and controls, which measure people instead of items"
        lines.append(f"{exported.checks}: {exported.n_checks:,} rows of {what}")
    return lines


def _finish_export(collected: Collected, out: Path, n_rows: int) -> Exported:
    each = [label for by in collected.labels.values() for label in by.values()]
    return Exported(
        collected.kind,
        out,
        n_rows,
        tuple(collected.people),
        n_cells=len(collected.labels),
        n_cannot_tell=sum(label.label is None for label in each),
        n_open=sum(decision(collected, cell)[1] == "open" for cell in collected.labels),
        condition=collected.condition,
    )


def _write(
    out: Path, rows: Iterable[tuple[Cell, dict[str, Any]]], extras: Beside, problems: Problems
) -> int:
    """Write rows with their ids before and their texts after them."""
    check_target(out, _OURS)
    is_csv = out.suffix == ".csv"
    whole: list[dict[str, Any]] = []
    for cell, row in rows:
        names = [name for name in extras.names if name not in row and name not in extras.key_names]
        texts = {name: extras.texts.get(cell, {}).get(name, "") for name in names}
        plain = {name: _in_csv(out, name, value) for name, value in row.items()} if is_csv else row
        whole.append({**dict(zip(extras.key_names, cell, strict=True)), **plain, **texts})
    write_sheet(out, whole, problems, replace=True)
    return len(whole)


def _remove_earlier(checks: Path, problems: Problems) -> None:
    """Remove the checks of an earlier export, which would look like those of this one."""
    if not checks.exists():
        return
    try:
        check_target(checks, _OURS)
    except InputError:  # a file that is not an export is kept
        return
    remove(checks)
    what = "removed: it was part of an earlier export, and this one has no repeats or controls"
    problems.skip(checks, 0, "earlier_checks", what)


def check_target(out: Path, columns: Sequence[str]) -> None:
    """Raise InputError for an existing file that is not an export."""
    if not out.exists():
        return
    has: Iterable[str] = ()
    with suppress(InputError, OSError, UnicodeError):
        if is_json(out):
            line = next(read_lines(out, Problems()), None)
            has = line.row if line is not None else ()
        else:
            has = first_line(out).split(",")
    if not {*columns} <= {name.strip().strip('"') for name in has}:
        raise InputError(f"{out}: exists and is not an export; choose another file")


def _in_csv(out: Path, name: str, value: Any) -> Any:
    """A value that spreadsheets and CSV readers do not change."""
    if name == "spans" and value:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if name in ("label", "shown") and isinstance(value, str) and value.startswith(("-", "+", "=")):
        with suppress(ValueError):
            return int(value)
        what = f"label {value!r} would be a formula in a spreadsheet"
        raise InputError(f"{out}: {what}; write a .jsonl")
    return value
