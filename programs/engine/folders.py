"""Results folders: find their inputs, and check whether a run may replace and write them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from ...judges.table import judge_names
from ...records.reading.fields import shorten
from ...records.reading.lines import hash_file
from ...records.reading.problems import InputError
from ...records.writing import write_file, writing
from ..config.base import load_inputs
from ..config.reading import config_before
from ..config.sections import Config
from ..inputs import ANSWER_FILES, RETRIEVAL_FILES, expand_runs
from .manifest import (
    STARTED,
    find_place,
    input_files,
    make_fingerprint,
    read_folder_config,
    read_manifest,
)
from .results import MANIFEST

Move = Callable[[str], str]  # path or pattern at the time of the run -> path now

CHANGED, GONE, NEW = "has changed since the run read it", "is missing", "was not read by the run"
_PATTERNS = {"runs": ANSWER_FILES, "retrieval": RETRIEVAL_FILES}


@dataclass(frozen=True)
class Inputs:
    """The inputs of a results folder.

    Attributes:
        config: the config of the run, with current paths of files, relative or absolute; `run.out`
            is the folder. A file that differs from the one that was read keeps its path.
        changed: problems of files that differ from those read, by path in the manifest.
        moved: current paths of moved files and patterns, each with the path of the run.
    """

    config: Config
    changed: Mapping[str, str] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)

    def check(self, lost: str, of: Iterable[Path] | None = None) -> Config:
        """Return the config after checking that its files are unchanged.

        Args:
            lost: the consequence for the message, such as `the texts are not shown`.
            of: the files of `config` to check; None: all.

        Raises: InputError with the first changed or missing file.
        """
        paths = self.changed if of is None else [str(p) for p in of if str(p) in self.changed]
        for path in paths:
            raise InputError(f"{path}: {self.changed[path]}; {lost}")
        return self.config


def find_inputs(folder: Path) -> Inputs:
    """Find the inputs of a results folder, from any working directory, moved or not.

    Use it to read a folder's inputs again:

        config = find_inputs(folder).check("the answers are not shown")
        load_collection(config.data, config.run.limit)

    A file is searched by its path in the config, from the working directory; then relative to the
    folder; then at its old place. It is used only if its SHA-256 is unchanged.

    Raises: InputError for a folder without a manifest that this version can read. A changed or
        missing file is an error only in `Inputs.check`.
    """
    manifest, config = read_manifest(folder), read_folder_config(folder)
    return locate_inputs(folder, config, manifest.get("inputs", {}), manifest.get("made_in"))


def locate_inputs(
    folder: Path, config: Config, hashes: Mapping[str, str], made_in: Mapping[str, str] | None
) -> Inputs:
    """Find inputs like `find_inputs`, from the config, hashes and place in a manifest."""
    moves = _moves(folder, made_in)
    locations: dict[str, str] = {}
    changed: dict[str, str] = {}
    for path, digest in hashes.items():
        tried = dict.fromkeys(str(Path(move(path))) for move in moves)
        location = next((each for each in tried if _digest(each) == digest), None)
        if location is not None:
            locations[path] = location
        else:
            changed[path] = CHANGED if any(map(os.path.exists, tried)) else GONE
    mover = _Moved(hashes, locations, moves)
    located = mover.config(config, folder)
    if len(moves) > 1:  # files that an earlier version did not hash count as unchanged
        taken = {*map(os.path.realpath, (*locations.values(), *changed))}
        with suppress(InputError):  # missing runs are in `changed`
            others = (path for path in input_files(located) if path.exists())
            changed |= {str(p): NEW for p in others if os.path.realpath(p) not in taken}
    at = {now: then for then, now in locations.items() if now != then}
    return Inputs(located, changed, at | mover.patterns)


def relocate(config: Config, locations: Mapping[str, str]) -> Config:
    """Return the config with moved input files: old path -> current path.

    Runs given by a pattern are listed one by one.
    """
    return _Moved(locations, locations, [lambda path: path]).config(config, config.run.out)


def _digest(path: str) -> str | None:
    try:
        return hash_file(Path(path))
    except InputError:
        return None


def _moves(folder: Path, made_in: Mapping[str, str] | None) -> list[Move]:
    """Return functions from an old path to possible current paths, most likely first."""
    moves: list[Move] = [lambda path: path]
    if made_in is not None:
        now = str(folder.resolve())
        then, directory = made_in["folder"], made_in["directory"]

        def beside(path: str) -> str:
            relative = os.path.relpath(os.path.join(directory, path), then)
            return os.path.normpath(os.path.join(now, relative))

        moves += [beside, lambda path: os.path.join(directory, path)]
    return moves


@dataclass(frozen=True)
class _Moved:
    """Replaces paths in a config; `patterns`: patterns of runs, current and old."""

    known: Mapping[str, str]
    locations: Mapping[str, str]
    moves: list[Move]
    patterns: dict[str, str] = field(default_factory=dict)

    def config(self, config: Config, folder: Path) -> Config:
        """Return the config with current paths, for results in this folder."""
        moved: Config = self._value(config, but=("run",))
        inputs = load_inputs().items()
        given = {name: one.suffixes for name, one in inputs if one.suffixes}
        runs = {
            name: tuple(
                dict.fromkeys(
                    path
                    for pattern in getattr(config.data, name)
                    for path in self._files(pattern, suffixes)
                )
            )
            for name, suffixes in (_PATTERNS | given).items()
        }
        moved = moved.change("data", **runs)
        if config.items.own is not None:
            moved = moved.change("items", judge=str(self._location(config.items.own)))
        return moved.change("run", out=folder, cache=self._value(config.run.cache))

    def _value(self, value: Any, but: tuple[str, ...] = ()) -> Any:
        if isinstance(value, Path):
            return self._location(value)
        if isinstance(value, BaseModel):
            fields = {name: part for name, part in value if name not in but}
            after = {
                # The index of a step may be a path or the name of a published index.
                name: str(self._location(Path(part)))
                if name == "index" and isinstance(part, str)
                else self._value(part)
                for name, part in fields.items()
            }
            return value.model_copy(update={n: v for n, v in after.items() if v is not fields[n]})
        if isinstance(value, tuple):
            return tuple(self._value(inner) for inner in value)
        if isinstance(value, dict):
            return {name: self._value(inner) for name, inner in value.items()}
        return value

    def _location(self, path: Path) -> Path:
        """Return the current path of a config's path; unhashed files count if they exist."""
        if str(path) in self.known:
            return Path(self.locations.get(str(path), path))
        return next((at for move in self.moves if (at := Path(move(str(path)))).exists()), path)

    def _files(self, pattern: str, suffixes: tuple[str, ...]) -> list[str]:
        """Return the pattern if it matches the files that were read; else these files by name."""
        read: dict[str, None] = {}
        for move in self.moves:
            then = {str(Path(move(path))): path for path in self.known}
            with suppress(InputError):
                now = [str(p) for p in expand_runs((move(pattern),), suffixes=suffixes)]
                if all(path in then and self.locations.get(then[path]) == path for path in now):
                    self.patterns[move(pattern)] = pattern
                    return [move(pattern)]
                read |= dict.fromkeys(then[path] for path in now if path in then)
        return [self.locations.get(path, path) for path in read] or [pattern]


