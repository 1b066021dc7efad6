"""Samples as items of one judge: each has the texts that the judge reads, and gets one label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from ...judges.table import kind_of
from ...records.judgements import NOT_MADE
from ...records.reading.problems import InputError
from ...records.writing import NewFile, own_folder, rename
from .cells import check_writable, is_missing, listed, plain
from .contexts import CONTEXTS, contexts_of
from .fields import ANSWER, QUESTION, Sample, having, topic_of
from .reading import Samples, read_rows

# What a judge's input may be called in a sample, beside its own name.
_GROUPS = (QUESTION, ANSWER, (*CONTEXTS, "passage"))


def write_items(
    systems: Mapping[str, Samples], judge: str, fields: Mapping[str, str], folder: Path
) -> Path:
    """Write each sample as an item with the inputs of a judge.

    Args:
        judge: name of one that labels items, or a YAML file.
        fields: names that samples have for inputs, by the input.

    Returns: the file.
    Raises: InputError for an unknown judge, and for a sample that lacks an input, by its location.
    """
    inputs, optional = _inputs(judge)
    own_folder(folder)
    path, part = folder / "items.jsonl", folder / "items.jsonl.part"
    with ExitStack() as stack:
        file = stack.enter_context(NewFile(part))
        seen: dict[tuple[str, str], str] = {}
        for system, samples in systems.items():
            n = len(seen)
            for at, sample in read_rows(samples, "samples"):
                row = _row(sample, inputs, optional, fields, at, judge)
                check_writable(row, at)
                key = (system, row["topic_id"])
                if (first := seen.setdefault(key, at)) != at:
                    what = f"{system} has topic {key[1]!r} in {first} too"
                    raise InputError(f"{at}: {what}; give samples ids of their own")
                file.write(orjson.dumps({"run_id": system, **row}) + b"\n")
            if len(seen) == n:
                of = f" of {system}" if len(systems) > 1 else ""
                raise InputError(f"samples: there is none{of}, wanted one or more")
    rename(part, path)
    return path


def _inputs(judge: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the judge reads, and what it is shown besides where it is there."""
    kind = kind_of(judge)
    if kind is not None and kind.labels_items:
        definition = kind.load()
        return tuple(definition.inputs), tuple(definition.optional)
    from ...judges import read_own_judge  # with which DSPy comes

    return tuple(read_own_judge(Path(judge)).inputs), ()


def _row(
    sample: Mapping[str, Any] | Sample,
    inputs: tuple[str, ...],
    optional: tuple[str, ...],
    fields: Mapping[str, str],
    at: str,
    judge: str,
) -> dict[str, Any]:
    there = dict(_of_sample(sample)) if isinstance(sample, Sample) else dict(sample)
    there = {str(name): plain(v) for name, v in there.items() if not is_missing(v)}
    if isinstance(sample, Sample):
        topic = sample.topic_id
    else:
        question = next((there[n] for n in QUESTION if isinstance(there.get(n), str)), None)
        number = "s" + "".join(filter(str.isdigit, at))
        topic = (
            topic_of(there, question, at) if question else topic_of({"id": number} | there, "", at)
        )
    row: dict[str, Any] = {"topic_id": topic}
    if there.get(NOT_MADE):
        return {**row, NOT_MADE: there[NOT_MADE]}
    for name in (*inputs, *optional):
        value = _value(there, name, fields, at)
        if value is not None:
            row[name] = value
        elif name in inputs:
            wanted = dict.fromkeys((fields.get(name, name), *_others(name)))
            what = f"no {', '.join(wanted)}, which the judge {Path(judge).stem} reads as {name!r}"
            raise InputError(f"{at}: {what}; {having(there, wanted)}")
    return row


def _value(there: Mapping[str, Any], name: str, fields: Mapping[str, str], at: str) -> Any:
    """The text, number or list of texts for an input; None: there is none."""
    for field in (fields[name],) if name in fields else (name, *_others(name)):
        if field not in there:
            continue
        if field in CONTEXTS:
            return [context.text for context in contexts_of(there[field], at)]
        value = there[field]
        return value if isinstance(value, str | int | float) else list(map(str, listed(value)))
    return None


def _others(name: str) -> Iterator[str]:
    return (other for group in _GROUPS if name in group for other in group if other != name)


def _of_sample(sample: Sample) -> Iterator[tuple[str, Any]]:
    yield QUESTION[0], sample.question
    if sample.not_made:
        yield NOT_MADE, sample.not_made
    else:
        yield ANSWER[0], sample.answer or " ".join(s.text for s in sample.sentences)
    if sample.contexts:
        yield CONTEXTS[0], list(sample.contexts)
    if sample.reference:
        yield "reference", sample.reference
