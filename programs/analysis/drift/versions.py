"""Two versions of a judgement: the items of both, and which of them are the same items."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ....records.labels.cells import Cell
from ....records.labels.labels import read_labels
from ....records.reading.problems import InputError, Problems
from ...protocols.judged_files import kinds_in
from ...protocols.judged_items import JudgedItems
from ...protocols.program import Texts
from ...scoring.human_labels import human_labels
from ...scoring.judged_items import read_items
from ..cell_texts import REMARKS, cell_texts


@dataclass(frozen=True)
class Version:
    """The judgements of one version of the judge.

    Attributes:
        human: (n_items,) labels by people; None: not labelled.
        index: the position of an item by its ids.
        runs: those whose scores are compared.
    """

    path: Path
    items: JudgedItems = field(repr=False)
    human: Sequence[str | None] = field(repr=False)
    index: Mapping[Cell, int] = field(repr=False)
    runs: frozenset[str]


@dataclass(frozen=True)
class Versions:
    """Both, and what they have in common.

    Attributes:
        shared: ids of items of both; `n_changed` more have the ids in common and other texts.
        is_same: whether the runs that are compared have all items in common, texts and all.
    """

    old: Version
    new: Version
    shared: list[Cell] = field(repr=False)
    n_changed: int
    is_same: bool


def read_versions(
    old: Path,
    new: Path,
    labels: Path | None,
    problems: Problems,
    where: Mapping[str, Sequence[str]],
    kind: str | None,
) -> Versions:
    """Read both sides, with labels of people where there are some.

    A run whose items are all the same in both cannot have moved: where each side has others, these
    are compared, those of one name with each other if there are some, else all. Runs that are in
    no comparison are listed; items of any run may be anchors.

    Raises: InputError if they hold judgements of different things, or on different scales.
    """
    if labels is None:
        chosen = kind or _kind_of(old, new)
        read = [read_items(path, chosen, problems) for path in (old, new)]
        human: list[Sequence[str | None]] = [[None] * len(items.cells) for items in read]
    else:
        joined = []
        for path in (old, new):
            own_problems = Problems()
            joined.append(human_labels(path, labels, own_problems, where, ignore_others=True))
            problems.take(own_problems)  # of the labels once
        read, human = [items for items, _ in joined], [labels_of for _, labels_of in joined]
    first, second = read
    if first.key_names != second.key_names or first.scale != second.scale:
        both = "; ".join(f"{', '.join(i.key_names)}: {', '.join(i.scale)}" for i in read)
        raise InputError(f"{old} and {new}: judgements of other things or labels ({both})")
    index = [{cell: i for i, cell in enumerate(items.cells)} for items in read]
    common = [cell for cell in first.cells if cell in index[1]]
    texts = [
        cell_texts(path, items.kind, common, problems)
        for path, items in zip((old, new), read, strict=True)
    ]
    pairs = {cell: _compared(texts[0][cell], texts[1][cell]) for cell in common}
    shared = [cell for cell in common if all(one == other for one, other in pairs[cell])]
    if n_unknown := sum(not texts_compared for texts_compared in pairs.values()):
        what = f"the texts of {n_unknown} items are not known on both sides: their ids are believed"
        problems.keep(new, 0, "no_texts", what)
    runs, is_same = _compared_runs(first, second, {cell for cell in shared if pairs[cell]})
    for path, items, of_side in zip((old, new), read, runs, strict=True):
        if others := sorted(set(items.runs) - of_side):
            what = f"{len(others)} runs are not compared, as {others[0]!r}"
            problems.keep(path, 0, "not_compared", f"{what}: the same in both, or in one alone")
    versions = [Version(*each) for each in zip((old, new), read, human, index, runs, strict=True)]
    return Versions(versions[0], versions[1], shared, len(common) - len(shared), is_same)


def _compared(one: Texts, other: Texts) -> list[tuple[str, str]]:
    """The texts that both know, but for remarks of the judge."""
    return [(one[name], other[name]) for name in one.keys() & other.keys() if name not in REMARKS]


def _compared_runs(
    old: JudgedItems, new: JudgedItems, same: Collection[Cell]
) -> tuple[tuple[frozenset[str], frozenset[str]], bool]:
    """The runs of each side that are compared, and whether all their items are the same."""
    runs = [frozenset(items.runs) for items in (old, new)]
    changed = [
        frozenset(r for cell, r in zip(items.cells, items.runs, strict=True) if cell not in same)
        for items in (old, new)
    ]
    equal = (runs[0] - changed[0]) & (runs[1] - changed[1])
    others = [of_side - equal for of_side in runs]
    if equal and not all(others):
        return (equal, equal), True
    both = others[0] & others[1]
    return (both or others[0], both or others[1]), False


def _kind_of(old: Path, new: Path) -> str:
    kinds = [
        kinds_in(path) if path.is_dir() else [read_labels(path, Problems()).kind]
        for path in (old, new)
    ]
    for kind in kinds[0]:
        if kind in kinds[1]:
            return kind
    raise InputError(f"{old} and {new}: no judgements of one kind")
