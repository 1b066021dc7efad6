"""Compare third judges, who saw no label, with a judge and people on items where these differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from ....metrics import agreement
from ....metrics.inference import LEVEL, Draws
from ....metrics.label_agreement import agreement_intervals
from ....programs.analysis.agree_labels import get_topics, join_scales
from ....programs.analysis.tables.leaderboards import name_judges
from ....programs.analysis.tables.words import name_level
from ....programs.engine.results import MANIFEST
from ....programs.protocols.judged_files import find_judged_file
from ....programs.scoring.result import Result
from ....records.kinds import Cell, check_labelled
from ....records.labels import read_labels
from ....records.reading.fields import read_lines
from ....records.reading.problems import InputError, Problems
from ....records.writing import write_lines
from ....views.numbers import format_short_share
from ....views.table import Column, Kind, Row, Table, View
from ..store.journal import SUFFIX
from ..store.people import IMPORTED
from ..work.disagreements import DRAWN, OURS, STUDY, Study
from .collected import collect

LABELS = "labels.jsonl"
ALL = "all"


@dataclass(frozen=True)
class Drawn:
    """A study as it was drawn, with the labels of all its judges.

    Attributes:
        conditions: cell -> the condition of the person's label; "": not known.
        labels: judge -> cell -> label; first `people`, then the judge compared with them, then
            the third judges, who saw neither label.
    """

    study: Study
    conditions: Mapping[Cell, str]
    labels: Mapping[str, Mapping[Cell, str]]

    @property
    def third(self) -> list[str]:
        """The judges who saw neither label."""
        return list(self.labels)[2:]


def read_study(folder: Path, problems: Problems) -> Drawn:
    """Read a study and the labels of its sheet that are in the folder.

    People's labels are folders of `judge annotate` or filled-in sheets; a model's are a results
    folder. Labels given by someone who saw another label are refused.

    Raises: InputError if the folder has no study, nobody has labelled its items, or two judges have
        the same name.
    """
    if not (folder / STUDY).is_file():
        what = f"no {STUDY}; draw one with two label files (judge annotate disagreements)"
        raise InputError(f"{folder}: {what}")
    row = orjson.loads((folder / STUDY).read_bytes())
    study = Study(**row | {name: tuple(row[name]) for name in ("scale", "key_names")})
    conditions, people, judge = {}, {}, {}
    for line in read_lines(folder / DRAWN, problems):
        cell = tuple(str(line.row[name]) for name in study.key_names)
        conditions[cell] = line.row["condition"]
        people[cell], judge[cell] = line.row["people"], line.row["judge"]
    labels: dict[str, dict[Cell, str]] = {"people": people, study.judge or "judge": judge}
    scale = study.scale
    for name, path, of_cells, its_scale in _third_labels(folder, study, problems):
        found = {cell: label for cell, label in of_cells.items() if cell in conditions}
        name = path.name if name in labels else name
        if name in labels:
            raise InputError(
                f"{path}: a second set of labels by {name}; give each judge its own name"
            )
        if n_other := len(of_cells) - len(found):
            problems.skip(path, 0, "not_drawn", f"{n_other:,} labels of items that were not drawn")
        if found:
            labels[name] = found
            scale = join_scales(scale, its_scale)
    if len(labels) == 2:
        what = "nobody has labelled its items yet; label sheet.jsonl with judge annotate --dir"
        raise InputError(f"{folder}: {what} {folder}/people, or with judge run items")
    return Drawn(replace(study, scale=scale), conditions, labels)


_Found = tuple[str, Path, Mapping[Cell, str], tuple[str, ...]]


def _third_labels(folder: Path, study: Study, problems: Problems) -> Iterator[_Found]:
    """Each judge's name, where the labels are, the labels, and their scale."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and (list(path.glob(f"*{SUFFIX}")) or (path / IMPORTED).is_dir()):
            collected = collect(path, kind=study.kind, condition="from_scratch")
            for name in collected.people:
                of_cells = {
                    cell: label
                    for cell, by in collected.labels.items()
                    if name in by and (label := by[name].label) is not None
                }
                yield name, path, of_cells, study.scale
        elif path.is_dir() and (path / MANIFEST).is_file():
            file = read_labels(find_judged_file(path, study.kind), problems)
            yield name_judges(Result(path).judged_by) or path.name, path, file.cells, file.scale
        elif path.suffix in (".jsonl", ".csv", ".xlsx") and path.name not in (*OURS, LABELS):
            file = read_labels(path, problems)
            check_labelled(file, path)
            names = {name for by in file.annotations.values() for name in by}
            for name in sorted(names):
                by = file.annotations
                yield name, path, {c: of[name] for c, of in by.items() if name in of}, file.scale
            if not names:
                yield path.stem, path, file.cells, file.scale


def write_labels(drawn: Drawn, folder: Path) -> Path:
    """Write every judge's label of every item as one file, which judge agree and figure read."""
    rows = [
        {**dict(zip(drawn.study.key_names, cell, strict=True)), "annotator": name,
         "label": by[cell], "people_condition": condition}
        for cell, condition in drawn.conditions.items()
        for name, by in drawn.labels.items()
        if cell in by
    ]  # fmt: skip
    write_lines(folder / LABELS, rows)
    return folder / LABELS


