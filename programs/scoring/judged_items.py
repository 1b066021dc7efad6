"""The items of any judged file: by their program, or by the labels alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...metrics.answer_scores import label_shares, scale_gains
from ...records.kinds import Cell, file_kind
from ...records.labels import read_labels
from ...records.reading.problems import InputError, Problems
from ...records.relevance import read_relevance
from ...records.topics import read_topics
from ..protocols.judged_files import are_ordered, judged_file, scale_of
from ..protocols.judged_items import ALL, JudgedItems, equal_items, with_unmade
from ..protocols.program import Folder
from ..protocols.table import programs


def read_items(
    path: Path, kind: str, problems: Problems, topics: Path | None = None
) -> JudgedItems:
    """The items of a judged file, or of the file of this kind in a results folder.

    Args:
        kind: of the labels that are to be joined.
        topics: file of the topics that every run must answer, as for `score_path`.

    Raises: InputError if the file is broken, of another kind, or has no topics.
    """
    wanted = list(read_topics(topics, problems)) if topics is not None else None
    folder = Folder(path, problems, topics=wanted)
    file = judged_file(path, kind)
    scale = scale_of(path, kind=kind)
    items = _by_program(folder, file) or _labels(file, problems, folder.topics, scale)
    problems.raise_errors()
    return items


def _by_program(folder: Folder, file: Path) -> JudgedItems | None:
    written = None if folder.path.is_dir() else file_kind(file)
    for program in programs():
        if program.file_kind == written if written else program.judged == file.name:
            items = program.items(folder)
            return None if items is None else with_unmade(items, folder.not_made)
    return None


def _labels(
    path: Path,
    problems: Problems,
    wanted: Sequence[str] | None,
    scale: Sequence[str] | None = None,
) -> JudgedItems:
    """Labels of any items: each counts the same in its topic, and in its run where it has one.

    Where nothing says which label is better, the measures are the labels' shares.
    """
    file = read_labels(path, problems, scale=scale)
    problems.raise_errors()
    if "topic_id" not in file.key_names:
        raise InputError(f"{path}: its labels have no topic_id, and intervals go by topic")
    at = file.key_names.index("topic_id")
    run_at = file.key_names.index("run_id") if "run_id" in file.key_names else None
    cells: dict[Cell, str | None] = {**file.cells}
    if file_kind(path) == "relevance":
        for row in read_relevance(path, Problems()):
            cells.setdefault((row.topic_id, row.passage_id), None)
    elif file.n_unlabelled:
        what = f"{file.n_unlabelled} items without a label are left out of the judged items"
        problems.skip(path, 1, "unlabelled", what)
    run_of = {cell: ALL if run_at is None else cell[run_at] for cell in cells}
    if are_ordered(file.kind, file.scale):
        gains = scale_gains(file.scale)
    else:
        gains = label_shares(file.scale)
        what = f"nothing says which of {', '.join(file.scale)} is better: no mean gain, only shares"
        problems.skip(path, 1, "no_order", what)
    rows = [(c, run_of[c], label, file.probabilities.get(c)) for c, label in cells.items()]
    counted = sorted({cell[at] for cell in cells}) if wanted is None else wanted
    return equal_items(rows, file.kind, file.scale, file.key_names, gains, counted)
