"""`judge evidence`: how far the suggestions of a results folder can be trusted."""

from __future__ import annotations

from typing import Any

from ..options import Output
from ..signatures import Positive, There
from ..stopping import list_problems


def evidence(
    results: There,
    *,
    labels: list[There],
    sample: Positive | None = None,
    output: Output,
) -> None:
    """Show how often suggestions support their sentence, and whether confirmed ones are found.

    Of labelled suggestions: the share that supports the sentence, by score. Of citations that
    people labelled full: whether the search finds them again, and whether a swap planted for
    them is mended. The judges of the folder are asked for the latter.

    Example: judge evidence results/evidence --labels human.jsonl

    Args:
        results: A results folder of judge run evidence.
        labels: Support labels of people, or of read suggestions.
        sample: Confirmed citations to look for, at most; else all.
    """
    from ...programs.analysis.evidence.precision import labelled_suggestions, precision_rows
    from ...programs.analysis.evidence.refinding import refound
    from ...programs.analysis.tables.evidence import evidence_view
    from ...programs.protocols.evidence.program import FILE
    from ...records.labels.labels import read_labels
    from ...records.reading.problems import InputError, Problems

    problems = Problems()
    labels_by_cell: dict[Any, str] = {}
    for path in labels:
        label_file = read_labels(path, problems)
        if label_file.kind != "support":
            raise InputError(f"{path}: labels of {label_file.kind}, wanted those of citations")
        labels_by_cell |= label_file.cells
    problems.raise_errors()
    list_problems(problems)
    if not (results / FILE).is_file():
        raise InputError(f"{results}: has no {FILE}; run `judge run evidence` first")
    read = labelled_suggestions(results / FILE, labels_by_cell)
    precision = precision_rows(read) if read else []
    again = refound(results, labels_by_cell, sample=sample)
    has_confirmed = any(row["n"] for row in again.search)
    if not (precision or has_confirmed):
        raise InputError("none of the labels is of a suggestion, or of a citation of these runs")
    objects = [*precision, *(again.search + again.swaps if has_confirmed else [])]
    search, swaps = (again.search, again.swaps) if has_confirmed else ([], [])
    output.print(objects, lambda _: evidence_view(precision, search, swaps))
