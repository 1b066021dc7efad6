"""Find the columns of a table: labels of people and the judge, topics, annotators, items."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...records.columns import guess_columns
from ...records.reading.problems import InputError, cell, did_you_mean
from ...records.tables import Table, as_number, is_missing

NONE = "none"  # as a topic: rows are independent
_CLUSTERS = ("topic_id", "run_id")
_IDS = (*_CLUSTERS, "sentence_id", "passage_id", "nugget_id", "question_id", "key_point_id")
_WANTED = ("judge", "annotator", *_IDS, "item_id", "label")
_MAX_CHARS, _MAX_LABELS = 40, 20  # characters of a label, and different labels
_SHOWN = 12


@dataclass(frozen=True)
class Columns:
    """The names of the columns that `judge check` uses; "" or () if a table lacks one.

    Attributes:
        human: labels of people, one column or one for each annotator.
        judge: the judge's labels or scores.
        annotator: who labelled a row; "": each item is one row.
        topic: rows with the same value are not independent; "": all rows are independent.
        item, repeat: the ids of an item, and the number of a repeated judgement.
        is_guessed: whether some of the names were guessed.
    """

    human: tuple[str, ...] = ()
    judge: str = ""
    annotator: str = ""
    topic: str = ""
    item: tuple[str, ...] = ()
    repeat: str = ""
    is_guessed: bool = False

    def list_options(self) -> list[str]:
        """The options that name these columns."""
        words = [word for name in self.human for word in ("--human", name)]
        words += ["--judge", self.judge]
        for option in ("annotator", "topic", "repeat"):
            if name := getattr(self, option):
                words += [f"--{option}", name]
        return words + [word for name in self.item for word in ("--item", name)]


def flatten_table(table: Table) -> Table:
    """Turn each field of an object into a column, such as `votes.gpt-4o`."""
    if not any(isinstance(value, Mapping) for line in table.rows for value in line.row.values()):
        return table
    rows = [replace(line, row=dict(_flatten(line.row))) for line in table.rows]
    columns = tuple(dict.fromkeys(name for line in rows for name in line.row))
    return Table(table.path, columns, rows, table.notes)


def _flatten(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", one) for inner, one in value.items())
        else:
            yield name, value


def choose_columns(
    table: Table, given: Columns, missing: Collection[str], judged: Sequence[str] = ()
) -> Columns:
    """Take the columns that were named, and guess the others.

    Args:
        judged: the columns that a known tool filled with a judge's scores; (): unknown.

    Raises: InputError for a missing column, or if several columns fit.
    """
    named = {
        "label": given.human,
        "judge": (given.judge,),
        "annotator": (given.annotator,),
        "topic_id": (given.topic,) if given.topic != NONE else (),
    }
    _check_there(table, [*(n for of in named.values() for n in of), *given.item, given.repeat])
    if judged and not given.judge and not (judged := [n for n in judged if n not in given.human]):
        raise InputError(f"{table.path}: has no scores of a judge besides {_list(given.human)}")
    if judged and not given.judge:
        named["judge"] = (_only("judge", judged, table),)
    fixed = {field: ",".join(of) for field, of in named.items() if any(of)}
    hidden = {given.repeat, *given.item} - {""}
    seen = replace(table, columns=tuple(name for name in table.columns if name not in hidden))
    guess = guess_columns(seen, _WANTED, fixed).columns
    values = {
        name: [v for line in table.rows if not is_missing(v := line.row.get(name), missing)]
        for name in table.columns
    }
    found = _choose_labels(table, given, guess, values)
    topic = given.topic
    if not topic:
        names = [name for field in _CLUSTERS for name in guess.get(field, ())]
        topic = next((n for n in names if 1 < len({*map(str, values[n])}) < len(values[n])), "")
    item = given.item
    if (found.annotator or given.repeat) and not item:
        item = _guess_item(table, found, guess)
    whole = replace(found, topic=topic, item=item, repeat=given.repeat)
    is_guessed = whole != given
    return replace(whole, topic="" if topic == NONE else topic, is_guessed=is_guessed)


def _check_there(table: Table, names: Sequence[str]) -> None:
    for name in names:
        if name and name not in table.columns:
            what = f"has no column {name!r}{did_you_mean(name, table.columns)}"
            raise InputError(f"{table.path}: {what}; it has {_list(table.columns)}")


def _choose_labels(
    table: Table,
    given: Columns,
    guess: Mapping[str, tuple[str, ...]],
    values: Mapping[str, Sequence[Any]],
) -> Columns:
    """The columns with labels of people, with the judge's labels, and with annotators."""
    human, judge = guess.get("label", ()), next(iter(guess.get("judge", ())), "")
    annotator = next(iter(guess.get("annotator", ())), "")
    ids = {name for field in (*_IDS, "item_id") for name in guess.get(field, ())}
    there = [name for name in table.columns if name not in ids]
    labels = [name for name in there if _has_labels(values[name])]
    if annotator and not given.annotator:
        said = {str(value) for value in values.get(judge, ())}
        has_labels = annotator in labels and {str(v) for v in values[annotator]} <= said
        if has_labels:  # a column of labels with a person's name
            human = human or (annotator,)
        if has_labels or len(human) > 1:
            annotator = ""
    if not judge:
        judge = _only("judge", [n for n in labels if n not in (*human, annotator)], table)
    if not human:
        human = (_only("human", [n for n in labels if n not in (judge, annotator)], table),)
    return Columns(human, judge, annotator)


