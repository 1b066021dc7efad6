"""The inputs of a run, copied into an export, under pseudonyms where they are wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ....programs.config.sections import Config
from ....programs.engine.folders.inputs import relocated
from ....programs.engine.manifest import input_files
from ....programs.inputs.collection import RETRIEVAL_FILES, expand_runs
from ....records.reading.fields import stem
from ....records.reading.problems import InputError
from ....records.writing import write_file
from .veil import Veil


def copy_inputs(config: Config, folder: Path, veil: Veil | None) -> Config:
    """Copy every file that a run reads into a folder; returns the config that names the copies.

    Runs keep their order. Under a veil they are in an order, and have numbers as names, that say
    nothing of theirs; so has any other file whose name has that of a run or a team in it.

    Raises: InputError for what cannot be copied: an index, or a path that is no input file.
    """
    if config.data.index is not None:
        what = "an index is no part of an export; judge what a retrieval run found"
        raise InputError(f"{config.data.index}: {what}")
    if veil is None:
        files = dict.fromkeys(input_files(config))
        copies = {str(path): _put(folder, path.name, path.read_bytes()) for path in files}
    else:
        copies = _veiled(config, folder, veil)
    copied = relocated(config, copies)
    if veil is not None:
        copied = copied.changed("data", runs=tuple(sorted(copied.data.runs)))
    for at, path in _paths(copied):
        if path.parent != folder:
            raise InputError(f"{path}: {at} is no input file, so it cannot be exported")
    return copied


def _veiled(config: Config, folder: Path, veil: Veil) -> dict[str, str]:
    """Where each input went; runs first, so that all names are known before other files."""
    copies: dict[str, str] = {}
    runs = [(path, veil.answers(path, stem(path))) for path in expand_runs(config.data.runs)]
    for path, content in sorted(runs, key=lambda run: hashlib.sha256(run[1]).digest()):
        name = f"runs-{len(copies) + 1:02}.jsonl"
        copies[str(path)] = _put(folder, name, content)
    for path in expand_runs(config.data.retrieval, suffixes=RETRIEVAL_FILES):
        name = f"retrieval-{len(copies) + 1:02}.run"
        copies[str(path)] = _put(folder, name, veil.rankings(path))
    for path in input_files(config):
        if str(path) not in copies:
            veil.check(path)
            name = path.name
            if veil.is_in(name):
                name = f"input-{len(copies) + 1:02}{''.join(path.suffixes[-2:])}"
            copies[str(path)] = _put(folder, name, path.read_bytes())
    return copies


def _put(folder: Path, name: str, content: bytes) -> str:
    """Write a file under this name, or behind a number where another input has it."""
    to, n = folder / name, 1
    while to.exists():
        n += 1
        to = folder / f"{n}-{name}"
    write_file(to, content)
    return str(to)


def _paths(value: Any, at: str = "") -> Iterator[tuple[str, Path]]:
    """All paths of a config but those of its section `run`, with the names of their settings."""
    if isinstance(value, Path):
        yield at, value
    elif isinstance(value, BaseModel):
        for name, inner in value:
            if at or name != "run":
                yield from _paths(inner, f"{at}.{name}".lstrip("."))
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from _paths(inner, at)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _paths(inner, f"{at}.{name}")
