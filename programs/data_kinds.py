"""Recognise files given to a wrong option, and name the right option."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

from ..records.kinds import file_kind, load_kinds
from ..records.nuggets import BANKS
from ..records.reading.fields import read_lines
from ..records.reading.lines import is_json
from ..records.reading.problems import InputError, Problems
from ..records.samples import is_sample
from ..records.tables import find_binary_kind, find_encoding
from .config.base import load_inputs
from .config.sections import DataConfig

# The name of each kind of file, and its options, the usual option first.
_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "topics": ("topics", ("topics",)),
    "answers": ("answers of systems", ("runs",)),
    "passages": ("passages", ("passages", "documents")),
    "candidates": ("ranked passages of topics", ("candidates", "topics", "documents", "retrieval")),
    "run": ("a retrieval run", ("candidates", "retrieval")),
    "qrels": ("relevance grades (qrels)", ("qrels", "pool")),
    "relevance": ("relevance grades", ("qrels", "pool")),
    BANKS: ("nuggets", ("nuggets", "topics")),
    "questions": ("sub-questions", ("questions", "topics")),
    "ratings": ("ratings of sub-questions", ("ratings",)),
    "reports": ("reference reports", ("reference",)),
    "labels": ("human labels", ("items",)),
    "scores": ("scores", ()),
}
_UNCHECKED = ("index", "items")  # a folder, and a table of any layout
_WITH_FLAG = ("topics", "runs", "passages", "candidates", "qrels", "nuggets", "items")
_INSTEAD = {
    "labels": "judge agree, calibrate and score --labels read labels",
    "scores": "judge agree and compare read scores",
}


P = ParamSpec("P")
T = TypeVar("T")


def name_other_option(
    load: Callable[Concatenate[DataConfig, P], T],
) -> Callable[Concatenate[DataConfig, P], T]:
    """Wrap a function that reads the files of a config: if it fails, call `check_kinds`."""

    @wraps(load)
    def run(data: DataConfig, *args: P.args, **named: P.kwargs) -> T:
        try:
            return load(data, *args, **named)
        except InputError:
            check_kinds(data)
            raise

    return cast(Callable[Concatenate[DataConfig, P], T], run)


def check_kinds(data: DataConfig) -> None:
    """Raise InputError for the first file that belongs to another option, after a failed load.

    Files of an unknown kind, or of a kind that the option may take, pass.
    """
    for name, path in _list_files(data):
        option = _option(name)
        if (binary := _find_binary(path)) is not None:
            what = f"is a {binary} file, wanted text (docs/formats.md)"
            tables = "tables are read as --items and as labels, by judge agree and calibrate"
            raise InputError(f"{option} {path}: {what}; {tables}")
        _check_no_samples(option, path)
        if find_encoding(path) not in ("utf-8", "utf-8-sig"):
            continue  # reading it raises the error
        kind = ""
        with suppress(InputError):
            kind = file_kind(path)
        called, takes = _KINDS.get(kind, ("", ()))
        if kind and not called and any(one.rows == kind for one in load_kinds().values()):
            called = "judgements"
        if called and name not in takes:
            there = [_option(each) for each in takes]
            instead = f"name it with {there[0]}" if there else "this is a result, not an input"
            instead = _INSTEAD.get(kind, instead)
            raise InputError(f"{option} {path}: contains {called}; {instead}")
    if data.items and not data.topics:  # the task items reads no collection, so it cannot fail here
        _check_no_samples("--items", Path(data.items))


def _check_no_samples(option: str, path: Path) -> None:
    """Raise InputError if a file has samples, which only Python reads."""
    if _has_samples(path):
        what = "contains samples, each a question with its answer; judge them in Python"
        call = f'nuggetjudge.evaluate("{path.as_posix()}")'
        raise InputError(f"{option} {path}: {what}: {call} (docs/howto/evaluate.md)")


def _has_samples(path: Path) -> bool:
    with suppress(InputError):
        if is_json(path):
            return any(is_sample(line.row) for line in islice(read_lines(path, Problems()), 1))
    return False


def _option(name: str) -> str:
    return f"--{name}" if name in _WITH_FLAG else f"data.{name}"


def _find_binary(path: Path) -> str | None:
    with suppress(InputError):
        return find_binary_kind(path)
    return None


def _list_files(data: DataConfig) -> Iterator[tuple[str, Path]]:
    """Yield the files of a config, also those behind patterns, each with its setting."""
    # Only its package knows the content of an Input's files.
    unchecked = {*_UNCHECKED, *load_inputs()}
    for name in type(data).model_fields:
        value = getattr(data, name)
        if isinstance(value, dict) or name in unchecked:
            continue
        for each in value if isinstance(value, tuple) else (value,):
            if each is None:
                continue
            found = [Path(each)] if Path(each).is_file() else map(Path, glob.glob(str(each)))
            yield from ((name, path) for path in found if path.is_file())
