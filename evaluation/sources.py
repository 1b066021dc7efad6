"""What users name: results, folders and files; and what users are warned of."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TypeAlias

from ..programs.partial import results_at
from ..programs.scoring.result import Result as StoredResult
from ..records.reading.problems import InputError, Problems

Source: TypeAlias = str | Path | StoredResult


class InOneLine(AbstractContextManager[None]):
    """Let an InputError from within be as if raised here: a typo needs no traceback of ours."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InputError):
            error.__traceback__ = error.__cause__ = None
            error.__suppress_context__ = True


def opened(stack: ExitStack, source: Source) -> Path:
    """Where it is; of a stopped run a folder with what was judged by now, until `stack` closes.

    Of a folder of another tool one with its judgements as ours.

    Raises: InputError where an input of a stopped run is not as it was; TypeError for what is
        neither a result nor a path.
    Warns: UserWarning of a stopped run, in the line that called the function which called this one.
    """
    if isinstance(source, StoredResult):
        return source.folder
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"a result or the path of its folder is wanted, not {source!r}")
    at = stack.enter_context(results_at(Path(source)))
    if at.problems is not None:
        warn_of(at.problems)
    if at.is_partial:
        what = f"{source}: stopped run, partial; the same run with the same config goes on"
        warnings.warn(what, UserWarning, stacklevel=3)
    return at.path


def chosen_rows(where: Mapping[str, str | Sequence[str]] | None) -> dict[str, list[str]]:
    """The values wanted of each field, one of them or several."""
    values_of = where or {}
    return {name: [v] if isinstance(v, str) else list(v) for name, v in values_of.items()}


def warn_of(problems: Problems) -> None:
    """Warn of what readers left out or doubted: by kind, with the first of each.

    The warning names the line that called the function which called this one.
    """
    for kind, n in problems.counts().items():
        first = next(row for row in problems.rows if row.kind == kind)
        what = f"{n:,} {kind} ({first.action}), first at {first}"
        warnings.warn(what, UserWarning, stacklevel=3)
