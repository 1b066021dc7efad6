"""Servers that are killed: this process has read the results, and forks a server for each line.

Arguments: results, kind, folder, n. For each line that comes it prints the pid of a new server and
ann's link. A fork starts in a twentieth of the time that `judge annotate` takes to import all.
"""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path

from nuggetjudge.plugins.annotate.server.labelling import open_labelling
from nuggetjudge.plugins.annotate.server.serving import bind_socket, serve
from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.records.reading.problems import Problems


def ready(links: Mapping[str, str]) -> None:
    """Say where to find this server."""
    sys.stdout.write(f"{os.getpid()} {links['ann']}\n")
    sys.stdout.flush()


def main(results: str, kind: str, folder: str, n: str) -> None:
    """See above."""
    task = read_task([Path(results)], kind, Problems())  # type: ignore[arg-type]
    gc.freeze()  # what is there stays: else a fork copies it as soon as it is looked at
    before = 0
    for _ in sys.stdin:
        if before:
            os.waitpid(before, 0)  # its locks are gone with it
        if before := os.fork():
            continue
        try:
            work = open_labelling(task, Path(folder), ("ann",), Plan(n=int(n)))
            serve(work, bind_socket(Path(folder)), ready)
        except BaseException:
            sys.stdout.write(f"0 {traceback.format_exc()!r}\n")
            sys.stdout.flush()
        finally:
            os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
