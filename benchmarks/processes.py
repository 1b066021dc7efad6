"""New processes: the mock server, and one process for each measurement."""

from __future__ import annotations

import atexit
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent


class Server:
    """A running mock endpoint; `url` is its base URL."""

    def __init__(self, url: str) -> None:
        self.url = url

    def stats(self) -> Counter[str]:
        """`requests` (POSTs), `body_bytes`, `cpu_s` so far and `max_in_flight`.

        Subtract two to get what came between.
        """
        with urlopen(self.url.removesuffix("/v1") + "/stats") as reply:
            return Counter(json.load(reply))


@contextmanager
def light_server(
    content: str = '{"verdict": "full"}',
    *,
    replies: Mapping[str, str] = MappingProxyType({}),
    latency_ms: float = 0,
    fault_every: int = 0,
) -> Iterator[Server]:
    """The mock endpoint in a process of its own, for as long as the block runs.

    Args:
        replies: what it says to a body with this text, instead of `content`.
        fault_every: 429, 500, no answer and a broken reply, each once in so many requests.
    """
    command = [*server_command(), "--content", content, "--latency-ms", str(latency_ms)]
    command += ["--fault-every", str(fault_every)]
    for text, reply in replies.items():
        command += ["--reply", text, reply]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(process.stdout.readline().strip())
        finally:
            process.terminate()


@lru_cache
def server_command() -> list[str]:
    """The server in C, compiled now, or where that cannot be done the one in Python."""
    folder = tempfile.mkdtemp(prefix="nuggetjudge-")
    atexit.register(shutil.rmtree, folder)
    made = Path(folder) / "light_server"
    source = ROOT / "benchmarks" / "light_server" / "server.c"
    try:
        command = [os.environ.get("CC", "cc"), "-O2", "-o", str(made), str(source)]
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return [sys.executable, str(source.with_suffix(".py"))]
    return [str(made)]


def measure(module: str, *, python: str = sys.executable, **arguments: Any) -> dict[str, Any]:
    """Run `main(**arguments)` of a module of this package in a fresh process; returns its result.

    Args:
        python: of the environment to run it in.

    Raises: CalledProcessError if it fails; its stderr was shown.
    """
    with started(module, python=python, **arguments) as process:
        return result_of(process)


def started(
    module: str, *, python: str = sys.executable, **arguments: Any
) -> subprocess.Popen[str]:
    """As `measure`, not waited for."""
    # A child begins with its parent's peak memory: this process must stay small.
    code = (
        "import json, sys; from importlib import import_module as load; "
        "main = load(sys.argv[1]).main; "
        "print(json.dumps(main(**json.loads(sys.argv[2]))))"
    )
    command = [python, "-c", code, f"benchmarks.{module}", json.dumps(arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def result_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What a started process printed. Raises: CalledProcessError if it failed."""
    out, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    figures: dict[str, Any] = json.loads(out.splitlines()[-1])
    return figures


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
