"""The list of commands, and how the process ends."""

from __future__ import annotations

import os
import sys

import typer

from . import agree, cache, configs, doctor, run, score
from .exits import INPUT

app = typer.Typer(
    name="judge",
    help="LLM judges for long-form RAG: nuggets, support and relevance.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(run.run)
app.command()(score.score)
app.command()(agree.agree)
app.command()(doctor.doctor)
app.command()(cache.cache)
app.command()(configs.init)
app.command()(configs.schema)
app.command("export-config")(configs.export_config)


def main() -> None:
    """Run the command line; the exit codes are those of `judge --help`."""
    try:
        app()
    except BrokenPipeError:  # the reader of stdout went away, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if type(error).__name__ not in ("InputError", "EndpointUnusable"):
            raise
        sys.stderr.write(f"judge: {error}\n")
        sys.exit(INPUT)
