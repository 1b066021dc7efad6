"""Run the benchmarks, print their tables, and exit 1 when one passes its bound."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable

from . import client, memory, resume, retrieval
from .tables import Report

BENCHMARKS: dict[str, Callable[[bool], Report]] = {
    "client": client.bench,
    "resume": resume.bench,
    "memory": memory.bench,
    "retrieval": retrieval.bench,
}


def main() -> int:
    """Parse the arguments, run and print; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument(
        "--smoke", action="store_true", help="small, with looser bounds: under 40 s in all"
    )
    given = parser.parse_args()
    if unknown := set(given.names) - set(BENCHMARKS):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there is {', '.join(BENCHMARKS)}")
    where = f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.machine()}"
    _say(f"{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}, {where}, load {_load()}\n")
    is_within = True
    for name in given.names or BENCHMARKS:
        began = time.monotonic()
        report = BENCHMARKS[name](given.smoke)
        _say(report.text())
        _say(f"{time.monotonic() - began:.0f} s, load {_load()}\n")
        is_within = is_within and report.is_within
    return 0 if is_within else 1


def _load() -> str:
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
