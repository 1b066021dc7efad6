"""A results folder: where its inputs are, whether a run may replace it and can write it."""

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

Move = Callable[[str], str]  # a path, or pattern, of the time of the run to one of now

CHANGED, GONE, NEW = "has changed since the run read it", "is not there", "was not read by the run"
_PATTERNS = {"runs": ANSWER_FILES, "retrieval": RETRIEVAL_FILES}


@dataclass(frozen=True)
class Inputs:
    """The inputs of a results folder.

    Attributes:
        config: that of the run, with each path where the file is now, as it is named from here or
            absolute; `run.out` is the folder. A file that is not what was read keeps its path.
        changed: what is wrong with files that are not what the run read, by the manifest's path.
        moved: files and patterns that are elsewhere now, each with the path that the run knew.
    """

    config: Config
    changed: Mapping[str, str] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)

    def check(self, lost: str, of: Iterable[Path] | None = None) -> Config:
        """The config, once its files are known to be those that the run read.

        Args:
            lost: what cannot be had otherwise, such as `the texts are not shown`.
            of: the files of `config` that matter; None: all.

        Raises: InputError that names the first file that has changed or is gone.
        """
        paths = self.changed if of is None else [str(p) for p in of if str(p) in self.changed]
        for path in paths:
            raise InputError(f"{path}: {self.changed[path]}; {lost}")
        return self.config


def find_inputs(folder: Path) -> Inputs:
    """Find the inputs of a results folder, from any working directory, moved or not.

    Use it wherever a folder's inputs are read again:

        config = inputs_of(folder).checked("the answers are not shown")
        load_collection(config.data, config.run.limit)

    A file is looked for as the config names it, from here; then where it was beside the folder;
    then where it was. It is taken only if its SHA-256 is that of the file that was read.

    Raises: InputError for a folder without a manifest that this version can read. A file that has
        changed or is gone is not an error until `Inputs.checked`.
    """
    manifest, config = read_manifest(folder), read_folder_config(folder)
    return locate_inputs(folder, config, manifest.get("inputs", {}), manifest.get("made_in"))


def locate_inputs(
    folder: Path, config: Config, hashes: Mapping[str, str], made_in: Mapping[str, str] | None
) -> Inputs:
    """As `find_inputs`, of what a manifest says: its config, its inputs and where it was made."""
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
    if len(moves) > 1:  # what an earlier version read, but did not hash, is taken as it is
        taken = {*map(os.path.realpath, (*locations.values(), *changed))}
        with suppress(InputError):  # of runs that are gone, which `changed` knows
            others = (path for path in input_files(located) if path.exists())
            changed |= {str(p): NEW for p in others if os.path.realpath(p) not in taken}
    at = {now: then for then, now in locations.items() if now != then}
    return Inputs(located, changed, at | mover.patterns)


def relocate(config: Config, locations: Mapping[str, str]) -> Config:
    """The config with its input files elsewhere: the path of each, and where it is now.

    Runs, which may be given by a pattern, are named one by one.
    """
    return _Moved(locations, locations, [lambda path: path]).config(config, config.run.out)


def _digest(path: str) -> str | None:
    try:
        return hash_file(Path(path))
    except InputError:
        return None


def _moves(folder: Path, made_in: Mapping[str, str] | None) -> list[Move]:
    """Ways from a path of then to where it may be now, the likeliest first."""
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
    """Puts the paths of now into a config; `patterns`: those of runs, now and then."""

    known: Mapping[str, str]
    locations: Mapping[str, str]
    moves: list[Move]
    patterns: dict[str, str] = field(default_factory=dict)

    def config(self, config: Config, folder: Path) -> Config:
        """The config with the paths of now, of results in this folder."""
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
                # The index of a step may be a path or the name of a published one.
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
        """Where a path of the config is now; of what the run did not hash, where there is any."""
        if str(path) in self.known:
            return Path(self.locations.get(str(path), path))
        return next((at for move in self.moves if (at := Path(move(str(path)))).exists()), path)

    def _files(self, pattern: str, suffixes: tuple[str, ...]) -> list[str]:
        """The pattern as it finds what the run read; else each of these files by its name."""
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


