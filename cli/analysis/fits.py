"""What `judge calibrate` does with any fit: makes it, and prints what came of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import typer

from ..stopping import INCOMPLETE
from ..tables import shown, write_note, write_objects


class Fit(Protocol):
    """What any fit ends with."""

    @property
    def report(self) -> Mapping[str, Any]: ...
    @property
    def diff(self) -> str: ...


Made = TypeVar("Made", bound=Fit)


def made_and_printed(
    make: Callable[[], Made],
    text: Callable[[Made], str],
    *,
    as_json: bool,
    diff: bool,
    unchanged: str,
) -> Made:
    """Make a fit and print it; exit 3 where the budget allowed no new prompt.

    Args:
        text: the report for people. diff: also show the new prompts; unchanged: where there are
            none.
    """
    from ...backends.errors import JudgeError
    from ...records.judgements import Reason

    try:
        made = make()
    except JudgeError as error:
        if error.reason is not Reason.BUDGET:
            raise
        write_note(f"judge: {error}. No judge file is written; raise the limit.\n")
        raise typer.Exit(INCOMPLETE) from None
    if as_json:
        write_objects([made.report])
    else:
        sys.stdout.write(shown(text(made)))
        if diff:
            sys.stdout.write(shown(made.diff or unchanged))
    return made
