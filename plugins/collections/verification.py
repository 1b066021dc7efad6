"""Key points before people: a sheet with two questions about each, and what came of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from ...metrics.label_agreement import reliability
from ...metrics.label_coefficients import randolph_kappa
from ...programs.engine.label_sheet import write_sheet
from ...programs.engine.manifest import read_manifest
from ...programs.engine.results import MANIFEST
from ...records.kinds import Cell, LabelFile
from ...records.labels import item_lines, labels_of_rows
from ...records.reading.fields import Line
from ...records.reading.lines import hash_file
from ...records.reading.problems import InputError, Problems
from ...records.rows import KeyPointSet, Topic
from ...records.writing import remove
from ...views.numbers import format_share

PROGRAM = "build long2rag"  # in the manifest
SHEET = "verification.csv"
KEY_POINTS, REJECTED = "keypoints.jsonl", "rejected_keypoints.jsonl"
UNVERIFIED = "unverified_keypoints.jsonl"  # the key points as they were before people
DOCUMENTS = "documents.jsonl"  # of the questions, which key points were made from
GROUNDED, KEY_POINT = TASKS = ("grounded", "key_point")
SCALE = ("no", "yes")
DEGREES = ("disagree", "neutral", "agree")  # of `key_point`, as in the paper; or the scale above
_AS_DEGREE = {"no": "disagree", "yes": "agree"}
_AS_ANSWER = {"disagree": "no", "neutral": "no", "agree": "yes"}
Fate = Literal["kept", "rejected", "open"]


def write_verification(
    folder: Path, sets: Sequence[KeyPointSet], topics: Mapping[str, Topic], problems: Problems
) -> None:
    """Write the sheet that people fill in, in the place of an earlier one without labels.

    A row per key point: `grounded`, do the spans support it, and `key_point`, does it help to
    answer the question, wait for yes or no (`key_point` also for `DEGREES`). Several people fill
    in rows, or sheets, of their own and name themselves under `annotator`.
    """
    path = folder / SHEET
    check_unverified(folder)  # once more: people may have saved it while the build ran
    remove(path)
    rows = [
        {
            "topic_id": point_set.topic_id,
            "key_point_id": point.id,
            "domain": topics[point_set.topic_id].domain,
            "category": topics[point_set.topic_id].category,
            "question": topics[point_set.topic_id].question,
            "text": point.text,
            "spans": "\n".join(point.spans),
            "sources": " ".join(point.sources),
            GROUNDED: None,
            KEY_POINT: None,
            "annotator": None,
            "rationale": None,
        }
        for point_set in sets
        for point in point_set.key_points
    ]
    if rows:
        write_sheet(path, rows, problems)


def check_unverified(folder: Path) -> None:
    """Raise InputError if people have verified what is in a folder: a build would undo it.

    A sheet that is not as the build wrote it counts; of a build that did not end, one with labels.
    """
    sheet = folder / SHEET
    is_changed = sheet.is_file() and sheet_hash(folder) != _read_written_hash(folder)
    if is_changed and _read_written_hash(folder) is None:
        lines = item_lines(sheet, Problems())
        is_changed = any(line.row.get(task) for line in lines for task in TASKS)
    if is_changed or (folder / UNVERIFIED).is_file():
        what = f"people have verified key points here ({SHEET if is_changed else UNVERIFIED})"
        raise InputError(f"{folder}: {what}; name another --out")


def sheet_hash(folder: Path) -> str | None:
    """SHA-256 of the sheet in a folder; None if there is none."""
    path = folder / SHEET
    return hash_file(path) if path.is_file() else None


def _read_written_hash(folder: Path) -> str | None:
    """What the sheet's hash was when a build wrote it; None if no build has ended here."""
    if not (folder / MANIFEST).is_file():
        return None
    digest: str | None = read_manifest(folder, PROGRAM)["data"].get("sheet")
    return digest


def read_verification(
    sheets: Sequence[Path], known: Collection[Cell], problems: Problems
) -> dict[str, LabelFile]:
    """The labels of each task by (topic, key point); a majority where several people gave one.

    Args:
        sheets: as `write_verification` wrote them, CSV or JSONL. In several of them, rows without
            an annotator count as those of the sheet's name.
        known: the key points there are.

    If a row has a label of DEGREES, `key_point` is read on that scale, with yes as agree.
    Agreement is measured on it; in `cells`, neutral and disagree both count as no.

    Errors listed: an unknown column or label, an unknown key point, a point labelled twice by
    one person.
    Raises: InputError also for sheets without a label.
    """
    lines: list[Line] = []
    names = Counter(sheet.name for sheet in sheets)
    for sheet in sheets:
        person = None
        if sheets[1:]:
            person = sheet.name if names[sheet.name] == 1 else str(sheet)
        for line in item_lines(sheet, problems):
            cell = line.id("topic_id"), line.id("key_point_id")
            if None in cell:
                continue
            if cell not in known:
                what = f"key point {cell[1]!r} of topic {cell[0]!r} is not in the collection"
                line.error("unknown_key_point", what)
            annotator = line.optional_id("annotator") or person
            lines.append(replace(line, row={**line.row, "annotator": annotator}))
    has_degrees = any(_written(line, KEY_POINT) in DEGREES for line in lines)
    scales = {GROUNDED: SCALE, KEY_POINT: DEGREES if has_degrees else SCALE}
    by_task = {}
    for task, scale in scales.items():
        of_task = (_of_task(line, task, scale) for line in lines)
        rows = [line for line in of_task if line is not None]
        by_task[task] = labels_of_rows(sheets[0], rows, problems, scale)
        if scale is DEGREES:  # neutral and disagree both count as no
            denied = (replace(r, row={**r.row, "label": _AS_ANSWER[r.row["label"]]}) for r in rows)
            cells = labels_of_rows(sheets[0], list(denied), Problems(), SCALE).cells
            by_task[task] = replace(by_task[task], cells=cells)
    problems.raise_errors()
    if not any(of.cells or of.annotations for of in by_task.values()):
        what = f"no label in it, wanted yes or no under {' and '.join(TASKS)}, or "
        what += f"{', '.join(reversed(DEGREES))} under {KEY_POINT}"
        raise InputError(f"{sheets[0]}: {what}")
    return by_task