# Fields of `data`; their runs and topics are compared instead.
_BY_IDS = ("runs", "topics", "retrieval")
_GROWING = ("data.passages", "data.ratings")  # more files only add items
_MADE = ("nuggets", "questions", "keypoints")  # default fields of `data`
_ANYWHERE = (
    "endpoint",
    "recording",
)  # settings of a model that may differ: the same model may be served elsewhere


def check_replaced(config: Config, data: Mapping[str, Any] | None = None) -> None:
    """Raise InputError if this run would remove results in the folder, unless forced.

    A run with all tasks, runs and topics of the earlier run, and the same judges and settings,
    continues it: files may have new content, and there may be more of everything.

    Args:
        data: the notes on data for the manifest; unknown ids are not compared.
    """
    folder = config.run.out
    if config.run.force or not (folder / MANIFEST).is_file():
        return
    manifest = read_manifest(folder)
    if gone := [name for name in manifest["config"]["program"] if name not in config.program]:
        before = manifest["config"]["program"]
        what = f"holds results of {gone[0]}, which this run would remove"
        together = ",".join(dict.fromkeys((*before, *config.program)))
        also = f"run {together} together, or add --force"
        raise InputError(f"{folder}: {what}; name another --out, {also}")
    if what := next(_differences(config, folder, manifest, data), ""):
        raise InputError(
            f"{folder}: holds results of another run ({what}); "
            "name another --out, or add --force to replace them"
        )


