"""Which faults are planted where: a sample of each, over all topics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .....judges import ItemJudge
from .....judges.calls import calls
from .....records.labels.items import ItemRow
from ..items import in_turns, topic_of
from .answers import Answers
from .cases import FAULTS, Case, Form, SourceLabels
from .citations import Citations
from .values import Vocabulary


def plant(
    judge: ItemJudge,
    form: Form,
    items: Sequence[ItemRow],
    labels: SourceLabels,
    limit: int,
    seed: int,
) -> list[Case]:
    """At most `limit` cases of each fault that the form plants, fault by fault.

    Topics take turns, each giving one in random order; all faults take the same order, so that
    they fall on the same answers as far as they can, and share what these cost unchanged. No
    changed text is asked about twice.

    Args:
        items: as they were judged, so that those of a call are those of the run's.
    """
    texts = [item.inputs[name] for item in items for name in (form.target, form.source)]
    vocabulary = Vocabulary.of(texts)
    planter = (
        Answers(form, labels, vocabulary)
        if form.wrote == "source"
        else Citations(form, labels, vocabulary, items)
    )
    groups = calls(judge, items)
    order = in_turns([topic_of(items[group[0]]) for group in groups], seed)
    cases: list[Case] = []
    for number, fault in enumerate(FAULTS):
        keys: set[tuple[str, ...]] = set()
        for at in order if fault in form.plants else ():
            if len(keys) == limit:
                break
            group = [items[index] for index in groups[at]]
            rng = np.random.default_rng([seed, number, at])
            case = planter.plant(fault, group, rng)
            if case is not None and (key := _key(case)) not in keys:
                keys.add(key)
                cases.append(case)
    return cases


def _key(case: Case) -> tuple[str, ...]:
    """All that the judge is given."""
    inputs = (item.inputs | {case.changed: case.text} for item in case.items)
    return tuple(text for of_item in inputs for text in of_item.values())
