"""A verdict (label, scores, quotes, reason), and the items of one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, overload

from ..records.judgements import Evidence, all_quoted

_LABEL_ALONE = (None,) * 10
NO_PROBABILITIES = "labels without probabilities, although asked for"
WRONG_QUOTES = "quotes that do not stand in the judged text"
_OTHER_WAYS = {"probabilities", "score", "votes", "method", "confidence"}


class Verdict(NamedTuple):
    """What a judge says of one item.

    `score` in [0, 1]: how far the judge leans to the best label of its scale (word overlap, or the
    expected position on the scale under its probabilities). `probabilities`: of each label, their
    sum 1. None: the model gave no more than a label.

    `evidence`: what the judge quotes from the judged texts, each looked up there; None: it was not
    asked to. `rationale`: its reason in a sentence; None: it was not asked for one.
    `method`: how the score came about, of a judge that has several ways.
    `votes`: of a jury, the label of each member, None where a member gave none. None: no jury.
    `confidence`: of a cascade, how sure the label of its first stage was. `superseded`: that label,
    where a later stage gave another judgement.
    `parts`: of a label that code made of labels of parts, those by number, None: not judged.
    `outside_probability`: what fell on no label before the probabilities were made to sum to 1.
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
        """Whether all of the evidence stands in the judged texts; None where there is none."""
        return all_quoted(self.evidence or ())

    def __repr__(self) -> str:
        """The label, and what else is known."""
        parts = [repr(str(self.label))]
        parts += [f"{k}={v!r}" for k, v in self._asdict().items() if k != "label" and v is not None]
        return f"Verdict({', '.join(parts)})"

    def as_row(self, label: str = "label") -> dict[str, Any]:
        """The known fields, ready for JSON; `label` is the name of the first."""
        row: dict[str, Any] = {label: str(self.label)}
        if self[1:] == _LABEL_ALONE:
            return row
        values: dict[str, Any] = self._asdict()
        values["evidence"] = [each.as_row() for each in self.evidence or ()] or None
        return row | {name: values[name] for name in self._fields[1:] if values[name] is not None}


def lacks_probabilities(row: Mapping[str, Any]) -> bool:
    """Whether a verdict, as a row, has nothing but a label of one model that was not fitted.

    Nobody knows which member of a jury or stage of a cascade should have given probabilities.
    """
    return "label" in row and row.keys().isdisjoint(_OTHER_WAYS)


@lru_cache(maxsize=1000)
def label_alone(label: str) -> Verdict:
    """The verdict of a model that gives no more than a label."""
    return Verdict(label)


class Listed(Sequence[dict[str, Any]]):
    """Items that differ in one input: each is made when it is looked at, for a call needs none.

    Args:
        shared: the inputs of all; what it holds under `name` does not matter.
        name: the input in which they differ.
        texts: what each has there, in their order.
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
