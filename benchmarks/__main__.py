"""Run the benchmarks, print their tables, and exit with 1 if one misses its bound."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable

from . import (
    annotate,
    client,
    evaluate,
    faults,
    flight,
    install,
    job,
    memory,
    parallel,
    readback,
    report,
    resume,
    retrieval,
)
from .peers import bench as peers
from .processes import server_command
from .tables import Report

BENCHMARKS: dict[str, Callable[[bool], Report]] = {
    "W1": client.bench_assign,
    "W2": client.bench_support,
    "W3": resume.bench,
    "W4": memory.bench,
    "W5": flight.bench,
    "W6": faults.bench,
    "W7": parallel.bench,
    "W8": peers.bench,
    "evaluate": evaluate.bench,
    "annotate": annotate.bench,
    "job": job.bench,
    "install": install.bench,
    "readback": readback.bench,
    "report": report.bench,
    "retrieval": retrieval.bench,
}
NOT_IN_SMOKE = ("W8", "install")  # take the package index; `--smoke --only W8` does it


def main() -> int:
    """Parse the arguments, run and print; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="W1,W2", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument(
        "--smoke", action="store_true", help="small, with looser bounds: about 90 seconds in all"
    )
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(BENCHMARKS)
    if unknown := set(names) - set(BENCHMARKS):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there is {', '.join(BENCHMARKS)}")
    if options.smoke and not options.only:
        names = [name for name in names if name not in NOT_IN_SMOKE]
    where = f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.machine()}"
    server = "C" if len(server_command()) == 1 else "Python"
    _say(f"{time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}, {where}, mock server in {server}")
    missed = []
    for name in names:
        began, load = time.monotonic(), _load()
        report = BENCHMARKS[name](options.smoke)
        _say(f"\n{report.text(name)}\n{time.monotonic() - began:.0f} s, load {load} to {_load()}")
        if not report.is_within:
            missed.append(name)
    if missed:
        _say(f"\nMissed a bound: {', '.join(missed)}")
    return 1 if missed else 0


def _load() -> str:
    return f"{os.getloadavg()[0]:.2f}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
