"""Labelled items with the texts that a judge reads: what fitting and measuring rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path

import numpy as np

from ..judges import ItemJudge
from ..judges.calls import answers
from ..programs.config.sections import DataConfig
from ..records.labels.cells import Cell
from ..records.reading.problems import InputError, Problems
from ..records.support import support_label
from .label_texts import labels_and_texts

FEWEST = 20  # labelled items, below which no figure means anything


@dataclass(frozen=True)
class Example:
    """One labelled item: its ids by name, the judge's inputs, and what people said."""

    ids: dict[str, str]
    inputs: dict[str, str]
    label: str
    rationale: str = ""

    @property
    def cell(self) -> Cell:
        """The values of its ids."""
        return tuple(self.ids.values())

    @property
    def topic_id(self) -> str:
        """Its topic, which labels to fit on always have."""
        return self.ids["topic_id"]


@dataclass(frozen=True)
class Examples:
    """All labelled items of a file, in the order of their cells.

    Of a judge that takes several items a call, answers are in the order of their cells, and the
    items of each as they stand in the file, so that calls are those of a run on that file.

    `scale`: the labels of people, worst to best. `judge_labels`: what each label of the judge is
    on that scale; None: there is no telling. `n_without_text` cells had a label and no text to
    judge; `n_unlabelled` no label.
    """

    items: tuple[Example, ...]
    scale: tuple[str, ...]
    key_names: tuple[str, ...]
    judge_labels: Mapping[str, str] | None
    n_without_text: int = 0
    n_unlabelled: int = 0

    @property
    def topics(self) -> tuple[str, ...]:
        """Their topics, sorted."""
        return tuple(sorted({item.topic_id for item in self.items}))