def retention(
    labels: Mapping[str, LabelFile], known: Collection[Cell], topics: Mapping[str, Topic]
) -> dict[str, Any]:
    """How many key points people kept: of all, by domain and by category.

    `n` went in; of `grounded` ones most say that the spans support them, of `key_points` also that
    they help; `rejected` and `open` are the others (see `fate`). `kept_share` is key points among
    those that are not open. `agreement` is that of annotators on each task, over the `n` key points
    of `n_labelled` with two labels or more; None where it is undefined. `kappa` is Randolph's
    free-marginal kappa, from the same pairs of labels as `observed`.
    """
    fates = {cell: fate(labels, cell) for cell in sorted(known)}
    grounded = labels[GROUNDED].cells

    def count_labels(cells: Iterable[Cell]) -> dict[str, Any]:
        listed = list(cells)
        n = Counter(fates[cell] for cell in listed)
        return {
            "n": len(listed),
            "grounded": sum(grounded.get(cell) == "yes" for cell in listed),
            "key_points": n["kept"],
            "rejected": n["rejected"],
            "open": n["open"],
            "kept_share": n["kept"] / decided if (decided := n["kept"] + n["rejected"]) else None,
        }

    by_group = {}
    for by in ("domain", "category"):
        groups: dict[str, list[Cell]] = {}
        for cell in fates:
            if name := getattr(topics[cell[0]], by):
                groups.setdefault(name, []).append(cell)
        by_group[f"by_{by}"] = {name: count_labels(groups[name]) for name in sorted(groups)}
    agreed = {task: _agreement(labels[task]) for task in TASKS}
    left = [list(cell) for cell, of in fates.items() if of == "open"]
    return {"all": count_labels(fates), **by_group, "agreement": agreed, "open_key_points": left}


def retention_table(verification: Mapping[str, Any]) -> list[list[str]]:
    """The counts of `retention` as rows of a table, the header first."""
    header = ["", "in", "grounded", "key points", "rejected", "open", "kept share"]
    named = [
        ("all", verification["all"]),
        *verification["by_domain"].items(),
        *verification["by_category"].items(),
    ]
    rows = []
    for name, of in named:
        counts = [str(of[what]) for what in ("n", "grounded", "key_points", "rejected", "open")]
        share = of["kept_share"]
        rows.append([name, *counts, "-" if share is None else format_share(share)])
    return [header, *rows]


def agreement_lines(verification: Mapping[str, Any]) -> Iterator[str]:
    """The agreement of `retention` in words, a line for each task."""
    for task, of in verification["agreement"].items():
        names = {"observed": "observed", "alpha": "alpha", "kappa": "free-marginal kappa"}
        figures = ", ".join(f"{text} {format_share(of.get(name))}" for name, text in names.items())
        among = f"{of['n']:,} of {of.get('n_labelled', of['n']):,} key points with 2 labels or more"
        yield f"agreement on {task}: {figures} ({among})"


def fate(labels: Mapping[str, LabelFile], cell: Cell) -> Fate:
    """Rejected if most say no to one of the tasks, kept if most say yes to both, else open."""
    verdicts = [labels[task].cells.get(cell) for task in TASKS]
    if "no" in verdicts:
        return "rejected"
    return "open" if None in verdicts else "kept"


def _written(line: Line, task: str) -> str:
    written = line.row.get(task)
    return "" if written is None else str(written).strip().lower()


def _of_task(line: Line, task: str, scale: Sequence[str]) -> Line | None:
    """What a row of the sheet says of one task, as a row of a label file; None if nothing."""
    if task not in line.row:
        line.missing(task)
        return None
    label = _written(line, task)
    if scale is DEGREES:
        label = _AS_DEGREE.get(label, label)
    if label not in ("", *scale):
        wanted = "agree, neutral, disagree" if scale is DEGREES else "yes, no"
        line.bad(task, line.row[task], f"{wanted} or nothing")
    if label not in scale:
        return None
    return replace(line, row={**line.row, "label": label})


def _agreement(labels: LabelFile) -> dict[str, Any]:
    annotators = sorted({name for item in labels.annotations.values() for name in item})
    items = labels.annotations.values()
    found: dict[str, Any] = {
        "annotators": len(annotators),
        "n_labelled": len(items) or len(labels.cells),
    }
    if len(annotators) < 2:
        return found | {"n": 0, "observed": None, "alpha": None, "kappa": None}
    agreement = reliability(
        [[item.get(name) for item in items] for name in annotators], labels.scale
    )
    figures = {"observed": agreement.observed, "alpha": agreement.alpha["nominal"]}
    n, observed = agreement.n_pairable, agreement.observed
    kappa = None if observed is None else float(randolph_kappa(observed * n, n, len(labels.scale)))
    return found | {"n": n} | figures | {"kappa": kappa}