def compare_disagreements(drawn: Drawn, draws: Draws) -> list[dict[str, Any]]:
    """Make a row for each third judge and condition, and one over all conditions.

    A row has the number of items `n`; the shares `equal_people`, `equal_judge` and `equal_neither`;
    and Cohen's unweighted kappa, `kappa_people` and `kappa_judge`, as dicts with `value`, `low` and
    `high`.
    """
    conditions = sorted({name for name in drawn.conditions.values() if name})
    groups = conditions if len(conditions) > 1 else []
    return [_compare(drawn, name, group, draws) for name in drawn.third for group in (*groups, ALL)]


def _compare(drawn: Drawn, name: str, group: str, draws: Draws) -> dict[str, Any]:
    third = drawn.labels[name]
    cells = [c for c, given in drawn.conditions.items() if c in third and group in (given, ALL)]
    n_open = sum(group in (given, ALL) for given in drawn.conditions.values()) - len(cells)
    row: dict[str, Any] = {"judge": name, "condition": group, "n": len(cells), "n_open": n_open}
    row |= {"equal_neither": 1.0 if cells else None}
    for side, of in zip(("people", "judge"), list(drawn.labels.values())[:2], strict=True):
        one, other = [third[cell] for cell in cells], [of[cell] for cell in cells]
        figures = agreement(one, other, drawn.study.scale)
        topics = get_topics(cells, drawn.study.key_names)
        kappa: Any = agreement_intervals(figures, one, other, topics, **draws)["cohen_kappa"]
        interval = kappa["unweighted"]
        row[f"equal_{side}"] = figures.accuracy
        row[f"kappa_{side}"] = {
            "value": interval.value, "low": interval.low, "high": interval.high
        }  # fmt: skip
        if cells:
            row["equal_neither"] -= figures.accuracy
    return row


def count_shares(drawn: Drawn) -> list[dict[str, Any]]:
    """Count the items that each judge labelled, with the share of each label."""
    rows = []
    for name, by in drawn.labels.items():
        given = list(by.values())
        shares = {label: given.count(label) / len(given) for label in drawn.study.scale}
        rows.append({"judge": name, "n": len(given), "shares": shares})
    return rows


def make_view(drawn: Drawn, rows: Sequence[Mapping[str, Any]], level: float = LEVEL) -> View:
    """The agreement of each third judge with both sides, and the share of labels by judge."""
    study = drawn.study
    judge = study.judge or "judge"
    columns = [
        Column("judge", Kind.NAME),
        Column("condition", Kind.NAME),
        Column("n", Kind.COUNT),
        Column("side", Kind.NAME, "against"),
        Column("equal", Kind.SHARE),
        Column("kappa", Kind.SHARE),
        Column("interval", Kind.INTERVAL, name_level(level)),
    ]
    agreed = [
        Row([*about, side, row[f"equal_{side}"], *_estimate(row[f"kappa_{side}"])])
        for row in rows
        for about in [[row["judge"], row["condition"], row["n"]]]
        for side in ("people", "judge")
    ]
    shares = [Row([row["judge"], row["n"], *row["shares"].values()]) for row in count_shares(drawn)]
    n = len(drawn.conditions)
    title = f"{n:,} items where people and {judge} differ"
    labels = [Column(label, Kind.SHARE) for label in study.scale]
    tables = [
        Table(title, columns, agreed, f"{study.n} a topic, seed {study.seed}"),
        Table(
            "Labels given", [Column("judge", Kind.NAME), Column("n", Kind.COUNT), *labels], shares
        ),
    ]
    notes = [
        f"Labels differ on {study.n_differ:,} of {study.n_compared:,} items, in "
        f"{study.n_topics:,} topics"
        + (f"; topics with fewer than {study.n}: {study.n_short:,}" if study.n_short else ""),
        "On these items people and the judge never agree, so kappa cannot be high with both",
    ]
    if n_open := sum(row["n_open"] for row in rows if row["condition"] == ALL):
        notes.append(f"{n_open:,} labels are missing, or the labeller could not tell")
    return View(_verdict(rows), tables, notes)


def _estimate(kappa: Mapping[str, Any]) -> list[Any]:
    low, high = kappa["low"], kappa["high"]
    return [kappa["value"], None if low is None or high is None else (low, high)]


def _verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Whom each judge agrees with more, over all items."""
    parts = []
    for row in rows:
        people, judge = row["kappa_people"]["value"], row["kappa_judge"]["value"]
        if row["condition"] != ALL or people is None or judge is None:
            continue
        sides = [("people", people), ("the judge", judge)]
        (more, high), (less, low) = sorted(sides, key=lambda side: -side[1])
        high_text, low_text = format_short_share(high), format_short_share(low)
        parts.append(f"{row['judge']} agrees more with {more} (kappa {high_text}) than with "
                     f"{less} ({low_text})")  # fmt: skip
    return f"{'; '.join(parts)}." if parts else ""
