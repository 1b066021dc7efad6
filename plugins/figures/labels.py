"""Labels as figures: which labels each judge gave, and how two judges differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...programs.analysis.agree import agree
from ...programs.analysis.agree_labels import join_scales
from ...programs.analysis.tables.leaderboards import name_judges
from ...programs.protocols.judged_files import find_file_scale, find_judged_file, kind_of_folder
from ...programs.scoring.result import Result
from ...records.labels import read_labels
from ...records.reading.problems import InputError, Problems
from ...views.numbers import format_short_share
from .panels import draw_confusion, draw_shares

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_labels(results: Sequence[Path], problems: Problems, width: float) -> tuple[Figure, str]:
    """Draw the share of each label, a bar for each judge: an annotator, or a file without any.

    Source: arXiv:2504.15205, Figure 3.
    """
    given: dict[str, list[str]] = {}
    scale: tuple[str, ...] = ()
    for path in results:
        kind, found = kind_of_folder(path) if path.is_dir() else "", Problems()
        file = read_labels(
            find_judged_file(path, kind), found, scale=find_file_scale(path, kind=kind or None)
        )
        problems.rows += [row for row in found.rows if row.kind != "no_majority"]  # each one counts
        scale = join_scales(scale, file.scale) if scale else file.scale
        judge = name_judges(Result(path).judged_by) if path.is_dir() else ""
        of_file: dict[str, list[str]] = {}
        for by in file.annotations.values():
            for name, label in by.items():
                of_file.setdefault(name, []).append(label)
        if not of_file:
            of_file = {judge or path.stem: list(file.cells.values())}
        for name, labels in of_file.items():
            if name in given:
                raise InputError(f"{path}: a second set of labels by {name}; wanted one")
            given[name] = labels
    problems.raise_errors()
    if empty := [name for name, labels in given.items() if not labels]:
        raise InputError(f"{results[0]}: {empty[0]} gave no labels")
    shares = [[of.count(label) / len(of) for label in scale] for of in given.values()]
    figure = draw_shares(list(given), scale, shares, width)
    each = ", ".join(f"{name} (n = {len(labels):,})" for name, labels in given.items())
    return figure, f"Labels of each judge, in percent: {each}."


def draw_label_pairs(
    one: Path, other: Path, names: tuple[str, str], problems: Problems, width: float
) -> tuple[Figure, str]:
    """Draw how often two judges gave each pair of labels. Source: arXiv:2504.15205, Figure 2."""
    agreed = agree(one, other, problems, resamples=0)
    if "confusion" not in agreed:
        raise InputError(f"{one} and {other}: scores have no labels; wanted labels")
    counts = np.array(agreed["confusion"])
    figure = draw_confusion(counts, agreed["scale"], names, width)
    equal = format_short_share(agreed["accuracy"])
    caption = f"Labels by {names[0]} (rows) and by {names[1]} (columns), percent of {agreed['n']:,}"
    return figure, f"{caption} items. Share of equal labels {equal}."
