"""Broken files to every reader: each is a value or an InputError that names file and line."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from nuggetjudge.records.reading.problems import InputError, Problems

from .mutations import mutated
from .readers import Target, names, targets, write_samples
from .table import Row

WITHIN_S = 5.0  # of computing for one case, which takes milliseconds
AT_MOST_S = 60.0  # with all waiting, beside other work on the machine
MEMORY_BYTES = 2**30  # that a case may take beyond what the process had
CHUNK = 500  # cases of one task
WORKERS = 2


class Hung(BaseException):
    """Raised in a case that takes too long."""


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """A case in here ends by Hung or MemoryError where it takes too much."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    most = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most if soft < 0 else min(soft, most), hard))
    before = {each: signal.signal(each, _hung) for each in (signal.SIGALRM, signal.SIGPROF)}
    try:
        yield
    finally:
        _set_limits(0, 0)
        for each, handler in before.items():
            signal.signal(each, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _set_limits(computing: float, waiting: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, computing)
    signal.setitimer(signal.ITIMER_REAL, waiting)


def _hung(number: int, frame: object) -> None:
    raise Hung


def fuzz(row: Row, folder: Path, chosen: list[Target], cases: Iterable[int], keep: Path) -> None:
    """Run the cases with these numbers, each the same for the seed of the row.

    Args:
        folder: a copy of the samples, to break files in.
        keep: where what broke a reader is put.
    """
    with bounded():
        for number in cases:
            chance = random.Random(f"{row.seed}:{row.part}:{number}")
            target = chance.choice(chosen)
            sound = target.sample.read_bytes()
            raw = mutated(sound, chance)
            broken = folder / target.place
            broken.write_bytes(raw)
            kind, what = _ended(target, broken)
            if broken.name != "broken" + broken.suffix:
                broken.write_bytes(sound)
            row.cases += 1
            if kind in ("read", "refused"):
                row.judged += kind == "read"
                row.unjudged.update({"refused": kind == "refused"})
                continue
            kept = keep / f"{row.part.replace(' ', '-')}-{row.seed}-{number}{broken.suffix}"
            kept.write_bytes(raw)
            getattr(row, kind).append(f"case {number}, {target.place}: {what} ({kept})")


def _ended(target: Target, path: Path) -> tuple[str, str]:
    """`read`, `refused`, or the list of Row that it belongs to, and what to say there."""
    problems = Problems()
    _set_limits(WITHIN_S, AT_MOST_S)
    try:
        try:
            outcome = target.read(path, problems)
            if isinstance(outcome, Iterator):
                for _ in outcome:
                    pass
            problems.raise_errors()
        finally:
            _set_limits(0, 0)
    except InputError as error:
        if wrong := _wrong_message(str(error), problems, path):
            return "other", wrong
        return "refused", ""
    except Hung:
        return "hangs", f"not done after {WITHIN_S:g} s"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return (
            "tracebacks",
            f"{type(error).__name__}: {error!s:.200} at {last.filename}:{last.lineno}",
        )
    return ("other", wrong) if (wrong := _wrong_message("", problems, path)) else ("read", "")


def _wrong_message(text: str, problems: Problems, path: Path) -> str:
    """What is wrong with how the problems are reported; "": nothing."""
    if text and not (str(path) in text or str(path.parent) in text):
        return f"an error without its file: {text[:300]!r}"
    if odd := [c for line in map(str, problems) for c in line if ord(c) < 32 and c != "\t"]:
        return f"a problem with control characters {odd[:3]!r}"
    for problem in problems:
        if not str(problem).startswith(f"{problem.file}:{problem.line}: "):
            return f"a problem without its place: {problem}"
    return ""


def fuzz_all(folder: Path, seed: int, n: int, keep: Path) -> list[Row]:
    """n cases over all readers, in processes of their own; a row for each reader."""
    samples = folder / "samples"
    samples.mkdir(parents=True)
    keep.mkdir(parents=True, exist_ok=True)
    write_samples(samples)
    known = names(targets(samples), samples)
    readers = sorted({reader for reader, _ in known})
    each = max(1, n // len(readers))
    tasks = [
        (name, seed, start, min(start + CHUNK, each))
        for name in readers
        for start in range(0, each, CHUNK)
    ]
    rows = {name: Row(f"reader: {name}", seed) for name in readers}
    # spawned: a worker starts without the threads of this process
    with ProcessPoolExecutor(
        WORKERS, get_context("spawn"), _start, (samples, folder, keep, known)
    ) as pool:
        for task, ran in [(task, pool.submit(_task, *task)) for task in tasks]:
            rows[task[0]].add(_row_of(task, ran))
    return list(rows.values())


def _row_of(task: tuple[str, int, int, int], ran: Future[Row]) -> Row:
    name, seed, start, end = task
    row = Row(f"reader: {name}", seed)
    try:
        return ran.result(timeout=CHUNK * WITHIN_S)
    except TimeoutError:
        row.hangs.append(f"cases {start} to {end}: not done")
    except BrokenProcessPool:
        row.tracebacks.append(f"cases {start} to {end}: the process is gone")
    return row


_worker: dict[str, object] = {}


def _start(samples: Path, folder: Path, keep: Path, known: list[tuple[str, str]]) -> None:
    own = folder / f"worker-{os.getpid()}"
    shutil.copytree(samples, own)
    of_reader: dict[str, list[Target]] = {}
    for target in targets(own, known):
        of_reader.setdefault(target.reader, []).append(target)
    _worker.update(own=own, keep=keep, targets=of_reader)


def _task(name: str, seed: int, start: int, end: int) -> Row:
    row = Row(f"reader: {name}", seed)
    began = time.monotonic()
    chosen = _worker["targets"][name]  # type: ignore[index]
    fuzz(row, _worker["own"], chosen, range(start, end), _worker["keep"])  # type: ignore[arg-type]
    row.unjudged = +Counter(row.unjudged)
    row.seconds = time.monotonic() - began
    return row
