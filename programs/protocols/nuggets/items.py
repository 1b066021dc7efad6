"""Nuggets of answers as judged items, each with its weight in the measures of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ....metrics.answer_scores import NUGGET_GAINS, NUGGET_WEIGHTS
from ....metrics.instruments.narratives import NARRATIVE_GAINS, narrative_weights
from ....records.nuggets import NUGGET_KIND, Assignment
from ..judged_items import Collected, JudgedItems

FAMILIES = (*NUGGET_WEIGHTS, "SN")  # of measures in which a nugget weighs the same
GAINS = NUGGET_GAINS | NARRATIVE_GAINS


def nugget_items(
    assigned: Iterable[Assignment],
    without_bank: Iterable[tuple[str, str]],
    counted_of: Callable[[Iterable[str]], Sequence[str]],
) -> JudgedItems:
    """The nuggets of all answers, one item for an answer whose nuggets could not be made.

    Args:
        without_bank: (run, topic) of those answers.
        counted_of: the topics that scores are means over, of those with answers.
    """
    collected = Collected(FAMILIES)
    defined: dict[str, set[str]] = {family: set() for family in FAMILIES}
    for row in assigned:
        collected.topics[row.topic_id] = None
        worth = {
            family: [weight[assigned.nugget.importance] for assigned in row.nuggets]
            for family, weight in NUGGET_WEIGHTS.items()
        }
        worth["SN"] = narrative_weights([each.nugget.sub_narrative for each in row.nuggets])
        totals = {family: sum(of_family) for family, of_family in worth.items()}
        for family, total in totals.items():
            if total:
                defined[family].add(row.topic_id)
        for i, each in enumerate(row.nuggets):
            weights = {f: w[i] / totals[f] for f, w in worth.items() if totals[f]}
            cell = (row.topic_id, row.run_id, each.nugget.id)
            collected.add(cell, row.run_id, each.label, each.probabilities, weights)
    for run_id, topic_id in without_bank:
        collected.topics[topic_id] = None
        collected.add((topic_id, run_id, ""), run_id, None, None, dict.fromkeys(FAMILIES, 1.0))
        for of_family in defined.values():
            of_family.add(topic_id)
    every = counted_of(collected.topics)
    # Left out: 0/0 for every answer, such as V where no nugget is vital.
    nothing = {family: collected.topics.keys() - of_family for family, of_family in defined.items()}
    counted = {f: [t for t in every if t not in nothing[f]] for f in defined}
    if collected.topics.keys() == nothing["SN"] or not _any_narrative(collected):
        counted["SN"] = []
    families = {name: name.removesuffix("_strict") for name in GAINS}
    families = {name: family for name, family in families.items() if counted[family]}
    return collected.items("nuggets", NUGGET_KIND.labels, NUGGET_KIND.key, families, GAINS, counted)


def _any_narrative(collected: Collected) -> bool:
    """Whether a judged nugget is of a sub-narrative; those that were not made are of none."""
    return any(
        w and cell[2] for w, cell in zip(collected.weights["SN"], collected.index, strict=True)
    )
