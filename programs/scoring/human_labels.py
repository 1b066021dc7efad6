"""Join the items of a judged file with human labels; refuse labels that do not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...metrics.answer_scores import label_shares, scale_gains
from ...records.columns import TableOptions
from ...records.kinds import Cell, check_labelled, check_same_things, file_kind, kind_of_rows
from ...records.labels import cell_run_aliases, read_labels, rename_runs
from ...records.reading.fields import read_lines, shorten
from ...records.reading.problems import InputError, Problems
from ...records.tables.label_rows import is_table, label_lines
from ...records.topics import read_topics
from ..inputs import nearest
from ..protocols.judged_files import are_ordered, find_file_scale, find_judged_file
from ..protocols.judged_items import ALL, JudgedItems, add_failed, equal_items
from ..protocols.program import Folder
from ..protocols.table import programs


def read_items(
    path: Path, kind: str, problems: Problems, topics: Path | None = None
) -> JudgedItems:
    """Read the items of a judged file, or of the file of this kind in a results folder.

    Args:
        kind: the kind of the human labels.
        topics: file of the topics that every run must answer, as for `score_path`.

    Raises: InputError if the file is broken, of another kind, or has no topics.
    """
    wanted = list(read_topics(topics, problems)) if topics is not None else None
    folder = Folder(path, problems, topics=wanted)
    file = find_judged_file(path, kind)
    scale = find_file_scale(path, kind=kind)
    items = _by_program(folder, file) or _labels(file, problems, folder.topics, scale)
    problems.raise_errors()
    return items


def _by_program(folder: Folder, file: Path) -> JudgedItems | None:
    written = None if folder.path.is_dir() else file_kind(file)
    for program in programs():
        if program.file_kind == written if written else program.judged == file.name:
            items = program.items(folder)
            return None if items is None else add_failed(items, folder.failed)
    return None


def _labels(
    path: Path,
    problems: Problems,
    wanted: Sequence[str] | None,
    scale: Sequence[str] | None = None,
) -> JudgedItems:
    """Read labels of items; all items of a topic (and run, if any) have the same weight.

    If the order of labels is unknown, the measures are the shares of labels.
    """
    file = read_labels(path, problems, scale=scale)
    problems.raise_errors()
    if "topic_id" not in file.key_names:
        raise InputError(f"{path}: its labels have no topic_id; add one, intervals need topics")
    at = file.key_names.index("topic_id")
    run_at = file.key_names.index("run_id") if "run_id" in file.key_names else None
    cells: dict[Cell, str | None] = {**file.cells}
    kind = kind_of_rows(file_kind(path))
    if kind is not None and kind.read is not None:
        for _, cell, _, _ in kind.read(read_lines(path, Problems())):
            cells.setdefault(cell, None)
    elif file.n_unlabelled:
        what = f"{file.n_unlabelled} items without a label are left out of the judged items"
        problems.skip(path, 1, "unlabelled", what)
    run_of = {cell: ALL if run_at is None else cell[run_at] for cell in cells}
    if are_ordered(file.kind, file.scale):
        gains = scale_gains(file.scale)
    else:
        gains = label_shares(file.scale)
        what = f"the order of {', '.join(file.scale)} is unknown: no mean gain, only shares"
        problems.skip(path, 1, "no_order", what)
    rows = [(c, run_of[c], label, file.probabilities.get(c)) for c, label in cells.items()]
    counted = sorted({cell[at] for cell in cells}) if wanted is None else wanted
    return equal_items(rows, file.kind, file.scale, file.key_names, gains, counted)


# How a row of a sheet of `judge next` was chosen, and whether that is random.
CHOSEN_BY = "chosen_by"
RANDOM = "random"
CASCADE = "cascade"  # everything that a cascade left to people, or a random sample of it
# With fewer labels, a label that people never gave may be chance.
_MANY = 50


def human_labels(
    path: Path,
    labels: Path,
    problems: Problems,
    where: Mapping[str, Sequence[str]],
    topics: Path | None = None,
    *,
    ignore_others: bool = False,
    in_parts: bool = False,
    how: TableOptions | None = None,
) -> tuple[JudgedItems, list[str | None]]:
    """Return the judged items of `path` and, for each, its label in `labels`; None: no label.

    Labels of runs or citations that were not judged are left out and listed. So are rows of a
    sheet of `judge next` that were not drawn at random, unless `where` names `chosen_by`; with
    `in_parts`, rows of `judge next --kept` count, see `is_of_cascade`. Run names with and without
    a team prefix (`team.run`) are matched if unambiguous.

    Args:
        ignore_others: leave out and list labels of topics or items that were not judged.
        in_parts: judged and unjudged items were sampled separately.
        how: the columns, labels and missing values of the labels' table.

    Raises: InputError if there is no label yet; if labels belong to other items or topics, have
        values that the judge does not give, or are all the same; or if one item has two labels.
    """
    drawn = (RANDOM, CASCADE) if in_parts else (RANDOM,)
    where = _random_alone(labels, where, problems, drawn, how)
    first = read_labels(labels, problems, where, find_file_scale(path), how=how, is_human=True)
    problems.raise_errors()
    check_labelled(first, labels)
    cells = first.cells
    items = read_items(path, first.kind, problems, topics)
    check_same_things(path, items.key_names, labels, first.key_names)
    if "run_id" in items.key_names:
        cells = _with_judged_runs(cells, items, labels, problems)
    cells = _of_items(cells, items, path, labels, problems, ignore_others)
    _check_labels(cells, items, labels, problems)
    return items, [cells.get(cell) for cell in items.cells]


def _random_alone(
    labels: Path,
    where: Mapping[str, Sequence[str]],
    problems: Problems,
    drawn: Sequence[str],
    how: TableOptions | None,
) -> Mapping[str, Sequence[str]]:
    """Return `where`, limited to random rows if the file has rows that were chosen otherwise."""
    if (hard := _find_hard(labels, where, drawn, how)) is None:
        return where
    what = f"{hard.what}: only labels with {CHOSEN_BY}={' or '.join(drawn)} are used; "
    problems.skip(labels, hard.line, "not_random", f"{what}--where selects others")
    return {**where, CHOSEN_BY: [name for name in drawn if name in hard.there] or list(drawn)}


class _Hard(NamedTuple):
    """Labels that are not a random sample: a text, the first line, and each `chosen_by`."""

    what: str
    line: int
    there: set[str]


def _find_hard(
    labels: Path,
    where: Mapping[str, Sequence[str]],
    drawn: Sequence[str],
    how: TableOptions | None,
) -> _Hard | None:
    if CHOSEN_BY in where or not is_table(labels, how):
        return None
    lines = label_lines(labels, Problems(), where, how)
    rows = [line for line in lines if line.row.get("label") not in (None, "")]
    others = [line for line in rows if line.row.get(CHOSEN_BY) not in drawn]
    if not others or all(line.row.get(CHOSEN_BY) is None for line in rows):
        return None
    by = Counter(str(line.row.get(CHOSEN_BY) or "not said") for line in others)
    what = f"{len(others)} of {len(rows)} labels are not a random sample ({CHOSEN_BY} "
    what += ", ".join(f"{shorten(name)}: {n}" for name, n in sorted(by.items())) + ")"
    return _Hard(what, others[0].number, {str(line.row.get(CHOSEN_BY)) for line in rows})


def note_hard_labels(
    labels: Path,
    where: Mapping[str, Sequence[str]],
    problems: Problems,
    how: TableOptions | None = None,
) -> None:
    """Note labels that people gave to items chosen otherwise than at random, and that count."""
    if (hard := _find_hard(labels, where, (RANDOM, CASCADE), how)) is not None:
        what = f"{hard.what} and count; for a fair figure add --where {CHOSEN_BY}={RANDOM}"
        problems.keep(labels, hard.line, "not_random", what)


def is_of_cascade(
    labels: Path, where: Mapping[str, Sequence[str]], how: TableOptions | None = None
) -> bool:
    """Return whether labels come from a sheet of `judge next --kept`.

    Its rows are random samples of two parts of each topic: of judged and of unjudged items.
    """
    if CASCADE not in where.get(CHOSEN_BY, [CASCADE]) or not is_table(labels, how):
        return False
    rows = label_lines(labels, Problems(), where, how)
    return any(x.row.get(CHOSEN_BY) == CASCADE and x.row.get("label") for x in rows)


def _with_judged_runs(
    cells: Mapping[Cell, str], items: JudgedItems, labels: Path, problems: Problems
) -> dict[Cell, str]:
    at, judged = items.key_names.index("run_id"), set(items.runs)
    names = cell_run_aliases(items.cells, cells, items.key_names)
    of_judged, others = {}, Counter[str]()
    for cell, label in cells.items():
        own = rename_runs(cell, items.key_names, names)
        if own[at] in judged:
            of_judged[own] = label
        else:
            others[cell[at]] += 1
    if others:
        what = f"{others.total()} labels of {len(others)} runs that were not judged"
        problems.skip(labels, 1, "other_runs", f"{what}, such as {shorten(min(others))!r}")
    return of_judged


def _check_labels(
    cells: Mapping[Cell, str], items: JudgedItems, labels: Path, problems: Problems
) -> None:
    counts = Counter(cells.values())
    if unknown := sorted(counts.keys() - set(items.scale)):
        what = f"people gave {', '.join(unknown)}, the judge gives {', '.join(items.scale)}"
        raise InputError(f"{labels}: labels of another scale: {what}")
    if len(counts) < 2:
        what = (
            f"all {len(cells)} labels are {next(iter(counts))!r}" if counts else "no label is left"
        )
        raise InputError(f"{labels}: {what}, wanted at least two values")
    judged = Counter(label for label in items.labels if label is not None)
    for label in items.scale:
        if judged[label] >= _MANY and not counts[label] and len(cells) >= _MANY:
            what = f"people gave {label!r} to none of {len(cells)} items, the judge to"
            what += f" {judged[label]} of its {judged.total()}; is it the same scale?"
            problems.keep(labels, 1, "label_never_given", what)


def _of_items(
    cells: Mapping[Cell, str],
    items: JudgedItems,
    path: Path,
    labels: Path,
    problems: Problems,
    ignore_others: bool,
) -> dict[Cell, str]:
    """Return the labels of judged items.

    Labels of unjudged citations are left out. Labels of other topics or items are refused, or
    left out too.
    """
    at = items.key_names.index("topic_id")
    counted = {topic for measure in items.measures for topic in measure.topics}
    topics = (set(items.topics) & counted) or set(items.topics)
    judged = set(items.cells)
    sentences = {cell[:-1] for cell in judged} if "sentence_id" in items.key_names else set()
    other_topics = [cell[at] for cell in cells if cell[at] not in topics]
    missing = [cell for cell in cells if cell[at] in topics and cell not in judged]
    later = [cell for cell in missing if cell[:-1] in sentences]
    others = [cell for cell in missing if cell[:-1] not in sentences]
    notes = {}
    if other_topics:
        what = f"{len(other_topics)} labels are of {len(set(other_topics))} topics that are not"
        what += f" judged in {path}, such as {shorten(min(other_topics))!r}"
        notes["other_topics"] = what + nearest(min(other_topics), sorted(topics))
    if others:
        what = f"{len(others)} labels are of items that are not in {path}"
        notes["other_items"] = f"{what}, such as {shorten(' '.join(min(others)))!r}"
    if notes and not ignore_others:
        what = next(iter(notes.values()))
        raise InputError(f"{labels}: {what}; to ignore such labels, add --ignore-other-labels")
    if later:
        what = f"{len(later)} labels of citations that were not judged"
        notes["other_citations"] = f"{what}, such as {' '.join(min(later))}"
    for kind, what in notes.items():
        problems.skip(labels, 1, kind, what)
    return {c: label for c, label in cells.items() if c in judged and c[at] in topics}
