"""`judge annotate`: the default command is `serve`."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from ....cli.options import add_command
from .disagreements import disagreements
from .files import export, take_in
from .serve import serve

_ASKS_FOR_HELP = ("--help", "-h")


class Annotate(TyperGroup):
    """A group that runs `serve` if its first word is not a command."""

    default = "serve"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See click."""
        if args and args[0] not in {*self.commands, *_ASKS_FOR_HELP}:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


annotate = typer.Typer(
    cls=Annotate,
    help="Have people label judged items, in a page on this machine.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@annotate.callback()
def _annotate() -> None:
    """Have people label judged items, in a page on this machine: judge annotate RESULTS ..."""


add_command(annotate, serve)
add_command(annotate, export)
add_command(annotate, take_in, "import")
add_command(annotate, disagreements)