# Of `data`; the runs and topics that they hold are compared instead.
_BY_IDS = ("runs", "topics", "retrieval")
_GROWING = ("data.passages", "data.ratings")  # more files only add to what can be judged
_MADE = ("nuggets", "questions", "keypoints")  # of `data`, where none is given
_ANYWHERE = ("endpoint", "recording")  # of a model: the same one may answer elsewhere


def check_replaced(config: Config, data: Mapping[str, Any] | None = None) -> None:
    """Raise InputError if the folder holds results that this run would take away, unless forced.

    A run that has all the programs, runs and topics of the one before, by the same judges and
    settings, goes on: files of the same names may hold something else now, and there may be more
    of everything.

    Args:
        data: what the manifest will say of it, as far as it is known: ids that are not there yet
            are not compared.
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
    """What this run would not have of the one before."""
    try:
        before = read_folder_config(folder)
    except InputError:
        yield "its config is not of this version"
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
            continue  # another program reads it
        if one != other and not files.are_same(name, one, other):
            yield f"{name}: {_show(one)} then, {_show(other)} now"
    for what in ("run", "topic"):
        was, ids = manifest["data"].get(f"{what}_ids", ()), (data or {}).get(f"{what}_ids")
        if ids is not None and (gone := sorted(set(was) - set(ids))):
            more = f" and {len(gone) - 1:,} more" if len(gone) > 1 else ""
            yield f"its {what} {shorten(gone[0], 60)}{more} of {len(was):,} would go"


def _settings(config: Config, judges: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Every setting that says what is judged, how and by whom, by its dotted name."""
    out = ("run", "models", "judges", "program")
    for name, section in config:
        if name not in out:
            yield from _leaves(name, section, _BY_IDS if name == "data" else ())
    yield "run.explain", config.run.explain
    for judge in judges:
        yield from _leaves(f"judges.{judge}", config.judge(judge), ("model",))
        for index, (_, model) in enumerate(config.get_models(judge)):
            more = f".{index + 1}" if index else ""
            yield f"judges.{judge}.model{more}.recording", model.recording
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
    """Compares paths of a manifest's config with those of another."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._hashes: Mapping[str, str] = manifest.get("inputs", {})
        self._directory = manifest.get("made_in", {}).get("directory", "")

    def are_same(self, name: str, then: Any, now: Any) -> bool:
        """Whether these are the same files, by their paths or what they hold."""
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
    """What was started, and its inputs as they are found now."""

    fingerprint: str
    config: Config
    inputs: Inputs


def write_started(config: Config, inputs: Mapping[str, str]) -> None:
    """Write it to the run's folder, in the place of that of the start before."""
    about = {
        "fingerprint": make_fingerprint(config, inputs),
        "config": config.model_dump(mode="json", by_alias=True),
        "inputs": dict(inputs),
        "made_in": find_place(config.run.out),
    }
    write_file(config.run.out / STARTED, orjson.dumps(about, option=orjson.OPT_APPEND_NEWLINE))


def read_started(folder: Path) -> Started | None:
    """What was started in a folder; None where nothing was, or half of the file was written.

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
        raise InputError(f"{folder / STARTED}: its config is not of this version") from None
    return Started(fingerprint, config, locate_inputs(folder, config, hashes, where))


def check_writable(path: Path) -> None:
    """Raise InputError unless the file or folder, or else its nearest parent, can be written."""
    with writing(path):
        there = next(each for each in (path, *path.absolute().parents) if each.exists())
        if not os.access(there, os.W_OK) or (there != path and not there.is_dir()):
            raise InputError(f"{path}: cannot be written, for {there} is no folder to write in")


def check_writable_file(path: Path) -> None:
    """Raise InputError unless a file can be written there, beside others of its folder."""
    check_writable(path)
    if path.is_dir():
        raise InputError(f"{path}: a folder, wanted a file to write")
    check_writable_folder(path.parent)


def check_writable_folder(path: Path) -> None:
    """Raise InputError unless files can be written into this folder, or it can be made."""
    check_writable(path)
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: a file, wanted a folder to write in")
