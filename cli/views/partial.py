"""Results that a command reads, those of stopped runs among them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import typer

from ..tables import shown


def opened(context: typer.Context, paths: Iterable[Path]) -> list[Path]:
    """The paths, each stopped run's as a folder of its partial results until the command ends.

    Says so on stderr, a line for each. Raises: InputError, see `finished_or_partial`.
    """
    from ...programs.engine.manifest import read_manifest
    from ...programs.partial import finished_or_partial

    found = []
    for path in paths:
        folder, is_partial = context.with_resource(finished_or_partial(path))
        if is_partial:
            manifest = read_manifest(folder)
            n_judged = sum(manifest["judged"].values())
            n = n_judged + sum(manifest["unjudged"].values())
            what = f"{path}: stopped run, {n_judged:,} of {n:,} judged: partial"
            sys.stderr.write(shown(f"{what}; `judge run` with the same config goes on\n"))
        found.append(folder)
    return found
