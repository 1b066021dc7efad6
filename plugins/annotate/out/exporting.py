"""Labels as files that other commands read: `judge agree`, `calibrate`, `score`, `next`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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
_OURS = ("condition", "chosen_by", "probability", "seconds", "spans")  # columns of an export alone


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        kind: of the labels. path: of their file. n_rows: in it. people: whose they are.
        n_cells: labelled ones. n_cannot_tell: labels that say so.
        n_open: cells without a label that most people gave, and without a verdict.
        checks: file of repeats and controls; None: there are none. n_checks: its rows.
        condition: of all labels. n_without_importance: nuggets, of a bank.
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
    """Write the labels of a folder as one file, in the place of an earlier export.

    Labels: ids, `label`, `annotator`, `rationale`, `condition`, `chosen_by`, `probability`,
    `seconds`, `spans` (offsets in the texts, in code points) and the texts that the judge reads.
    Repeats and controls go to a file of their own beside it (`NAME.checks.csv`). Nuggets: a bank
    that `judge run --nuggets` reads. Key points: a sheet that `judge build long2rag` reads.

    Args:
        folder: of labels. It may be one that people work in now.
        out: `.csv` or `.jsonl`; of nuggets `.jsonl`.
        labels_as: `annotators`: a row for each person and cell. `adjudicated`: one for each cell,
            without an annotator: the verdict, else what most people say. Cells without either have
            no label, and a random sample is none any more until these are adjudicated.
        kind, condition: those to take; None: the only ones there are.
        results: what was labelled, see `task_in`.
        annotator: of nuggets, whose edits count.

    Raises: InputError where there is nothing to write, somebody has to choose, or the disk refuses.
    """
    people = check_people(folder)
    kind = choose_kind(folder, people, kind)
    if kind == "bank":
        task = task_in(folder, kind, results, problems)
        n, editors, n_without = export_bank(folder, out, people, task, annotator, problems)
        return Exported(kind, out, n, tuple(editors), n_without_importance=n_without)
    if annotator is not None:
        raise InputError(f"--annotator {annotator}: is for nuggets; --where chooses among labels")
    collected = collect(folder, kind=kind, condition=condition)
    if not collected.labels:
        raise InputError(f"{folder}: has only repeats and controls, which are not labels of {kind}")
    if collected.n_doubled:
        what = f"{collected.n_doubled:,} imported labels are of people who labelled the same here"
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
    """What was written, in words, a line each."""
    who = f"{len(exported.people)} {'person' if len(exported.people) == 1 else 'people'}"
    if exported.kind == "bank":
        lines = [f"{exported.path}: nuggets of {exported.n_rows:,} topics, edited by {who}"]
        if exported.n_without_importance:
            what = "nuggets have no importance yet, so they count in no score"
            lines.append(f"{exported.n_without_importance:,} {what}")
        return lines
    what = f"{exported.n_rows:,} rows, {exported.n_cells:,} items labelled by {who}"
    lines = [f"{exported.path}: {what}, {exported.condition}"]
    if exported.n_cannot_tell:
        lines.append(f"{exported.n_cannot_tell:,} times somebody could not tell: left empty")
    if exported.n_open:
        what = "without a label that most people gave"
        empty = ", and without one there" if labels_as == "adjudicated" else ""
        then = "a random sample stays one only if these are adjudicated"
        lines.append(f"{exported.n_open:,} of the items {what}{empty}: {then}")
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
    """Write rows with ids before them and texts behind."""
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
    """Remove the checks of an earlier export: beside this one they would be taken for its own."""
    if not checks.exists():
        return
    try:
        check_target(checks, _OURS)
    except InputError:  # what is no export is somebody's, and stays
        return
    remove(checks)
    what = "was of an earlier export: removed, there are no repeats or controls now"
    problems.skip(checks, 0, "earlier_checks", what)


def check_target(out: Path, columns: Sequence[str]) -> None:
    """Raise InputError for an existing file that is not an export: no row has these."""
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
        raise InputError(f"{out}: is there already, and is no export; name another file")


def _in_csv(out: Path, name: str, value: Any) -> Any:
    """A value that a spreadsheet leaves as it is, and that readers of CSV take for what it is."""
    if name == "spans" and value:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if name in ("label", "shown") and isinstance(value, str) and value.startswith(("-", "+", "=")):
        with suppress(ValueError):
            return int(value)
        what = f"label {value!r} would be a formula in a spreadsheet"
        raise InputError(f"{out}: {what}; write a .jsonl")
    return value
