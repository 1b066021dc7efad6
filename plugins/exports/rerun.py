"""Checks that results follow from the stored replies, by a run without a model."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import orjson

from ...backends.cache import FOLDER
from ...programs.config.sections import Config
from ...programs.engine.folders import find_inputs
from ...programs.engine.manifest import read_manifest
from ...programs.engine.results import MANIFEST, pretty
from ...programs.engine.spending import SPEND
from ...programs.run import judge_collection
from ...records.reading.fields import shorten
from ...records.reading.lines import FILES, hash_file
from ...records.reading.problems import InputError
from ...records.traces import read_folder_traces
from ...records.writing import write_file

_NOT_COMPARED = (MANIFEST, SPEND, "DATASHEET.md")  # they contain times
_WHY = ("reason", "detail", "raw", "unjudged")  # of failed judgements


@dataclass(frozen=True)
class FileReplay:
    """A file of results compared with its replay.

    Attributes:
        lines: number of lines. differ: number of different lines; all if the file is missing.
        failed: lines that differ only in why a judgement failed, which stored replies do not show.
        first: the first different line, with its number and both versions; "": none.
    """

    name: str
    lines: int
    differ: int
    failed: int
    first: str

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return vars(self)


@dataclass(frozen=True)
class Replay:
    """The result. `replies`: number of stored replies used. `other`: other differences."""

    files: tuple[FileReplay, ...]
    replies: int
    other: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether everything is equal except the reasons of failed judgements."""
        return not any(file.differ for file in self.files)


def verify_results(folder: Path) -> Replay:
    """Run a results folder again from stored replies only, and compare the files.

    Raises: InputError if an input has changed, or the replies were not stored.
    """
    then, inputs = read_manifest(folder), find_inputs(folder)
    config = inputs.check("nothing can be proven")
    cache = find_replies(folder, config, then)

    def run_from_cache(changed: Config) -> None:
        judge_collection(changed.change("run", cache=cache))

    with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
        again = Path(work) / "again"
        now = run_again(config, again, run_from_cache, inputs.moved)
        files = compare_folders(folder, again)
    other = judges_changed(then, now)
    lost = sum(now["unjudged"].values()) - sum(then["unjudged"].values())
    if lost > 0:
        other.append(f"{lost:,} judgements have no stored reply: it is no longer in the cache")
    return Replay(files, int(now["this_time"]["cache_hits"]), tuple(other))


def run_again(
    config: Config, again: Path, run: Callable[[Config], Any], moved: Mapping[str, str]
) -> dict[str, Any]:
    """Run a config into a separate folder, offline; return its manifest.

    The output of its pipelines is among the inputs, and is judged again unchanged.

    Args:
        moved: current names of files -> their names in `problems.jsonl`.
    """
    config = config.model_copy(update={"retrieve": (), "pipelines": {}})
    limits = dict.fromkeys(("max_calls", "max_tokens", "max_cost"))
    run(config.change("run", out=again, offline=True, executor="local", **limits))
    _name_as_then(again / "problems.jsonl", moved)
    return read_manifest(again)


def compare_folders(then: Path, now: Path) -> tuple[FileReplay, ...]:
    """Compare the files of two results folders, except files with times."""
    names = sorted(results_in(then) | results_in(now))
    return tuple(compare_files(name, then / name, now / name) for name in names)


def judges_changed(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Describe the differences between the judges of two manifests."""
    judges = (then.get("judges", {}), now["judges"])
    return [
        f"judge {name}: {part} has changed"
        for name in judges[0]
        for part, was in judges[0][name].items()
        if name in judges[1] and judges[1][name].get(part) != was
    ]


def find_replies(folder: Path, config: Config, manifest: Mapping[str, Any]) -> bool | Path:
    """The reply cache with the replies of a run. Raises: InputError if there is none."""
    models = [model for judge in manifest["judges"] for _, model in config.get_models(judge)]
    if config.run.cache is not False or all(model.sends_nothing for model in models):
        return config.run.cache
    replies = folder / "journal" / FOLDER
    stages = {trace.stage for trace in read_folder_traces(folder)} if replies.is_dir() else set()
    if lost := sorted({*manifest["judged"], *manifest["unjudged"]} - stages):
        what = "was run with run.cache: false, which stores only the replies of agents"
        raise InputError(f"{folder}: {what}; the replies of {lost[0]} are missing")
    return replies


def _name_as_then(path: Path, moved: Mapping[str, str]) -> None:
    """Replace the current names of inputs by the names that the run knew."""
    text = path.read_bytes()
    for now in sorted(moved, key=len, reverse=True):
        text = text.replace(orjson.dumps(now)[1:-1], orjson.dumps(moved[now])[1:-1])
    path.write_bytes(text)
    manifest = read_manifest(path.parent)
    manifest[FILES][path.name] = hash_file(path)
    write_file(path.parent / MANIFEST, pretty(manifest))


def results_in(folder: Path) -> set[str]:
    """The names of its files except files with times."""
    return {p.name for p in folder.iterdir() if p.is_file() and p.name not in _NOT_COMPARED}


def compare_files(name: str, then: Path, now: Path) -> FileReplay:
    """Two versions of a file, line by line."""
    before, after = (
        path.read_bytes().splitlines() if path.is_file() else [] for path in (then, now)
    )
    differ, failed, first = 0, 0, ""
    if then.is_file() is not now.is_file():
        where = "results" if then.is_file() else "replay"
        return FileReplay(name, len(before), max(1, len(before)), 0, f"only in the {where}")
    for number, (was, now_line) in enumerate(zip_longest(before, after), 1):
        if was == now_line:
            continue
        if was and now_line and _but_for_why(was) == _but_for_why(now_line):
            failed += 1
            continue
        differ += 1
        texts = ("nothing" if line is None else _shorten(line) for line in (was, now_line))
        first = first or f"line {number}: " + "\n  replayed as: ".join(texts)
    return FileReplay(name, len(before), differ, failed, first)


def _shorten(line: bytes) -> str:
    return shorten(line.decode("utf-8", "replace"), 300)


def _but_for_why(line: bytes) -> Any:
    try:
        return _without(orjson.loads(line))
    except ValueError:
        return line


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: None if k in _WHY else _without(v) for k, v in value.items()}
    return [_without(v) for v in value] if isinstance(value, list) else value