def _differences(
    config: Config, folder: Path, manifest: Mapping[str, Any], data: Mapping[str, Any] | None
) -> Iterator[str]:
    """Yield what this run lacks from the earlier run."""
    try:
        before = read_folder_config(folder)
    except InputError:
        yield "its config has another version"
        return
    judges = [name for name in manifest.get("judges", {}) if name in judge_names()]
    then, now = dict(_settings(before, judges)), dict(_settings(config, judges))
    files = _Files(manifest)
    has_more = bool(set(config.program) - set(before.program))
    others = (name for name, one in load_inputs().items() if one.is_made)
    made = {f"data.{name}" for name in (*_MADE, *others)}
    for name in dict.fromkeys((*then, *now)):
        one, other = then.get(name), now.get(name)
        if has_more and one is None and name.startswith("data.") and name not in made:
            continue  # another task reads it
        if one != other and not files.are_same(name, one, other):
            yield f"{name}: was {_show(one)}, is {_show(other)}"
    for what in ("run", "topic"):
        was, ids = manifest["data"].get(f"{what}_ids", ()), (data or {}).get(f"{what}_ids")
        if ids is not None and (gone := sorted(set(was) - set(ids))):
            more = f" and {len(gone) - 1:,} more" if len(gone) > 1 else ""
            yield f"its {what} {shorten(gone[0], 60)}{more} of {len(was):,} would be lost"


def _settings(config: Config, judges: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Return every setting that affects judgements, by dotted name."""
    out = ("run", "models", "judges", "program")
    for name, section in config:
        if name not in out:
            yield from _leaves(name, section, _BY_IDS if name == "data" else ())
    yield "run.explain", config.run.explain
    for judge in judges:
        yield from _leaves(f"judges.{judge}", config.judge(judge), ("model",))
        for index, (_, model) in enumerate(config.get_models(judge)):
            more = f".{index + 1}" if index else ""
            yield f"judges.{judge}.model{more}.recording", model.file
            for name, value in model.identity().items():
                if name not in _ANYWHERE:
                    yield f"judges.{judge}.model{more}.{name}", value


def _leaves(name: str, value: Any, but: Iterable[str] = ()) -> Iterator[tuple[str, Any]]:
    if isinstance(value, BaseModel):
        for inner, setting in value:
            if inner not in but:
                yield from _leaves(f"{name}.{inner}", setting)
    else:
        yield name, value


class _Files:
    """Compares paths of a manifest's config with paths of another config."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._hashes: Mapping[str, str] = manifest.get("inputs", {})
        self._directory = manifest.get("made_in", {}).get("directory", "")

    def are_same(self, name: str, then: Any, now: Any) -> bool:
        """Return whether these are the same files, by path or content."""
        if name in _GROWING:
            return all(any(self._is_same(a, b) for b in now) for a in then)
        return self._is_same(then, now)

    def _is_same(self, then: Any, now: Any) -> bool:
        if not (isinstance(then, Path) and isinstance(now, Path)):
            return bool(then == now)
        if os.path.realpath(os.path.join(self._directory, then)) == os.path.realpath(now):
            return True
        return now.is_file() and self._hashes.get(str(then)) == hash_file(now)


def _show(value: Any) -> str:
    if value is None:
        return "none"
    return shorten(value if isinstance(value, str) else str(value), 60)


class Started(NamedTuple):
    """The config of a started run, and its inputs."""

    fingerprint: str
    config: Config
    inputs: Inputs


def write_started(config: Config, inputs: Mapping[str, str]) -> None:
    """Write the config of a start to the run's folder, replacing an earlier one."""
    about = {
        "fingerprint": make_fingerprint(config, inputs),
        "config": config.model_dump(mode="json", by_alias=True),
        "inputs": dict(inputs),
        "made_in": find_place(config.run.out),
    }
    write_file(config.run.out / STARTED, orjson.dumps(about, option=orjson.OPT_APPEND_NEWLINE))


def read_started(folder: Path) -> Started | None:
    """Read the config of a start; None if there is none or the file is incomplete.

    Raises: InputError for a config that this version cannot read.
    """
    texts = TypeAdapter(dict[str, str]).validate_python
    try:
        about = orjson.loads((folder / STARTED).read_bytes())
        fingerprint, hashes, where = str(about["fingerprint"]), about["inputs"], about["made_in"]
        hashes, where = texts(hashes), texts(where)
        settings = about["config"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    try:
        config = config_before(settings)
    except ValidationError:
        raise InputError(f"{folder / STARTED}: its config has another version") from None
    return Started(fingerprint, config, locate_inputs(folder, config, hashes, where))


def check_writable(path: Path) -> None:
    """Raise InputError unless the file or folder, or its nearest parent, is writable."""
    with writing(path):
        there = next(each for each in (path, *path.absolute().parents) if each.exists())
        if not os.access(there, os.W_OK) or (there != path and not there.is_dir()):
            raise InputError(f"{path}: cannot be written; {there} is not a writable folder")


def check_writable_file(path: Path) -> None:
    """Raise InputError unless a file can be written there."""
    check_writable(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder, wanted a file to write")
    check_writable_folder(path.parent)


def check_writable_folder(path: Path) -> None:
    """Raise InputError unless this folder is writable or can be created."""
    check_writable(path)
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: is a file, wanted a folder to write to")
