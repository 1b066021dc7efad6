"""Samples from whatever holds them: lists, generators, frames; of one system or several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ...records.reading.fields import shorten
from ...records.reading.problems import InputError
from .cells import fields_of
from .fields import ANSWER, QUESTION, Sample, sample_of

Samples: TypeAlias = Any  # an iterable of mappings, objects or Samples, or a frame of them
_FRAMES = "a list, a generator, a frame or a dataset"


def by_system(samples: Samples, name: str) -> dict[str, Samples]:
    """The samples of each system; `name` is that of the only one.

    Raises: InputError for one sample, or the columns of several, where samples are wanted.
    """
    if not isinstance(samples, Mapping):
        return {name: samples}
    if taken := [key for key in (*QUESTION, *ANSWER) if key in samples]:
        what = f"is a mapping with {taken[0]!r}; wanted {_FRAMES} of such"
        raise InputError(f"samples: {what}, or these by the name of each system")
    if not samples:
        raise InputError(f"samples: is empty, wanted {_FRAMES} of samples")
    return {str(system): of_system for system, of_system in samples.items()}


def read_samples(samples: Samples, name: str = "samples") -> Iterator[Sample]:
    """Each sample, one in memory at a time. Raises: InputError naming one that is none."""
    for at, row in read_rows(samples, name):
        yield replace(row, location=at) if isinstance(row, Sample) else sample_of(row, at)


def read_rows(samples: Samples, name: str) -> Iterator[tuple[str, Mapping[str, Any] | Sample]]:
    """Each row by what messages call it, with its fields.

    Args:
        name: of all of them, as `samples`.
    """
    for index, row in enumerate(_rows(samples, name)):
        at = f"{name}[{index}]"
        if isinstance(row, Sample):
            yield at, row
        elif (fields := fields_of(row)) is not None:
            yield at, fields
        else:
            what = f"wanted a mapping with {QUESTION[0]}, {ANSWER[0]} and so on"
            raise InputError(f"{at}: is {shorten(repr(row), 60)}, {what}")


def questions_in(questions: Samples) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Questions to answer: texts, or rows with a question and references for its answers."""
    texts = ({QUESTION[0]: q} if isinstance(q, str) else q for q in _rows(questions, "samples"))
    for at, row in read_rows(texts, "samples"):
        if isinstance(row, Sample):
            raise InputError(f"{at}: is a Sample, which has an answer; wanted a question")
        yield at, row


def _rows(samples: Samples, name: str) -> Iterable[Any]:
    """The rows of a frame as mappings; what else can be iterated as it is."""
    if hasattr(samples, "iter_rows"):  # polars
        named_rows: Iterable[Any] = samples.iter_rows(named=True)
        return named_rows
    if hasattr(samples, "itertuples"):  # pandas
        columns = [str(column) for column in samples.columns]
        rows = samples.itertuples(index=False, name=None)
        return (dict(zip(columns, row, strict=True)) for row in rows)
    if isinstance(samples, str | bytes) or not isinstance(samples, Iterable):
        raise InputError(f"{name}: is {shorten(repr(samples), 60)}, wanted {_FRAMES} of samples")
    return samples
