"""The size of `pip install .` by package, and the time of the first commands after it.

`python -m benchmarks --only install` measures the files of this folder. To compare, name commits,
or `.` for this folder: `python -m benchmarks.install d9e5995 .`
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import Distribution, distributions
from pathlib import Path
from statistics import median
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .processes import ROOT
from .tables import Bound, Report

MAX_MB, MAX_PACKAGES = 640, 84  # why not 560 and 75: docs/decisions/settings.md
SHOWN = 14  # packages in the table
STARTS = 5
OURS = "nuggetjudge"
# Whether a lexical run loads what it does not need.
LOADED = "litellm openai scipy aiohttp httpx"


class Cost(NamedTuple):
    """What one process took: seconds of CPU, and its largest memory in 10^6 bytes."""

    cpu_s: float
    peak_mb: float


@dataclass(frozen=True)
class Installed:
    """A fresh environment with the package in it.

    Attributes:
        name: of what was installed. total_mb: all files, in 10^6 bytes as the disk holds them.
        bytecode_mb: of them, what Python compiled. packages: name -> 10^6 bytes.
        litellm: what only LiteLLM brings, itself included.
        costs: command -> what it took, the middle of five.
        loaded: which of `LOADED` a lexical run imports.
    """

    name: str
    total_mb: float
    bytecode_mb: float
    packages: Mapping[str, float]
    litellm: frozenset[str]
    costs: Mapping[str, Cost]
    loaded: str


def bench(is_smoke: bool) -> Report:
    """This folder as pip installs it, without extras, with the versions of constraints.txt."""
    return report_of([_measured(".", 1 if is_smoke else STARTS)])


def report_of(installs: list[Installed]) -> Report:
    """One column for each; bounds are checked for the last."""
    last = installs[-1]
    largest = sorted(last.packages, key=lambda name: -last.packages[name])[:SHOWN]
    largest += [name for one in installs for name in one.packages if name not in last.packages]

    def row(what: str, value: Callable[[Installed], str]) -> list[str]:
        return [what, *map(value, installs)]

    table = [["", *(one.name for one in installs)],
             row("all, MB", lambda one: f"{one.total_mb:,.0f}"),
             row("of it bytecode, MB", lambda one: f"{one.bytecode_mb:,.0f}"),
             row("packages, pip's own too", lambda one: f"{len(one.packages)}"),
             row("only for LiteLLM, MB", lambda one: f"{_sum(one, one.litellm):,.0f}"),
             row("only for LiteLLM, packages", lambda one: f"{len(one.litellm)}")]  # fmt: skip
    for name in dict.fromkeys(largest):
        table.append(row(f"{name}, MB", partial(_size, name)))
    for command in last.costs:
        costs = [one.costs[command] for one in installs]
        table.append([f"`{command}`: CPU s", *(f"{cost.cpu_s:.2f}" for cost in costs)])
        table.append([f"`{command}`: MB", *(f"{cost.peak_mb:.0f}" for cost in costs)])
    table.append(row(f"a lexical run imports, of {LOADED}", lambda one: one.loaded or "none"))
    bounds = [
        Bound("size", last.total_mb, MAX_MB, "MB"),
        Bound("packages", len(last.packages), MAX_PACKAGES, "packages"),
        Bound("heavy modules of a lexical run", len(last.loaded.split()), 0, "modules"),
    ]
    return Report("pip install ., without extras", table, bounds)


def _size(name: str, one: Installed) -> str:
    return f"{one.packages[name]:,.1f}" if name in one.packages else "-"


def _sum(one: Installed, names: Iterable[str]) -> float:
    return sum(one.packages.get(name, 0) for name in names)


def _measured(revision: str, starts: int = STARTS) -> Installed:
    with tempfile.TemporaryDirectory() as folder, _source(revision) as source:
        home = Path(folder) / "env"
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "-c"]
        subprocess.run([*pip, str(source / "constraints.txt"), str(source)], check=True)
        installed = list(
            distributions(path=[str(path) for path in home.glob("lib/*/site-packages")])
        )
        files = [path for path in home.rglob("*") if not path.is_symlink()]
        costs = {
            "import nuggetjudge": ["python", "-c", "import nuggetjudge"],
            "judge --help": ["judge", "--help"],
            "judge run (the demo, lexical)": [
                "judge", "run", str(source / "examples/demo/judge.yaml"), "--force",
                "--out", str(Path(folder) / "results"),
            ],
        }  # fmt: skip
        run = costs["judge run (the demo, lexical)"]
        code = f"""import sys; from {OURS}.cli import main; sys.argv = {run!r}