def read_examples(
    path: Path,
    judge: ItemJudge,
    problems: Problems,
    *,
    data: DataConfig | None = None,
    fields: Mapping[str, str] | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    scale: Mapping[str, str] | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> Examples:
    """Labels of any layout, each with the texts of its item.

    Args:
        path: label rows (JSONL, CSV) that carry the judge's inputs, or ids only; nugget
            assignments; support labels; relevance judgements or qrels.
        data: where texts are that the file lacks: topics, runs, passages, nuggets.
        fields: our name of a field -> its name in the file, for label rows.
        where: only rows whose fields have one of these values.
        scale: the labels of people, worst to best -> what each is called here; neighbours may
            share a name. None: those of the judge.
        limit: at most so many items, drawn at random within topics as evenly as they allow; of
            a judge that takes several items a call all those of an answer or none.

    Raises: InputError, before anything is fitted, for labels outside the scale, two labels for
        one cell, ids that the data do not know, fewer than 20 labelled items, one label only or
        one topic only; with file and line where there is one.
    """
    names = _names(judge, scale)
    labels, texts = labels_and_texts(
        path,
        judge,
        problems,
        data=data or DataConfig(),
        fields=fields or {},
        where=where or {},
        scale=tuple(names),
    )
    if judge.kind == "ratings" and scale is None and {*labels.cells.values()} <= {"0", "1"}:
        what = f"all labels are 0 or 1, and ratings go to {judge.scale[-1]}; say what they mean"
        raise InputError(f"{path}: {what}, such as --scale 0=0,1={judge.scale[-1]}")
    items, n_without = [], 0
    for cell, label in labels.cells.items():
        line = labels.lines.get(cell, 1)
        inputs = {name: texts.get(cell, {}).get(name, "") for name in judge.inputs}
        if label not in names:
            wanted = ", ".join(names)
            what = f"label {label!r} of cell {' '.join(cell)} is not on the scale, wanted {wanted}"
            problems.error(path, line, "label", what)
        elif lacking := [name for name, text in inputs.items() if not text.strip()]:
            n_without += 1
            what = f"cell {' '.join(cell)} has a label, but no text of its {lacking[0]}"
            problems.skip(path, line, "no_text", what)
        else:
            remark = labels.rationales.get(cell, "")
            ids = dict(zip(labels.key_names, cell, strict=True))
            inputs |= judge.optional_inputs(texts.get(cell, {}))
            items.append(Example(ids, inputs, names[label], remark))
    problems.raise_errors()
    steps = tuple(dict.fromkeys(names.values()))
    groups = [[items[i] for i in indices] for indices in answers(judge, items)]
    groups.sort(key=lambda group: min(item.cell for item in group))
    examples = Examples(
        tuple(chain.from_iterable(_limited(groups, limit, seed))),
        steps,
        labels.key_names,
        _judge_labels(judge.scale, names, steps),
        n_without,
        labels.n_unlabelled,
    )
    _check(path, examples)
    return examples


def of_topics(items: Sequence[Example], topics: Iterable[str]) -> list[Example]:
    """The items of these topics, in their order."""
    chosen = set(topics)
    return [item for item in items if item.topic_id in chosen]


def _names(judge: ItemJudge, scale: Mapping[str, str] | None) -> dict[str, str]:
    """What each label of people is called here.

    Raises: InputError for fewer than 2 names, and a name on both sides of another.
    """
    if scale is None:
        return {label: label for label in judge.scale}
    names = {theirs.strip().lower(): ours.strip().lower() for theirs, ours in scale.items()}
    steps = [name for name, _ in groupby(names.values())]
    if len(set(steps)) < 2:
        raise InputError(f"scale {_as_option(scale)}: wanted 2 labels or more, worst to best")
    if len(set(steps)) < len(steps):
        raise InputError(f"scale {_as_option(scale)}: a label stands on both sides of another")
    if judge.kind == "support":  # whose readers know 2 and full for one label
        called = {support_label(theirs): ours for theirs, ours in names.items()}
        names |= {label: ours for (label, is_one), ours in called.items() if is_one and label}
    return names


def _as_option(scale: Mapping[str, str]) -> str:
    return ",".join(f"{theirs}={ours}" for theirs, ours in scale.items())


def _judge_labels(
    judge_scale: Sequence[str], names: Mapping[str, str], steps: Sequence[str]
) -> dict[str, str] | None:
    """What each label of the judge is on the scale of people; None where there is no telling.

    A label that both have is itself, others are called as people's of that name if people have
    them all; else, on a scale of two, the judge's best label is the better one and the rest the
    other.
    """
    on_scale = {}
    for label in judge_scale:
        if label in steps:
            on_scale[label] = label
        elif set(judge_scale) <= names.keys():
            on_scale[label] = names[label]
        elif len(steps) == 2:
            on_scale[label] = steps[label == judge_scale[-1]]
        else:
            return None
    return on_scale


def _limited(groups: list[list[Example]], n: int | None, seed: int) -> list[list[Example]]:
    """Groups with n items at most, in their order."""
    if n is None or n >= sum(map(len, groups)):
        return groups
    rng = np.random.default_rng(seed)
    ranked: list[tuple[int, int]] = []
    by_topic: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        by_topic.setdefault(group[0].topic_id, []).append(i)
    for indices in by_topic.values():
        order = rng.permutation(len(indices))
        ranked += [(rank, indices[i]) for rank, i in enumerate(order)]
    chosen: set[int] = set()
    for _, i in sorted(ranked):
        if len(groups[i]) <= n:
            chosen.add(i)
            n -= len(groups[i])
    return [group for i, group in enumerate(groups) if i in chosen]


def _check(path: Path, examples: Examples) -> None:
    n, n_without = len(examples.items), examples.n_without_text
    if n < FEWEST:
        left = f", and {n_without} without a text (--passages, --runs, --topics?)"
        raise InputError(
            f"{path}: {n} labelled items{left if n_without else ''}, wanted {FEWEST} or more"
        )
    if len(labels := {item.label for item in examples.items}) < 2:
        raise InputError(f"{path}: all {n} labels are {labels.pop()!r}, wanted 2 or more of them")
    if len(examples.topics) < 2:
        what = f"all labels are of topic {examples.topics[0]!r}"
        raise InputError(f"{path}: {what}, wanted 2 or more topics, for fit and test share none")
