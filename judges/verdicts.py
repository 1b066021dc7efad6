"""A verdict (label, scores, quotes, reason), and the items of one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, overload

from ..records.judgements import Evidence, Provenance, all_quoted

_LABEL_ALONE = (None,) * 10
NO_PROBABILITIES = "labels without probabilities, although asked for"
WRONG_QUOTES = "quotes that are not in the judged text"
_OTHER_WAYS = {"probabilities", "score", "votes", "method", "confidence"}


class Verdict(NamedTuple):
    """What a judge says about one item.

    Attributes:
        label: the label that the judge gives, one of its scale.
        score: closeness of the item to the best label, in [0, 1]: the word overlap, or the expected
            position on the scale under the probabilities. None: the model gave only a label.
        probabilities: of each label; their sum is 1. None: the model gave only a label.
        evidence: quotes from the judged texts, each looked up there; None: not requested.
        rationale: the reason in a sentence; None: not requested.
        method: how the score was computed, if the judge has several methods.
        votes: of a jury: the label of each member; None for a member without a vote. None: no jury.
        confidence: of a cascade: the confidence in the label of the first stage.
        superseded: of a cascade: that label, if a later stage replaced it.
        parts: if code derives the label from parts: the label of each by number; None: not judged.
        outside_probability: the probability outside the labels, before the rest was scaled to sum
            1.

    >>> Verdict("partial", 0.5)
    Verdict('partial', score=0.5)
    """

    label: str
    score: float | None = None
    probabilities: dict[str, float] | None = None
    evidence: tuple[Evidence, ...] | None = None
    rationale: str | None = None
    method: str | None = None
    votes: dict[str, str | None] | None = None
    confidence: float | None = None
    superseded: str | None = None
    parts: dict[str, str | None] | None = None
    outside_probability: float | None = None

    @property
    def is_quoted(self) -> bool | None:
        """Return whether all evidence was found in the judged texts; None without evidence."""
        return all_quoted(self.evidence or ())

    def __repr__(self) -> str:
        """The label and the other known fields."""
        parts = [repr(str(self.label))]
        parts += [f"{k}={v!r}" for k, v in self._asdict().items() if k != "label" and v is not None]
        return f"Verdict({', '.join(parts)})"

    def as_row(self, label: str = "label") -> dict[str, Any]:
        """Return the known fields, ready for JSON.

        Args:
            label: the name of the first field, which holds the label.

        Returns: the fields that are not None, by name.

        >>> Verdict("partial", 0.5).as_row()
        {'label': 'partial', 'score': 0.5}
        """
        row: dict[str, Any] = {label: str(self.label)}
        if self[1:] == _LABEL_ALONE:
            return row
        values: dict[str, Any] = self._asdict()
        values["evidence"] = [each.as_row() for each in self.evidence or ()] or None
        return row | {name: values[name] for name in self._fields[1:] if values[name] is not None}


def lacks_probabilities(row: Mapping[str, Any]) -> bool:
    """Whether a row has only the label of one model that was not fitted.

    False for juries and cascades: it is not known which judge should have given probabilities.
    """
    return "label" in row and row.keys().isdisjoint(_OTHER_WAYS)


@lru_cache(maxsize=1000)
def label_alone(label: str) -> Verdict:
    """Return the verdict of a model that gives only a label."""
    return Verdict(label)


class Listed(Sequence[dict[str, Any]]):
    """Items that differ in one input, each created only when it is read; a call reads none.

    Args:
        shared: the inputs of all items; the value under `name` is ignored.
        name: the input in which they differ.
        texts: the value of that input for each item, in order.
    """

    __slots__ = ("name", "shared", "texts")

    def __init__(self, shared: dict[str, Any], name: str, texts: list[Any]) -> None:
        self.shared, self.name, self.texts = shared, name, texts

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, offset: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, offset: slice) -> Listed: ...
    def __getitem__(self, offset: int | slice) -> dict[str, Any] | Listed:
        if isinstance(offset, slice):
            return Listed(self.shared, self.name, self.texts[offset])
        return {**self.shared, self.name: self.texts[offset]}


def as_one(model: str, calls: Sequence[Provenance]) -> Provenance:
    """Return the provenance of several calls, or of none, as if this model had made one call."""
    return Provenance(
        model=model,
        finish_reason=calls[-1].finish_reason if calls else "",
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        attempts=sum(call.attempts for call in calls),
        cache_hit=all(call.cache_hit for call in calls),
    )
