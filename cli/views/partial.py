"""Results that a command reads, those of stopped runs and of other tools among them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

from ..stopping import list_problems
from ..tables import write_note


def opened(context: typer.Context, paths: Iterable[Path]) -> list[Path]:
    """The paths, of stopped runs and other tools as a folder of results until the command ends.

    Says so on stderr, a line for each. Raises: InputError, see `results_at`.
    """
    from ...programs.engine.manifest import read_manifest
    from ...programs.partial import results_at

    folders = []
    for path in paths:
        at = context.with_resource(results_at(path))
        folder = at.path
        if at.problems is not None:
            write_note(f"{path}: judged by another tool, read from {at.is_of}\n")
            list_problems(at.problems)
        if at.is_partial:
            manifest = read_manifest(folder)
            n_judged = sum(manifest["judged"].values())
            n = n_judged + sum(manifest["unjudged"].values())
            what = f"{path}: stopped run, {n_judged:,} of {n:,} judged: partial"
            write_note(f"{what}; `judge run` with the same config goes on\n")
        folders.append(folder)
    return folders