try: main()
except SystemExit as end: assert not end.code
print(*(name for name in {LOADED!r}.split() if name in sys.modules))"""
        output = subprocess.run(
            [str(home / "bin" / "python"), "-c", code], check=True, capture_output=True, text=True
        )
        return Installed(
            name=revision if revision != "." else "this folder",
            total_mb=sum(map(_on_disk, files)),
            bytecode_mb=sum(_on_disk(path) for path in files if path.suffix == ".pyc"),
            packages={_name(one): sum(map(_on_disk, _files_of(one))) for one in installed},
            litellm=_only_for("litellm", installed),
            costs={what: _cost(home, command, starts) for what, command in costs.items()},
            loaded=output.stdout.splitlines()[-1],
        )


@contextmanager
def _source(revision: str) -> Iterator[Path]:
    """The files of a commit, or a copy of this folder's, so that nothing is built in it."""
    with tempfile.TemporaryDirectory() as folder:
        if revision == ".":
            listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
            names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True)
            for name in filter(None, names.stdout.split("\0")):
                if (ROOT / name).is_symlink() or (ROOT / name).is_file():
                    (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / name, Path(folder) / name, follow_symlinks=False)
        else:
            packed = Path(folder) / "source.tar"
            command = ["git", "archive", "--output", str(packed), revision]
            subprocess.run(command, cwd=ROOT, check=True)
            shutil.unpack_archive(packed, folder, filter="data")
        yield Path(folder)


def _name(one: Distribution) -> str:
    return canonicalize_name(one.metadata["Name"])


def _files_of(one: Distribution) -> list[Path]:
    return [Path(str(one.locate_file(file))) for file in one.files or ()]


def _on_disk(path: Path) -> float:
    """10^6 bytes that a file takes up; 0 if it is not there."""
    return path.lstat().st_blocks * 512 / 1e6 if path.exists() else 0.0


def _only_for(package: str, installed: list[Distribution]) -> frozenset[str]:
    """What the environment would not have without a package, itself included."""
    requires = {_name(one): [Requirement(text) for text in one.requires or ()] for one in installed}

    def reached(without: str = "") -> set[str]:
        seen: set[tuple[str, str]] = set()
        todo = [(OURS, "")]
        while todo:
            at = todo.pop()
            if at in seen or at[0] == without:
                continue
            seen.add(at)
            for need in requires.get(at[0], ()):
                if need.marker is None or need.marker.evaluate({"extra": at[1]}):
                    name = canonicalize_name(need.name)
                    todo += [(name, extra) for extra in ("", *need.extras)]
        return {name for name, _ in seen}

    return frozenset((reached() - reached(package)) & requires.keys())


_STARTED = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


def _cost(home: Path, command: list[str], starts: int) -> Cost:
    # A child begins with its parent's peak memory, so a small process starts each.
    started = [sys.executable, "-I", "-S", "-c", _STARTED, str(home / "bin" / command[0])]
    costs = []
    for _ in range(starts):
        cpu_s, peak = json.loads(subprocess.check_output([*started, *command[1:]]))
        costs.append(Cost(cpu_s, peak / (1e6 if sys.platform == "darwin" else 1e6 / 1024)))
    return Cost(median(one.cpu_s for one in costs), median(one.peak_mb for one in costs))


if __name__ == "__main__":
    result = report_of([_measured(revision) for revision in sys.argv[1:] or ["."]])
    sys.stdout.write(f"{result.text('install')}\n")
    sys.exit(not result.is_within)
