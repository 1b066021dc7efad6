"""Ends at every step by which a command changes the disk, and kills at moments of chance."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import crash_points
from mock_batches import MockBatches
from mock_server import MockServer
from processes import JUDGE, start

from .brain import storm_brain
from .kinds import KEY
from .runs import Ended, Home, files_of, judgements_of
from .table import Row
from .world import jobs, write_config, write_world

WITHIN_S = 120.0
AT_ONCE = 2
N_TOPICS = 2
LATENCY_S = 0.02  # so that kills hit a command at work
IN_FLIGHT = 4  # judgements under way, few so that more is written one by one
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TESTS = Path(__file__).resolve().parents[1]
MORE = ("--set", f"run.concurrency={IN_FLIGHT}")
BATCHES = (
    "--set", "run.executor=batch", "--set", "run.batch.quiet_s=0.1", "--set",
    "run.batch.poll_s=0.02",
)  # fmt: skip
RUN = ("run", "judge.yaml", "--out", "out", "--quiet", *MORE)

# Runs a command that ends, or whose disk is full, at one of its steps.
ENDING = """
import sys
sys.path.insert(0, {tests!r})
import crash_points
crash_points.end_at({number}, {folder!r}, {log!r}, disk_is_full={is_full})
sys.argv = ["judge", *{arguments!r}]
from nuggetjudge.cli import main
main()
"""


@dataclass(frozen=True)
class Work:
    """A command that is ended.

    Attributes:
        job: of `world.jobs`, whose config it reads; "": none.
        before: a command that was finished in the same folder; (): none.
    """

    name: str
    arguments: Sequence[str]
    job: str = ""
    server: Callable[..., MockServer] = MockServer
    before: Sequence[str] = ()


COLLECTION, LONG2RAG = EXAMPLES.parent / "tests" / "collection", EXAMPLES / "long2rag"
WORKS = [
    Work("run support, nuggets", RUN, "support, nuggets given"),
    Work("run in place of results", RUN, "relevance", before=(*RUN, "--limit", "1")),
    Work("run nuggets made", RUN, "nuggets made"),
    Work("run keypoints", RUN, "key points made"),
    Work("run coverage", RUN, "coverage, questions made"),
    Work("run items", RUN, "items of an own judge"),
    Work("run a closed loop", RUN, "closed loop"),
    Work("run by batches", (*RUN, *BATCHES), "relevance", MockBatches),
    Work("build crux", ("build", "crux", str(EXAMPLES / "summaries" / "summaries.jsonl"),
                        "--limit", "1", "--out", "out", *MORE)),
    Work("build long2rag", ("build", "long2rag", str(LONG2RAG / "seeds.jsonl"), "--documents",
                            str(LONG2RAG / "documents.jsonl"), "--limit", "1", "--out", "out",
                            *MORE)),
    Work("calibrate", ("calibrate", str(COLLECTION / "labels" / "grounded.jsonl"), "--judge",
                       str(COLLECTION / "grounded.yaml"), "--method", "threshold", "--folds", "2",
                       "--out", "out/grounded.json")),
    Work("index", ("index", "--passages", "passages.jsonl", "--pipeline", "bm25", "--out", "out")),
    Work("retrieve", ("retrieve", "--topics", "topics.jsonl", "--passages", "passages.jsonl",
                      "--pipeline", "bm25 3", "--out", "out")),
]  # fmt: skip


class Site:
    """A work in a folder of its own, with an endpoint that answers it."""

    def __init__(self, folder: Path, work: Work, server: MockServer) -> None:
        folder.mkdir(parents=True)
        write_world(folder, N_TOPICS)
        if work.job:
            [job] = [job for job in jobs() if job.name == work.job]
            write_config(folder / "judge.yaml", job, server.base_url, 20.0)
        self.home, self.work, self.server = Home(folder), work, server
        self.out = folder / "out"
        self.before: dict[str, bytes] = {}
        if work.before:
            self.home.judge(Row(work.name, 0), *work.before, within_s=WITHIN_S)
            self.before = files_of(self.out)

    def whole(self, row: Row) -> Ended:
        """The command, undisturbed."""
        return self.home.judge(row, *self.work.arguments, within_s=WITHIN_S)

    def ending(self, row: Row, number: int | None, *, is_full: bool) -> tuple[Ended, list[str]]:
        """The command that ends at its n-th step; how it ended, and the steps it did."""
        folder = self.home.folder
        log = folder.with_name(f"{folder.name}.steps")
        log.unlink(missing_ok=True)
        code = ENDING.format(
            tests=str(TESTS), number=number, folder=str(folder), log=str(log), is_full=is_full,
            arguments=list(map(str, self.work.arguments)),
        )  # fmt: skip
        ended = self.home.python(row, code, within_s=WITHIN_S)
        return ended, log.read_text("utf-8").splitlines()


@contextmanager
def site(folder: Path, work: Work) -> Iterator[Site]:
    """A work with its server."""
    with work.server(storm_brain, api_key=KEY) as server:
        yield Site(folder, work, server)


def crashes(
    folder: Path, seed: int, most: int | None, n_works: int | None, *, is_full: bool
) -> list[Row]:
    """Each work ended at each of its steps, or at `most` of them; a row each.

    Args:
        n_works: so many works, drawn; None: all.
        is_full: not ended, but once without room on the disk.
    """

    def one(number: int) -> Row:
        work = WORKS[number]
        name = "full disk" if is_full else "end"
        row = Row(f"{name}: {work.name}", seed)
        with row.timed():
            steps, whole = _steps(folder / f"whole-{number}", work, seed)
            numbers = range(1, len(steps) + 1)
            chance = random.Random(f"{seed}:{work.name}")
            few = min(most, len(steps)) if most is not None else len(steps)
            for step in sorted(chance.sample(numbers, few)):
                with site(folder / f"end-{number}-{step}", work) as here:
                    _end(row, here, step, whole, is_full=is_full)
        return row

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, _drawn(range(len(WORKS)), seed, n_works)))


def _drawn(numbers: Sequence[int], seed: int, most: int | None) -> Sequence[int]:
    return numbers if most is None else sorted(random.Random(seed).sample(numbers, most))


def _steps(folder: Path, work: Work, seed: int) -> tuple[list[str], dict[str, bytes]]:
    """The steps of a work, and the files that it makes."""
    row = Row(work.name, seed)
    with site(folder, work) as here:
        ended, steps = here.ending(row, None, is_full=False)
    if ended.code != 0 or row.broken:
        raise AssertionError(f"{work.name}: exit {ended.code} undisturbed: {ended.err[-600:]}")
    return steps, files_of(folder / "out")


def _end(row: Row, here: Site, step: int, whole: dict[str, bytes], *, is_full: bool) -> None:
    row.cases += 1
    ended, steps = here.ending(row, step, is_full=is_full)
    where = f"step {step}, {steps[step - 1] if step <= len(steps) else 'none'}"
    if len(steps) < step:
        row.unjudged["another order"] += 1  # of threads: this step was not reached
    else:
        row.unjudged[_kind_of(steps[step - 1])] += 1
    if is_full:
        if ended.code not in (0, 2, 3):
            row.other.append(f"{where}: exit {ended.code}: {ended.err[-400:]}")
        elif ended.code == 2 and str(here.home.folder) not in ended.err and "out" not in ended.err:
            row.other.append(f"{where}: names no file: {ended.err[-400:]}")
    elif len(steps) >= step and ended.code != crash_points.KILLED:
        row.other.append(f"{where}: exit {ended.code}, wanted {crash_points.KILLED}")
    if (here.out / "manifest.json").is_file() and ended.code != 3:
        left = {n: raw for n, raw in files_of(here.out).items() if not n.endswith(".part")}
        if left not in (whole, here.before):
            row.other.append(f"{where}: a manifest over other files than a whole run leaves")
    _go_on(row, here, whole, where)


def _kind_of(step: str) -> str:
    """Journal, ledger, cache, or a file that is published."""
    what, _, path = step.partition("\t")
    if "batches-" in path:
        return "ledger"
    if what == "commit" or path.startswith("cache"):
        return "cache"
    return "journal" if "journal" in path else "files"


def _go_on(row: Row, here: Site, whole: dict[str, bytes], where: str) -> None:
    """The same command ends in the same files and judges nothing twice."""
    again = here.whole(row)
    if again.code != 0:
        row.other.append(f"{where}: then exit {again.code}: {again.err[-400:]}")
    elif files_of(here.out) != whole:
        row.other.append(f"{where}: then other files")
    else:
        row.judged += 1
    twice = Counter(name for name, outcome in judgements_of(here.out) if "v" in outcome)
    if repeated := [name for name, times in twice.items() if times > 1]:
        row.other.append(f"{where}: judged twice: {repeated}")
    here.home.check_no_key(row)


def kills(folder: Path, seed: int, n: int, n_works: int | None) -> list[Row]:
    """Works that ask an endpoint, killed n times at moments of chance, until one goes through."""

    def one(number: int) -> Row:
        work = WORKS[number]
        row = Row(f"kill -9: {work.name}", seed)
        with row.timed():
            with site(folder / f"alive-{number}", work) as here:
                here.server.latency_s = LATENCY_S
                took = here.whole(row).seconds
                whole = files_of(here.out)
            with site(folder / f"killed-{number}", work) as here:
                here.server.latency_s = LATENCY_S
                chance = random.Random(f"{seed}:{work.name}")
                for _ in range(n):
                    row.cases += 1
                    _kill(row, here, chance.uniform(0.05, took))
                _go_on(row, here, whole, f"after {n} kills")
        return row

    asking = [number for number, work in enumerate(WORKS) if work.job]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, _drawn(asking, seed, n_works)))


def _kill(row: Row, here: Site, after_s: float) -> None:
    given = {"cwd": here.home.folder, "env": here.home.environment}
    nothing = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = start(*JUDGE, *here.work.arguments, **given, **nothing)
    time.sleep(after_s)
    was_running = process.poll() is None
    process.kill()
    process.wait()
    row.unjudged["killed" if was_running else "had ended"] += 1
