"""What a cascade leaves to people, as a sheet to fill in, with a random part of what it kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...records.kinds import Cell
from ...records.labels import read_labels
from ...records.reading.problems import InputError, Problems
from ..protocols.judged_files import judged_file, kind_of_folder, scale_of
from ..scoring.human_labels import CASCADE, RANDOM
from .next_labels import Choice, Sheet, codes_of, drawn_in_turn, sheet_rows

KEPT = 100  # labels of kept items, by default


def people_sheet(
    results: Path,
    problems: Problems,
    *,
    kind: str | None = None,
    n: int | None = None,
    n_kept: int = KEPT,
    seed: int = 0,
) -> Sheet:
    """The items of a run without a label, and some that have one, as rows of a label file.

    Each row has its chance of being there (`probability`): the share of its topic's items without
    a label, or with one, that were drawn. With both parts scores can be corrected.

    Args:
        results: a results folder. kind: of its judgements, see `judged_kinds`.
        n: at most so many items without a label, drawn in turn over the topics; None: all.
        n_kept: of those with a label, drawn likewise; 0: none.

    Raises: InputError where nothing was left to people, or the random part cannot reach each topic.
    """
    kind = kind or kind_of_folder(results)
    path = judged_file(results, kind)
    file = read_labels(path, problems, scale=scale_of(results, kind=kind))
    problems.raise_errors()
    labelled = sorted(file.cells)
    left = sorted(set(file.lines) - set(file.cells))
    if not left:
        raise InputError(f"{path}: every item has a label, so that nothing is left to people")
    n_topics = len({*codes_of(labelled, file.key_names, "topic_id").tolist()}) if labelled else 0
    if 0 < n_kept < n_topics:
        what = f"wanted one of each of the {n_topics} topics at least, or 0 and no corrected score"
        raise InputError(f"--kept {n_kept}: {what}")
    rng = np.random.default_rng(seed)
    picked: list[tuple[Cell, Choice]] = []
    for cells, most, why in ((left, n, CASCADE), (labelled, n_kept, RANDOM)):
        topics = codes_of(cells, file.key_names, "topic_id")
        drawn = drawn_in_turn(
            rng.permutation(len(cells)), topics, len(cells) if most is None else most
        )
        if not len(drawn):
            continue
        size = np.bincount(topics)
        share = np.bincount(topics[drawn], minlength=len(size)) / size
        picked += [(cells[i], Choice(i, why, float(share[topics[i]]))) for i in drawn.tolist()]
    picked.sort(key=lambda one: one[0])
    chosen = [choice for _, choice in picked]
    rows = sheet_rows([results], file, [cell for cell, _ in picked], chosen, problems)
    n_by = {name: sum(one.chosen_by == name for one in chosen) for name in (CASCADE, RANDOM)}
    return Sheet(rows, file.kind, file.scale, n_by, len(left) + len(labelled), 0)
