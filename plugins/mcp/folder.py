"""Limit a session to one folder: every path that a client names must be inside it."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...programs.config.pipelines import AnyStep
from ...programs.config.sections import Config
from ...programs.engine.folders import find_inputs
from ...programs.engine.manifest import input_files
from ...programs.engine.results import MANIFEST
from ...records.reading.problems import InputError, did_you_mean

RESULTS = "results"
_NAME = re.compile(r"\w[\w.-]{0,99}")
WORDS = "words"  # an encoder that needs no model
_SEARCHES = ("bm25", "rrf", "weighted", "mmr", "cut")  # steps that load no model of their own


class Folder:
    """Resolves the paths that a client names, and refuses paths outside the folder.

    Links are resolved first, so that a link cannot lead outside.

    Args:
        root: the folder.

    Raises: InputError if the folder does not exist.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InputError(f"--folder {root}: no such folder")
        self.root = Path(os.path.realpath(root))

    def inside(self, name: str | Path, what: str = "path") -> Path:
        """Resolve a path, with its links.

        Args:
            name: a path relative to the folder, or an absolute one.
            what: what the path names, for messages.

        Raises: InputError if the path is outside the folder.
        """
        if "\0" in str(name):
            raise InputError(f"{what}: has a NUL character; wanted a path in the folder")
        return self._within(self.root / name, f"{what} {name}")

    def _within(self, path: str | Path, what: str) -> Path:
        """The path with its links resolved."""
        real_path = Path(os.path.realpath(path))
        if not real_path.is_relative_to(self.root):
            raise InputError(f"{what}: outside the folder that this server may read")
        return real_path

    def name_path(self, path: Path) -> str:
        """The name by which a client can give a path of the folder."""
        return str(path.relative_to(self.root))

    def config_file(self, name: str) -> Path:
        """Find a config file. Raises: InputError if it is outside the folder or missing."""
        path = self.inside(name, "config")
        if not path.is_file():
            near = ", ".join(sorted(p.name for p in self.root.glob("*.y*ml"))[:10])
            raise InputError(f"config {name}: no such file{f'; there is {near}' if near else ''}")
        return path

    def out(self, name: str) -> Path:
        """The folder for results of this name. Raises: InputError if it is not a plain name."""
        if not _NAME.fullmatch(name):
            what = "wanted letters, digits, . _ and -, since it becomes a folder under results/"
            raise InputError(f"name {name!r}: {what}")
        path = self.inside(Path(RESULTS) / name, "name")
        self._check_all(path, f"name {name}")
        return path

    def results(self, name: str) -> Path:
        """Find a finished results folder. Everything that it names must be in the folder.

        Raises: InputError.
        """
        path = self.inside(name, "results")
        if not (path / MANIFEST).is_file():
            finished = sorted(p.parent.name for p in (self.root / RESULTS).glob(f"*/{MANIFEST}"))
            there = [f"{RESULTS}/{one}" for one in finished]
            meant = did_you_mean(str(name), [*there, *finished])
            what = (
                f"available: {', '.join(there[:10])}{meant}"
                if there
                else "create some with evaluate"
            )
            raise InputError(f"results {name}: no finished results; {what}")
        self._check_all(path, f"results {name}")
        self.check(find_inputs(path).config, str(name))
        return path

    def _check_all(self, folder: Path, what: str) -> None:
        """Raise InputError if a folder contains a link that leads outside."""
        for here, folders, files in os.walk(folder):
            for each in (*folders, *files):
                self._within(Path(here) / each, f"{what}: {each}")

    def check(self, config: Config, name: str) -> None:
        """Raise InputError if a config reads something outside the folder.

        Args:
            name: the name of the config, for messages.
        """
        alone = config.model_copy(update={"models": {}})  # the server's own, not the client's
        for path in _paths(alone):
            self._within(path, f"{name} names {path}")
        for pattern in (*config.data.runs, *config.data.retrieval):
            self._within(_get_fixed_part(pattern), f"{name} names {pattern}")
        for path in input_files(alone):
            self._within(path, f"{name} names {path}")
        for step in _steps(config):
            if step not in _SEARCHES:
                searches = ", ".join(_SEARCHES)
                what = f"a search by {step} loads a model of its own; wanted steps of {searches}"
                raise InputError(f"{name}: {what}")


def _paths(value: Any) -> Iterator[str | Path]:
    """Yield every path in a value of a config; the tokenizer may be a path."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, BaseModel):
        for name, inner in value:
            if name not in ("out", "cache"):  # the server's own
                yield from _paths(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _paths(inner)
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from _paths(inner)
    elif isinstance(value, str) and value.endswith(".json"):
        yield value


def _get_fixed_part(pattern: str) -> str:
    """The leading folders of a pattern that contain no wildcard."""
    path, fixed = Path(pattern), []
    for part in path.parts:
        if glob.has_magic(part) and glob.escape(part) != part:
            break
        fixed.append(part)
    return str(Path(*fixed)) if fixed else "."


def _steps(config: Config) -> Iterator[str]:
    for section in (config.nugget_search, config.questions, config.evidence):
        for step in section.pipeline:
            yield _get_model(step)


def _get_model(step: AnyStep) -> str:
    """The name of a step, or of the encoder that it loads."""
    encoder: str = getattr(step, "encoder", WORDS)
    return step.step if encoder == WORDS else encoder
