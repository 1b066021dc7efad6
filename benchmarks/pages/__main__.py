"""Renew what the pages show: `python -m benchmarks.pages DATA` (`make pages`)."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from nuggetjudge.records.reading.problems import InputError

from ..study import real_judges
from . import (
    agreement,
    bm25,
    calibration,
    corrected,
    crux,
    evidence,
    faults,
    juries,
    lexical,
    looks,
    nugget_search,
    retrieval,
    topic,
)
from .shown import with_commands, with_tables

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TABLES = {  # page: what prints its tables
    "agreements.md": (agreement.main,),
    "bm25.md": (bm25.main,),
    "fault-tests.md": (faults.main,),
    "fits.md": (calibration.main, topic.main),
    "context-rankings.md": (retrieval.main,),
    "corrected-scores.md": (corrected.main, looks.main),
    "crux-duc.md": (crux.main,),
    "jury-methods.md": (juries.main,),
    "lexical-judge.md": (lexical.main,),
    "published-judges.md": (real_judges.main,),
    "real-judges.md": (real_judges.main,),
    "nugget-search.md": (nugget_search.main,),
    "suggestions.md": (evidence.main,),
}
COMMANDS = {  # page: which of its commands print all that stands below them
    "arena.md": "judge run arena",
    "backends.md": "--dry-run",
    "generate.md": "",
    "making-collections.md": "",
    "nuggets.md": "judge run nuggets",
    "support.md": "--out results/support",
}


def printed(main: Callable[[list[str]], None], data: Path) -> str:
    """What one of the modules prints, without what an extra is missing for here."""
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            main([str(data)])
    except (ImportError, InputError, SystemExit) as error:
        sys.stderr.write(f"{main.__module__}: {error}\n")
    return output.getvalue()


def run_in(folder: Path, command: str) -> str:
    """What a command prints in a home with the examples and nothing else."""
    home = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    words = [sys.executable, "-m", "nuggetjudge", *shlex.split(command)[1:]]
    ran = subprocess.run(words, cwd=folder, env=home, capture_output=True, text=True, check=True)
    return ran.stdout


def main() -> None:
    """Renew the pages, and say which changed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    parser.add_argument("--only", metavar="PAGE", help="of " + ", ".join([*TABLES, *COMMANDS]))
    options = parser.parse_args()
    for name in [options.only] if options.only else [*TABLES, *COMMANDS]:
        (path,) = DOCS.rglob(name)
        page = new = path.read_text(encoding="utf-8")
        n = 0
        for table in TABLES.get(name, ()):
            new, n_rows = with_tables(new, printed(table, options.data))
            n += n_rows
        if name in COMMANDS:
            with tempfile.TemporaryDirectory() as made:
                (Path(made) / "examples").symlink_to(ROOT / "examples")
                new, n_run = with_commands(new, partial(run_in, Path(made)), COMMANDS[name])
                n += n_run
        path.write_text(new, encoding="utf-8")
        sys.stdout.write(
            f"{name}: {n} rows or commands, {'as before' if new == page else 'changed'}\n"
        )


if __name__ == "__main__":
    main()
