"""One judgement of one item: its label, and how sure the judge was where it can say so."""

from __future__ import annotations

from typing import Any, NamedTuple

from .lexical.quotes import is_quoted

_LABEL_ALONE = (None,) * 6


class Verdict(NamedTuple):
    """What a judge says of one item.

    `score` in [0, 1]: how far the judge leans to the best label of its scale (word overlap, or the
    expected place on the scale under its probabilities). `probabilities`: of each label, their
    sum 1. None: the model gave no more than a label.

    `evidence`: the words that the judge quotes, "" if there are none to quote; `is_quoted`: whether
    they stand in the judged text, None without such words. None: the judge quotes nothing.
    `method`: how the score came about, of a judge that has several ways.
    `votes`: of a jury, the label of each member, None where a member gave none. None: no jury.
    """

    label: str
    score: float | None = None
    probabilities: dict[str, float] | None = None
    evidence: str | None = None
    is_quoted: bool | None = None
    method: str | None = None
    votes: dict[str, str | None] | None = None

    def quoting(self, evidence: str, text: str) -> Verdict:
        """The same with words quoted from a text, which are looked for there."""
        found = is_quoted(evidence, text) if evidence.strip() else None
        return self._replace(evidence=evidence, is_quoted=found)

    def as_row(self, label: str = "label") -> dict[str, Any]:
        """The known fields, ready for JSON; `label` is the name of the first."""
        row: dict[str, Any] = {label: str(self.label)}
        if self[1:] == _LABEL_ALONE:
            return row
        for name, value in zip(self._fields[1:], self[1:], strict=True):
            if value is not None:
                row[name] = value
        return row
