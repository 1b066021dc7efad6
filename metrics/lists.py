"""How far a list that a judge made agrees with the list that people made of the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .key_points import key_point_f1
from .value import UNDEFINED, Value

LIST_MEASURES = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class ListScores:
    """Precision, recall and F1 of one made list, each in [0, 1]."""

    precision: Value
    recall: Value
    f1: Value


def list_scores(made: Sequence[bool | None], wanted: Sequence[bool | None]) -> ListScores:
    """A made list against a wanted one, by which items of each the other states.

    Args:
        made: one per made item: whether the wanted list states it; None = not judged.
        wanted: one per wanted item: whether the made list states it; None = not judged. An empty
            list states nothing: give it a False for each.

    Returns: precision, the share of `made` that is stated, recall, that of `wanted`, both over the
        judged items, and their harmonic mean. The bounds take items that were not judged as not
        stated and as stated. Nothing made: precision is 0/0, recall and F1 are 0.
    Raises: ValueError where nothing is wanted.
    Source: the usual precision and recall, with "states" in the place of "equals".

    >>> scores = list_scores([True, False], [True, True, None])
    >>> scores.precision.value, scores.recall, round(scores.f1.value, 3)
    (0.5, Value(value=1.0, n=2, n_unjudged=1, low=0.6666666666666666, high=1.0), 0.667)
    """
    if not wanted:
        raise ValueError("the wanted list is empty, so that recall is undefined")
    precision, recall = _share(made), _share(wanted)
    return ListScores(precision, recall, key_point_f1(recall, precision))


def _share(stated: Sequence[bool | None]) -> Value:
    if not stated:
        return UNDEFINED
    judged = [is_stated for is_stated in stated if is_stated is not None]
    n, n_yes, n_unjudged = len(stated), sum(judged), stated.count(None)
    value = n_yes / len(judged) if judged else None
    return Value(value, len(judged), n_unjudged, n_yes / n, (n_yes + n_unjudged) / n)