def _guess_item(
    table: Table, found: Columns, guess: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """The columns that identify an item: its id and topic, or else all ids of its parts."""
    if "item_id" in guess:
        return (*guess["item_id"], *guess.get("topic_id", ()))
    if ids := tuple(name for field in _IDS for name in guess.get(field, ())):
        return ids
    used = (*found.human, found.judge, found.annotator, found.repeat)
    raise InputError(
        f"{table.path}: which column is the id of an item? It joins the rows of several annotators "
        f"or repeats: --item COLUMN, one of {_list([n for n in table.columns if n not in used])}"
    )


def _has_labels(values: Sequence[Any]) -> bool:
    """Whether values can be labels or scores: few short words, or numbers."""
    if not values or any(isinstance(value, list) for value in values):
        return False
    if all(as_number(value) is not None for value in values):
        return True
    texts = [str(value) for value in values]
    return max(map(len, texts)) <= _MAX_CHARS and len(set(texts)) <= min(
        _MAX_LABELS, max(2, len(texts) // 2)
    )


def _only(role: str, names: Sequence[str], table: Table) -> str:
    """The only column that fits. Raises: InputError if several fit, or none."""
    if len(names) == 1:
        return names[0]
    whose = {"human": "labels of people", "judge": "the judge's labels or scores"}[role]
    hint = "; for a results folder: --results DIR" if role == "judge" else ""
    if not names:
        what = f"no column has {whose}; name it with --{role}, one of {_list(table.columns)}{hint}"
        raise InputError(f"{table.path}: {what}")
    what = f"which column has {whose}? --{role} COLUMN: {_list(names)}{hint}"
    raise InputError(f"{table.path}: {what}")


def _list(names: Sequence[str]) -> str:
    named = ", ".join(cell(name, 30) for name in names[:_SHOWN])
    return named + f" and {len(names) - _SHOWN} more" * (len(names) > _SHOWN)


def write_command(path: object, columns: Columns, others: Sequence[str] = ()) -> str:
    """Write the command that names these columns.

    >>> write_command("a b.csv", Columns(("human",), "judge"))
    "judge check 'a b.csv' --human human --judge judge"
    """
    words = ["judge", "check", str(path), *columns.list_options(), *others]
    return " ".join(shlex.quote(cell(word)) for word in words)
