"""Fresh processes: the mock server beside the client, and one process for each measurement."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent


class Server:
    """A running light_server; `url` is its base URL."""

    def __init__(self, url: str) -> None:
        self.url = url

    def stats(self) -> Counter[str]:
        """`requests` (POSTs) and `body_bytes` so far; subtract two to get what came between."""
        with urlopen(self.url.removesuffix("/v1") + "/stats") as reply:
            return Counter(json.load(reply))


@contextmanager
def light_server() -> Iterator[Server]:
    """The mock endpoint in a process of its own, for as long as the block runs."""
    command = [sys.executable, str(ROOT / "benchmarks" / "light_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(process.stdout.readline().strip())
        finally:
            process.terminate()


def measure(module: str, **arguments: Any) -> dict[str, Any]:
    """Run `main(**arguments)` of a module of this package in a fresh process; returns its result.

    Raises: CalledProcessError if it fails; its stderr was shown.
    """
    # A child begins with its parent's peak memory: this process must stay small.
    code = (
        "import json, sys; from importlib import import_module as load; "
        "main = load(sys.argv[1]).main; "
        "print(json.dumps(main(**json.loads(sys.argv[2]))))"
    )
    command = [sys.executable, "-c", code, f"benchmarks.{module}", json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


class Clock:
    """Counts this process's CPU and the time from its making."""

    def __init__(self) -> None:
        self._cpu_s, self._began = cpu_s(), time.perf_counter()

    def spent(self, n: int) -> dict[str, float]:
        """`cpu_us` for each of n, and how many of them `a_second`."""
        cpu, wall = cpu_s() - self._cpu_s, time.perf_counter() - self._began
        return {"cpu_us": cpu / n * 1e6, "a_second": n / wall}


def cpu_s() -> float:
    """User and system seconds of this process so far, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_mb() -> float:
    """Largest resident memory of this process so far, in 10^6 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
