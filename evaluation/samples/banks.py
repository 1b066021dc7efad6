"""A nugget bank that is kept between evaluations: used where it has a question, added to."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import orjson

from ...records.nuggets import bank_row, read_nugget_banks
from ...records.reading.fields import read_lines
from ...records.reading.problems import InputError, Problems
from ...records.rows import NuggetBank
from ...records.writing import Appending, NewFile, rename, writing

BEGUN = "bank.jsonl"  # beside the samples: what the bank had for them when they were first judged


def use_bank(bank: Path, folder: Path) -> bool:
    """Put what a bank has for these samples beside the nuggets that they bring themselves.

    What it had at the first start of an evaluation holds until that ends, however often it goes
    on: what is added to it meanwhile, by itself too, changes nothing.

    Args:
        folder: of the samples; with the file BEGUN of the first start, if this is a later one.

    Returns: whether there are any nuggets.
    Raises: InputError for a bank that cannot be read, or is of another question.
    """
    begun = folder / BEGUN
    if not begun.is_file():
        banks = _read(bank)
        _write(begun, {topic: banks[topic] for topic in _questions(folder) if topic in banks})
    stored, own = _read(begun), _read(folder / "nuggets.jsonl")
    for topic, question in _questions(folder).items():
        if topic in stored and stored[topic].query.split() not in ([], question.split()):
            what = f"topic {topic!r} is {stored[topic].query!r} there, of the samples {question!r}"
            raise InputError(f"{bank}: {what}; take another bank, or other ids")
    if both := stored | own:
        _write(folder / "nuggets.jsonl", both)
    return bool(both)


def add_to_bank(bank: Path, made: Path) -> None:
    """Append the nuggets of questions that a bank lacks.

    Args:
        made: nuggets.jsonl of a results folder.

    Raises: InputError for a bank that cannot be read or written.
    """
    if not made.is_file() or not made.stat().st_size:
        return
    made_here = _read(made)
    if made_here.keys() <= _read(bank).keys():
        return
    with _alone(bank):
        stored = _read(bank)
        content = bank.read_bytes()
        ended = b"" if not content or content.endswith(b"\n") else b"\n"
        new = [bank_row(nuggets) for topic, nuggets in made_here.items() if topic not in stored]
        file = Appending(bank, len(content))
        try:
            file.write(ended + b"".join(orjson.dumps(row) + b"\n" for row in new))
        finally:
            file.close()


def _read(path: Path) -> dict[str, NuggetBank]:
    if not path.is_file() or not path.stat().st_size:
        return {}
    problems = Problems()
    banks = read_nugget_banks(path, problems)
    problems.raise_errors()
    return dict(banks)


def _write(path: Path, banks: Mapping[str, NuggetBank]) -> None:
    part = path.with_name(f"{path.name}.part")
    with NewFile(part) as file:
        for each in banks.values():
            file.write(orjson.dumps(bank_row(each)) + b"\n")
    rename(part, path)


def _questions(folder: Path) -> dict[str, str]:
    rows = (line.row for line in read_lines(folder / "topics.jsonl", Problems()))
    return {row["id"]: row["title"] for row in rows}


@contextmanager
def _alone(bank: Path) -> Iterator[None]:
    """Keep other evaluations from adding to the same bank meanwhile."""
    with writing(bank):
        bank.parent.mkdir(parents=True, exist_ok=True)
        file = bank.open("ab")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
