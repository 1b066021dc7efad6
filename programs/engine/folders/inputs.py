"""Where the inputs of a results folder are now, and whether they are what the run read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ....records.reading.lines import hash_of
from ....records.reading.problems import InputError
from ...config.base import installed_inputs
from ...config.sections import Config
from ...inputs.collection import ANSWER_FILES, RETRIEVAL_FILES, expand_runs
from ..manifest import config_of, input_files, read_manifest

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

    def checked(self, lost: str, of: Iterable[Path] | None = None) -> Config:
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


def inputs_of(folder: Path) -> Inputs:
    """Find the inputs of a results folder, from any working directory, moved or not.

    Use it wherever a folder's inputs are read again:

        config = inputs_of(folder).checked("the answers are not shown")
        load_collection(config.data, config.run.limit)

    A file is looked for as the config names it, from here; then where it was beside the folder;
    then where it was. It is taken only if its SHA-256 is that of the file that was read.

    Raises: InputError for a folder without a manifest that this version can read. A file that has
        changed or is gone is no error until `Inputs.checked`.
    """
    manifest, config = read_manifest(folder), config_of(folder)
    return located_inputs(folder, config, manifest.get("inputs", {}), manifest.get("made_in"))


def located_inputs(
    folder: Path, config: Config, hashes: Mapping[str, str], made_in: Mapping[str, str] | None
) -> Inputs:
    """As `inputs_of`, of what a manifest says: its config, its inputs and where it was made."""
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


def relocated(config: Config, locations: Mapping[str, str]) -> Config:
    """The config with its input files elsewhere: the path of each, and where it is now.

    Runs, which may be given by a pattern, are named one by one.
    """
    return _Moved(locations, locations, [lambda path: path]).config(config, config.run.out)


def _digest(path: str) -> str | None:
    try:
        return hash_of(Path(path))
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
        given = {name: one.suffixes for name, one in installed_inputs().items()}
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
        moved = moved.changed("data", **runs)
        if config.items.own is not None:
            moved = moved.changed("items", judge=str(self._location(config.items.own)))
        return moved.changed("run", out=folder, cache=self._value(config.run.cache))

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
