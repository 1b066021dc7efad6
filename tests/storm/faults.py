"""A storm of faults: every program against an endpoint that fails, until it fails no more."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mock_server import MockServer

from .brain import storm_brain
from .checks import check_run, check_scored_again, count
from .kinds import KEY, KINDS, Kind
from .plan import Plan
from .runs import Ended, Home, files_of, manifest_of
from .table import Row
from .world import Job, jobs, write_config, write_world

SHARE = 0.3
TIMEOUT_S = 2.0  # of one request, on a machine with nothing else to do; what hangs costs as much
MAX_TIMEOUT_S = 30.0  # where a whole run without faults takes longer; less than HANG_S
WITHIN_S = 600.0  # of one command, which takes a few
MAX_STARTS = 12  # of one command until it has results; each start may be stopped by a 401
AT_ONCE = 4  # commands that mostly wait


def storm(folder: Path, seed: int, n_topics: int) -> list[Row]:
    """Each program with all kinds of fault mixed: a row each."""

    def one(number: int) -> Row:
        return storm_job(folder / f"mixed-{number}", jobs()[number], seed, n_topics)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, range(len(jobs()))))


def storm_job(folder: Path, job: Job, seed: int, n_topics: int) -> Row:
    """One program with all kinds of fault mixed."""
    row = Row(f"faults: {job.name}", seed)
    with row.timed():
        _storm_job(row, folder, job, Plan(seed, KINDS, SHARE), n_topics)
    return row


def kind_by_kind(folder: Path, seed: int, n_topics: int, most: int | None = None) -> list[Row]:
    """Support and nuggets with one kind of fault alone, which a third of the questions meet.

    Half of these meet it once, the others each time they are asked again. One run without faults
    stands beside all of them, and of kinds that end alike the first is scored again.

    Args:
        most: so many kinds, drawn; None: all.
    """
    job = jobs()[0]
    every = range(len(KINDS))
    chosen = every if most is None else sorted(random.Random(seed).sample(every, most))
    sound, failed = folder / "sound" / "whole", Row("no fault", seed)
    took_s = _run_soundly(failed, sound.parent, job, n_topics)
    if not took_s:
        return [failed]
    scored = {KINDS[number].ends: number for number in reversed(chosen)}

    def one(number: int) -> Row:
        kind = KINDS[number]
        row = Row(f"fault: {kind.name}", seed)
        plan = Plan(seed, [kind], SHARE, stubborn=True)
        given = {"sound": sound, "took_s": took_s, "is_scored_again": scored[kind.ends] == number}
        with row.timed():
            _storm_job(row, folder / f"kind-{number}", job, plan, n_topics, **given)
        _check_ends(row, kind, plan)
        return row

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, chosen))


def _check_ends(row: Row, kind: Kind, plan: Plan) -> None:
    if other := set(row.unjudged) - kind.ends:
        row.other.append(f"{kind.name}: ended as {sorted(other)}, wanted {sorted(kind.ends)}")
    if not row.cases:
        row.other.append(f"{kind.name}: nothing met it")


def _run_soundly(row: Row, folder: Path, job: Job, n_topics: int) -> float:
    """The run without faults, in `whole` below the folder: how many seconds, 0 if it failed."""
    folder.mkdir(parents=True)
    write_world(folder, n_topics)
    with MockServer(storm_brain, api_key=KEY) as server:
        write_config(folder / "judge.yaml", job, server.base_url, MAX_TIMEOUT_S)
        ended = _judge(row, Home(folder), "whole")
    if ended.code != 0:
        row.other.append(f"{job.name}: exit {ended.code} without faults: {ended.err[-400:]}")
    return ended.seconds if ended.code == 0 else 0.0


def _storm_job(
    row: Row,
    folder: Path,
    job: Job,
    plan: Plan,
    n_topics: int,
    *,
    sound: Path | None = None,
    took_s: float = 0.0,
    is_scored_again: bool = True,
) -> None:
    """The run without faults, the run with them, the same again, and the same without.

    Args:
        sound: the results of the run without faults, which took `took_s`; None: it is run first.
    """
    if sound is None:
        took_s = _run_soundly(row, folder / "sound", job, n_topics)
        if not took_s:
            return
        sound = folder / "sound" / "whole"
    folder.mkdir(parents=True, exist_ok=True)
    write_world(folder, n_topics)
    home, stormy = Home(folder), folder / "stormy"
    with MockServer(storm_brain, api_key=KEY) as server:
        timeout_s = min(MAX_TIMEOUT_S, max(TIMEOUT_S, took_s))
        write_config(folder / "judge.yaml", job, server.base_url, timeout_s)
        server.faults, plan.in_flight_s = plan, timeout_s / 4
        for time in range(1 if plan.stubborn else 2):  # the second asks for what is left
            ended = _until_results(row, home, plan)
            if not check_run(row, stormy, sound, ended, is_fixed=job.is_fixed):
                return
            if not time:
                count(row, stormy)
            if is_scored_again:
                check_scored_again(row, home, "stormy", WITHIN_S)
        row.cases = plan.n_faults
        plan.is_over = True
        ended = _until_results(row, home, plan)
        if ended.code != 0 or files_of(stormy) != files_of(sound):
            row.other.append(f"{job.name}: exit {ended.code} after the faults, or other files")
        if n := plan.asked_again():
            row.other.append(f"{job.name}: {n} requests sent again though they were judged")
    home.check_no_key(row)


def _judge(row: Row, home: Home, out: str) -> Ended:
    given = ("run", "judge.yaml", "--quiet", "--json", "--out", out)
    return home.judge(row, *given, within_s=WITHIN_S)


def _until_results(row: Row, home: Home, plan: Plan) -> Ended:
    """The same command, until it has results: a 401 stops it, and so does a lost reranking."""
    folder = home.folder / "stormy"
    for _ in range(MAX_STARTS):
        before = manifest_of(folder)
        ended = _judge(row, home, "stormy")
        if ended.code != 2:
            break
        if manifest_of(folder) != before:
            row.other.append(f"{folder.name}: exit 2 and other results: {ended.err[-300:]}")
        if not ("HTTP 401" in ended.err or "run it again" in ended.err):
            row.other.append(f"{folder.name}: exit 2: {ended.err[-300:]}")
            break
    return ended
