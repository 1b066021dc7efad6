"""Commands of a storm, each with its own home, and what they leave."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes import JUDGE, run

from .kinds import KEY
from .table import Row
from .world import ENVIRONMENT, KEY_VARIABLE

HUNG = 1000  # "exit code" of a command that did not end in its time
NOT_SHARED = ("manifest.json", "spend.jsonl", "DATASHEET.md")  # they tell times and costs


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str
    seconds: float


class Home:
    """A folder with the input files of a storm, and what one user's commands leave there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        variables = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
        self.environment = {"PATH": os.environ["PATH"], **variables, **ENVIRONMENT}

    def judge(self, row: Row, *arguments: object, within_s: float) -> Ended:
        """`judge ...`, run here; what no command may do is noted in the row."""
        what = " ".join(map(str, arguments))[:120]
        return self._run(row, [*JUDGE, *arguments], f"judge {what}", within_s)

    def python(self, row: Row, code: str, *, within_s: float) -> Ended:
        """The same of a program, which may end as killed."""
        return self._run(row, ["-c", code], "judge, to be ended", within_s, may_die=True)

    def _run(
        self,
        row: Row,
        arguments: Sequence[object],
        what: str,
        within_s: float,
        *,
        may_die: bool = False,
    ) -> Ended:
        began = time.monotonic()
        try:
            ran = run(*arguments, timeout=within_s, cwd=self.folder, env=self.environment)
            ended = Ended(ran.returncode, ran.stdout, ran.stderr, time.monotonic() - began)
        except subprocess.TimeoutExpired:
            row.hangs.append(f"{what}: not done after {within_s:g} s")
            return Ended(HUNG, "", "", within_s)
        if "Traceback" in ended.err or ended.code in (1, 70) or (ended.code < 0 and not may_die):
            row.tracebacks.append(f"{what}: exit {ended.code}: {ended.err[-1500:]}")
        if odd := {c for c in ended.out + ended.err if ord(c) < 32} - set("\n\t"):
            row.other.append(f"{what}: prints control characters {sorted(odd)!r}")
        if KEY in ended.out + ended.err:
            row.other.append(f"{what}: prints the key")
        return ended

    def check_no_key(self, row: Row) -> None:
        """No file, the databases of the cache among them, holds the key of the endpoint."""
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and KEY.encode() in path.read_bytes():
                row.other.append(f"{path}: holds the key of {KEY_VARIABLE}")


def rows_of(path: Path) -> list[Any]:
    """The objects of a JSONL file; none if it is not there."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def files_of(folder: Path) -> dict[str, bytes]:
    """What two equal runs have in common."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in NOT_SHARED
    }


def manifest_of(folder: Path) -> Any:
    """Of a finished run; None if there is none."""
    path = folder / "manifest.json"
    return json.loads(path.read_bytes()) if path.is_file() else None


def judgements_of(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What the journals of a run hold: stage and judge with the digest of an item, and the row."""
    for path in sorted(folder.rglob("journal/*.jsonl")):
        for line in path.read_bytes().splitlines():
            with suppress(ValueError):  # torn
                row = json.loads(line)
                if "d" in row:
                    yield f"{path.name}:{row['d']}", row
