"""The one folder that a session may see: what is read and written by name stays inside it."""

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
WORDS = "words"  # the encoder that is no model
_SEARCHES = ("bm25", "rrf", "weighted", "mmr", "cut")  # steps that load no model of their own


class Folder:
    """Finds what a client names in a folder, and refuses all that is not in it.

    Links are followed before a place is looked at, so that none leads out.

    Args:
        root: the folder.

    Raises: InputError if it is none.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise InputError(f"--folder {root}: no such folder")
        self.root = Path(os.path.realpath(root))

    def inside(self, name: str | Path, what: str = "path") -> Path:
        """The path that a name stands for, links resolved.

        Args:
            name: relative to the folder, or absolute.
            what: it is, for messages.

        Raises: InputError if it is elsewhere.
        """
        if "\0" in str(name):
            raise InputError(f"{what}: holds a NUL character, wanted a path in the folder")
        return self._within(self.root / name, f"{what} {name}")

    def _within(self, path: str | Path, what: str) -> Path:
        """A path as it would be opened, links resolved."""
        real_path = Path(os.path.realpath(path))
        if not real_path.is_relative_to(self.root):
            raise InputError(f"{what}: outside of the folder that this server may see")
        return real_path

    def name_path(self, path: Path) -> str:
        """How a client would name a path of the folder."""
        return str(path.relative_to(self.root))

    def config_file(self, name: str) -> Path:
        """A config file. Raises: InputError if it is elsewhere or not there."""
        path = self.inside(name, "config")
        if not path.is_file():
            near = ", ".join(sorted(p.name for p in self.root.glob("*.y*ml"))[:10])
            raise InputError(f"config {name}: no such file{f'; there is {near}' if near else ''}")
        return path

    def out(self, name: str) -> Path:
        """Where results of this name go. Raises: InputError for anything but a plain name."""
        if not _NAME.fullmatch(name):
            what = "wanted letters, digits, . _ and -, as it becomes a folder under results/"
            raise InputError(f"name {name!r}: {what}")
        path = self.inside(Path(RESULTS) / name, "name")
        self._check_all(path, f"name {name}")
        return path

    def results(self, name: str) -> Path:
        """A finished results folder, all that it names being in the folder.

        Raises: InputError.
        """
        path = self.inside(name, "results")
        if not (path / MANIFEST).is_file():
            finished = sorted(p.parent.name for p in (self.root / RESULTS).glob(f"*/{MANIFEST}"))
            there = [f"{RESULTS}/{one}" for one in finished]
            meant = did_you_mean(str(name), [*there, *finished])
            what = f"there is {', '.join(there[:10])}{meant}" if there else "evaluate makes one"
            raise InputError(f"results {name}: no finished results there; {what}")
        self._check_all(path, f"results {name}")
        self.check(find_inputs(path).config, str(name))
        return path

    def _check_all(self, folder: Path, what: str) -> None:
        """Raise InputError if something in a folder is a link that leads out."""
        for here, folders, files in os.walk(folder):
            for each in (*folders, *files):
                self._within(Path(here) / each, f"{what}: {each}")

    def check(self, config: Config, name: str) -> None:
        """Raise InputError if a config reads something that is not in the folder.

        Args:
            name: of the config, for messages.
        """
        alone = config.model_copy(update={"models": {}})  # which are not the client's
        for path in _paths(alone):
            self._within(path, f"{name} names {path}")
        for pattern in (*config.data.runs, *config.data.retrieval):
            self._within(_get_fixed_part(pattern), f"{name} names {pattern}")
        for path in input_files(alone):
            self._within(path, f"{name} names {path}")
        for step in _steps(config):
            if step not in _SEARCHES:
                searches = ", ".join(_SEARCHES)
                what = f"a search by {step} loads a model by itself; wanted steps of {searches}"
                raise InputError(f"{name}: {what}")


def _paths(value: Any) -> Iterator[str | Path]:
    """Every path in a value of a config; the tokenizer may be one."""
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
    """The folders of a pattern before the first that is one itself."""
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
    """What a step is called, or the encoder that it loads."""
    encoder: str = getattr(step, "encoder", WORDS)
    return step.step if encoder == WORDS else encoder
