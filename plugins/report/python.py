"""What the core calls to write the page: `result.report()`, and exports that log it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...records.reading.problems import Problems
from .page import write_report
from .source import Source


def write_page(
    folder: Path,
    path: Path,
    problems: Problems,
    *,
    labels: Sequence[Path] = (),
    named: Path | None = None,
) -> None:
    """Write the page of a results folder, which the page calls `named`, and note what is wrong.

    Raises: InputError for labels that cannot be read.
    """
    names = [] if named is None else [named]
    write_report(Source([folder], problems, labels=labels, named=names), path)
