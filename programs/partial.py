"""Read a stopped run, or a folder that a package recognises, as a results folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

import orjson

from ..records.reading.problems import InputError, Problems
from ..records.writing import write_file
from .engine.folders import read_started
from .engine.manifest import read_manifest
from .engine.results import MANIFEST, pretty
from .engine.spending import SPEND

FOLDERS = "nuggetjudge.folders"  # entry points: NAME = "module:function", a FindFolder


class OtherFolder(NamedTuple):
    """A folder of judgements in the layout of another tool.

    Attributes:
        path: the path of the folder.
        judged_files: the files with judgements.
        write_results: writes a results folder to a path, and returns the problems of the files.
            It raises InputError for a broken file, with its line.

    >>> def find_folder(path):  # the entry point names this function
    ...     file = path / "verdicts.jsonl"
    ...     return OtherFolder(path, [file], lambda out: Problems()) if file.exists() else None
    >>> find_folder(Path("no/such/folder")) is None
    True
    """

    path: Path
    judged_files: Sequence[Path]
    write_results: Callable[[Path], Problems]


FindFolder = Callable[[Path], OtherFolder | None]  # None: an unknown folder


class Opened(NamedTuple):
    """A folder with results, or any other path.

    Attributes:
        is_partial: whether the results are those of a stopped run.
        is_of: the files of another tool that were read; "": none.
        problems: problems found in these files.
    """

    path: Path
    is_partial: bool = False
    is_of: str = ""
    problems: Problems | None = None


@contextmanager
def results_at(path: Path) -> Iterator[Opened]:
    """Open the results of a finished run, of a stopped run, or of another tool.

    Judgements of a stopped run, or of another tool that an installed package recognises, are
    written to a temporary folder in our layouts. It is deleted at the end of the context. Any
    other path is returned unchanged.

    Raises: InputError if an input of the stopped run has changed or is missing, or a file of
        the other tool is broken.
    """
    for entry in entry_points(group=FOLDERS):
        find: FindFolder = entry.load()
        if path.is_dir() and (other := find(path)) is not None:
            with _as_results(other) as results:
                yield results
            return
    with open_finished_or_partial(path) as (folder, is_partial):
        yield Opened(folder, is_partial)


@contextmanager
def _as_results(other: OtherFolder) -> Iterator[Opened]:
    named = ", ".join(file.name for file in other.judged_files)
    with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
        made = Path(work) / other.path.resolve().name
        problems = other.write_results(made)
        try:
            yield Opened(made, is_of=named, problems=problems)
        except InputError as error:
            raise InputError(str(error).replace(str(made), str(other.path))) from None


@contextmanager
def open_finished_or_partial(path: Path) -> Iterator[tuple[Path, bool]]:
    """Return a folder with the results of a run, and whether they are partial.

    For a finished run, this is the folder itself. For a killed, stopped or active run, the task
    computes results from copies of the journals in a temporary folder, which is deleted at the
    end of the context. It asks nothing; items without a judgement are unjudged (`budget`), so
    that bounds hold. The stopped folder does not change, and the same command continues there.
    Any other path is returned unchanged.

    Raises: InputError if an input of the stopped run has changed or is missing.
    """
    started = None
    if path.is_dir() and not (path / MANIFEST).is_file():
        started = read_started(path)
    if started is None:
        yield path, False
        return
    from .run import judge_collection  # opens judges, which complete results do not need

    lost = f"needed to read the judgements of the stopped run in {path}"
    config = started.inputs.check(lost)
    # The output of its pipelines is among the inputs.
    config = config.model_copy(update={"retrieve": (), "pipelines": {}})
    with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
        made = Path(work) / path.resolve().name
        (made / "journal").mkdir(parents=True)
        for journal in sorted((path / "journal").glob("*.jsonl")):
            shutil.copyfile(journal, made / "journal" / journal.name)
        alone = {"out": made, "executor": "local", "cache": False, "force": False}
        free = dict.fromkeys(("max_cost", "max_calls", "max_tokens"))
        judge_collection(config.change("run", **alone, **free), asks=False)
        if (path / SPEND).is_file():
            shutil.copyfile(path / SPEND, made / SPEND)
        manifest = read_manifest(made)
        run = orjson.loads(started.config.model_dump_json(by_alias=True))["run"]
        manifest["config"] |= {"run": run}
        manifest |= {"fingerprint": started.fingerprint, "partial": True}
        write_file(made / MANIFEST, pretty(manifest))
        try:
            yield made, True
        except InputError as error:  # names a folder that no longer exists when it is read
            raise InputError(str(error).replace(str(made), str(path))) from None
