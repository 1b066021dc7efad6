"""A stopped run, or a folder that a package knows, read as a results folder."""

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

FOLDERS = "nuggetjudge.folders"  # of entry points: NAME = "module:function", a FindFolder


class OtherFolder(NamedTuple):
    """A folder of judgements in the layout of another tool.

    Attributes:
        judged_files: the files with judgements.
        write_results: writes a results folder at a path, and returns what was left out or doubted.
            Raises InputError for a broken file, with its line.
    """

    path: Path
    judged_files: Sequence[Path]
    write_results: Callable[[Path], Problems]


FindFolder = Callable[[Path], OtherFolder | None]  # None: the folder is of no tool that it knows


class Opened(NamedTuple):
    """A folder with results, or any other path.

    Attributes:
        is_partial: they are of a run that was stopped.
        is_of: the files of another tool that they were made of; "": none.
        problems: what was left out or doubted when those were read.
    """

    path: Path
    is_partial: bool = False
    is_of: str = ""
    problems: Problems | None = None


@contextmanager
def results_at(path: Path) -> Iterator[Opened]:
    """A folder with results: of a finished run, of a stopped one, or of another tool's files.

    What another tool judged, if an installed package knows its layout, is written in our layouts
    into a temporary folder, and so is what a stopped run had judged; both go with this context.
    Any other path is given as it is.

    Raises: InputError where an input of the stopped run has changed or is gone, or a file of the
        other tool is broken.
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
    """A folder with the results of a run, and whether they are partial.

    Of a finished run it is the folder itself, as any other path is given back as it is. Of a run
    that was killed or stopped, or is still at work, the results are made by the run itself, from
    copies of its journals, in a temporary folder that goes with this context: nothing is asked,
    and what was not judged is unjudged (`budget`), so that bounds hold. The stopped folder stays
    as it is, and the same command goes on there.

    Raises: InputError where an input of the stopped run has changed or is gone.
    """
    started = None
    if path.is_dir() and not (path / MANIFEST).is_file():
        started = read_started(path)
    if started is None:
        yield path, False
        return
    from .run import judge_collection  # opens judges, which whole results need not

    lost = f"what was judged in {path}, where a run was stopped, cannot be read without it"
    config = started.inputs.check(lost)
    # What its pipelines made stands among the inputs.
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
        except InputError as error:  # which names a folder that is gone when it is read
            raise InputError(str(error).replace(str(made), str(path))) from None
