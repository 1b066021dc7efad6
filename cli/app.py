"""The list of commands, and how the process ends. A command's module loads when it is used."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
import textwrap
import traceback
import warnings
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .commands import GROUPS, all_commands, find_command
from .stopping import COMPLETE, INPUT, INTERNAL, INTERRUPTED, TERMINATED, Terminated
from .tables import fit_hint, write_note

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_IMPORTING = "<frozen importlib._bootstrap>"  # the file name of frames that import a module


class Commands(TyperGroup):
    """The commands of `judge`; each is imported when it is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """See click."""
        return [*all_commands(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, name: str) -> Any:
        """See click."""
        found = find_command(name)
        if found is None:
            return super().get_command(ctx, name)
        module, _, attribute = found.home.partition(":")
        group = getattr(importlib.import_module(module), attribute)
        if not isinstance(group, typer.Typer):
            group = make_command(group)
        command = typer.main.get_command(group)
        command.name = name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command. Raises: click's usage error, with the most similar command."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            from ..records.reading.problems import did_you_mean

            text, near = str(getattr(error, "message", "")), did_you_mean(args[0], all_commands())
            if text.startswith("No such command"):
                error.message = f"{text.removesuffix('.')}{near or '.'}"  # type: ignore[attr-defined]
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by group, without importing them. See click."""
        for title, group in groupby(all_commands().items(), key=lambda item: item[1].group):
            formatter.write("\n" if title == GROUPS[0] else "")
            for i, (name, command) in enumerate(group):
                start = f"  {'' if i else title:9}  {name:13}  "
                text = textwrap.wrap(command.line, max(formatter.width + 2 - len(start), 20))
                formatter.write(start + f"\n{'':{len(start)}}".join(text) + "\n")


def make_command(function: Any) -> typer.Typer:
    """Make a command with its options under panels."""
    from .options import add_command

    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    add_command(alone, function)
    return alone


app = typer.Typer(
    cls=Commands,
    name="judge",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(is_asked: bool) -> None:
    if is_asked:
        from .. import __version__

        sys.stdout.write(f"judge {__version__}\n")
        raise typer.Exit


@app.callback()
def judge(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Score long RAG answers with LLM judges, and see how far to trust the scores."""


def main() -> None:
    """Run the command line; the exit codes are those of `judge --help`."""
    signal.signal(signal.SIGTERM, _terminate)
    warnings.showwarning = _show_warning
    if sys.stdout is None:  # closed, as >&- does
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    try:
        app()
    except BrokenPipeError:
        _end_quietly()
    except Terminated:
        sys.exit(TERMINATED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except SystemExit as end:  # typer exits with 1 and 130
        if isinstance(end.__context__, BrokenPipeError):
            _end_quietly()
        if _is_terminated(end):
            sys.exit(TERMINATED)
        _flush()
        raise
    except Exception as error:
        from ..backends.errors import EndpointUnusable
        from ..records.reading.problems import InputError

        if isinstance(error, OSError) and error.errno in _NO_ROOM and error.filename is None:
            _end_without_stdout(error)  # errors of other files name the file
        if not isinstance(error, OSError | InputError | EndpointUnusable):
            write_note(traceback.format_exc())
            sys.exit(INTERNAL)
        write_note(f"judge: {fit_hint(str(error))}\n")
        sys.exit(INPUT)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning without its line of code, which does not help the user of a command."""
    write_note(f"judge: warning: {message}\n")


def _flush() -> None:
    """Flush stdout; exit if nobody reads it."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _end_quietly()
    except OSError as error:
        _end_without_stdout(error)


def _end_without_stdout(error: OSError) -> None:
    write_note(f"judge: stdout: cannot be written ({error.strerror or error})\n")
    _end_quietly(INPUT)


def _end_quietly(code: int = COMPLETE) -> None:
    """Exit without a traceback: stdout was closed, as by `| head`, or the disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _terminate(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:  # an exception there could get lost
            os._exit(TERMINATED)
        frame = frame.f_back
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # while results are being saved
    raise Terminated


def _is_terminated(error: BaseException | None) -> bool:
    return error is not None and (
        isinstance(error, Terminated) or _is_terminated(error.__cause__ or error.__context__)
    )
