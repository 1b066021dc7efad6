"""What `judge calibrate` does with any fit: makes it, and prints what came of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import typer

from ...views.table import View
from ..options import Output
from ..stopping import INCOMPLETE
from ..tables import shown, write_note


class Fit(Protocol):
    """What any fit ends with."""

    @property
    def report(self) -> Mapping[str, Any]: ...
    @property
    def diff(self) -> str: ...


Made = TypeVar("Made", bound=Fit)


def made_and_printed(
    make: Callable[[], Made],
    view: Callable[[Made, bool], View],
    output: Output,
    *,
    diff: bool,
    unchanged: str,
) -> Made:
    """Make a fit and print it; exit 3 where the budget allowed no new prompt.

    Args:
        view: of the report; takes whether all of it is wanted. diff: also show the new prompts;
            unchanged: where there are none.
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
    output.print([made.report], lambda has_all: view(made, has_all))
    if diff and not output.is_json:
        sys.stdout.write("\n" + shown(made.diff or unchanged))
    return made
