"""The list of commands, and how the process ends."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from types import FrameType

import typer

from . import agree, cache, calibrate, compare, configs, doctor, run, score
from .build import build
from .coverage import coverage
from .exits import INPUT, INTERNAL, INTERRUPTED, TERMINATED
from .generate import generate
from .next import next_
from .probe import probe
from .retrieve import index, retrieve
from .stopping import Terminated
from .terminal import shown

app = typer.Typer(
    name="judge",
    help="LLM judges for long-form RAG: nuggets, coverage, key points, support and relevance.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command(cls=run.RunCommand)(run.run)
app.command()(score.score)
app.command()(agree.agree)
app.command()(calibrate.calibrate)
app.command()(compare.compare)
app.command("next")(next_)
app.command()(probe)
app.command()(coverage)
app.command()(index)
app.command()(retrieve)
app.command()(generate)
app.add_typer(build, name="build")
app.command()(doctor.doctor)
app.command()(cache.cache)
app.command()(configs.init)
app.command()(configs.schema)
app.command("export-config")(configs.export_config)


def main() -> None:
    """Run the command line; the exit codes are those of `judge --help`."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except BrokenPipeError:
        _end_quietly()
    except Terminated:
        sys.exit(TERMINATED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except SystemExit as end:  # typer's own way with a broken pipe is the code of a gate
        if isinstance(end.__context__, BrokenPipeError):
            _end_quietly()
        raise
    except OSError as error:
        sys.stderr.write(f"judge: {shown(str(error))}\n")
        sys.exit(INPUT)
    except Exception as error:
        if type(error).__name__ not in ("InputError", "EndpointUnusable"):
            sys.stderr.write(shown(traceback.format_exc()))
            sys.exit(INTERNAL)
        sys.stderr.write(f"judge: {shown(str(error))}\n")
        sys.exit(INPUT)


def _end_quietly() -> None:
    """The reader of stdout went away, as `| head` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


def _terminate(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # while what was judged is put away
    raise Terminated
