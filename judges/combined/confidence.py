"""Confidence in labels of a cascade's first stage, and the files that hold its thresholds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import AliasChoices, Field, JsonValue, model_validator

from ...records.reading.settings import read_json_file
from ...records.rows import Row
from ..fitted import IsotonicCurve

ConfidenceKind = Literal["agreement", "margin", "calibrated"]
KINDS: tuple[ConfidenceKind, ...] = get_args(ConfidenceKind)
Finite = Annotated[float, Field(allow_inf_nan=False)]
LEXICAL, LENGTH = "lexical score", "log length"
DIGITS = 9  # of a confidence


@dataclass(frozen=True)
class Scale:
    """k labels, worst to best, and the distance between two of them.

    `cut`: the lowest code of positive labels; then only labels on different sides differ. None:
    ordered labels differ by the distance of their positions, other labels by 1.
    """

    labels: tuple[str, ...]
    is_ordered: bool = True
    cut: int | None = None

    def position(self, code: int) -> float:
        """Position of a label on the scale, in [0, 1]."""
        return code / (len(self.labels) - 1)

    def apart(self, one: int, other: int) -> float:
        """Distance of two labels, in [0, 1]."""
        if self.cut is not None:
            return float((one >= self.cut) != (other >= self.cut))
        return (
            abs(self.position(one) - self.position(other))
            if self.is_ordered
            else float(one != other)
        )

    def is_same(self, one: int, other: int) -> bool:
        """Whether two labels count as equal: the same, or on the same side of the cut."""
        return one == other if self.cut is None else self.apart(one, other) == 0


@dataclass(frozen=True)
class Seen:
    """A judge's reply on an item: codes on its scale.

    Attributes:
        votes: of a jury, by member; None: no vote. chances: probability of each label, if known.
        lexical: score of its lexical baseline. length: characters of the judged text.
    """

    label: int
    score: float | None = None
    votes: Mapping[str, int | None] = field(default_factory=dict)
    chances: tuple[float, ...] | None = None
    lexical: float | None = None
    length: int | None = None


def agreement(seen: Seen, scale: Scale) -> float | None:
    """1 minus the mean distance of the votes from the label; None without 2 votes.

    With a cut, or without an order, this is the share of the votes that agree.

    >>> grades = Scale(("0", "1", "2", "3"))
    >>> agreement(Seen(1, votes={"a": 1, "b": 1, "c": 3, "d": None}), grades)
    0.7777777777777778
    """
    votes = [vote for vote in seen.votes.values() if vote is not None]
    if len(votes) < 2:
        return None
    return 1 - sum(scale.apart(vote, seen.label) for vote in votes) / len(votes)


def margin(seen: Seen, scale: Scale) -> float | None:
    """Probability of the most probable label minus the next; None without probabilities.

    With a cut: probability of the label's side minus the other side.
    """
    if seen.chances is None:
        return None
    if scale.cut is None:
        second, first = sorted(seen.chances)[-2:]
        return first - second
    same = sum(p for code, p in enumerate(seen.chances) if scale.is_same(code, seen.label))
    return 2 * same - 1


def features(seen: Seen, scale: Scale) -> dict[str, float]:
    """Features for calibrated confidence, by name; unknown ones are left out.

    The label (one feature each, since the middle of a scale may be less certain than its ends), the
    votes' spread and agreement, the score and its distance to the cut, the margin of
    probabilities, the lexical score and the log of the text's length.
    """
    values = {f"label {name}": 0.0 for name in scale.labels[1:]}
    if seen.label:
        values[f"label {scale.labels[seen.label]}"] = 1.0
    votes = [vote for vote in seen.votes.values() if vote is not None]
    if votes and scale.is_ordered:
        values["spread"] = scale.position(max(votes) - min(votes))
    if seen.score is not None and scale.cut is not None:
        values["from the cut"] = abs(seen.score - (scale.cut - 0.5) / (len(scale.labels) - 1))
    optional = {
        "agreement": agreement(seen, scale) if seen.votes else None,
        "score": seen.score if scale.is_ordered else None,
        "margin": margin(seen, scale),
        LEXICAL: seen.lexical,
        LENGTH: None if seen.length is None else math.log1p(seen.length),
    }
    return values | {name: value for name, value in optional.items() if value is not None}


class Chance(Row):
    """P(the label is right): a logistic curve of features, and its calibration.

    `curve` maps the logistic value to the share of right labels, on topics outside its fit. It
    rises strictly between its ends, so that different values stay different.
    """

    weights: dict[str, Finite]
    intercept: Finite
    curve: IsotonicCurve

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.curve.n_labels != 2:
            raise ValueError(f"curve: wanted the share of right labels, got {self.curve.n_labels}")
        return self

    def of(self, values: Mapping[str, float]) -> float | None:
        """In [0, 1]; None if a feature is unknown."""
        if not self.weights.keys() <= values.keys():
            return None
        total = self.intercept + math.fsum(w * values[name] for name, w in self.weights.items())
        raw = 1 / (1 + math.exp(-total)) if total > -700 else 0.0
        return self.curve.at_least(raw)[0]


def compute_confidence(
    kind: ConfidenceKind, seen: Seen, scale: Scale, chance: Chance | None
) -> float | None:
    """Compute the confidence in a label, in [0, 1], or [-1, 1] for a margin; None: unknown.

    It is rounded, so that the order in which votes are summed makes no difference.
    """
    if kind == "calibrated":
        confidence = None if chance is None else chance.of(features(seen, scale))
    else:
        confidence = agreement(seen, scale) if kind == "agreement" else margin(seen, scale)
    return None if confidence is None else round(confidence, DIGITS)


FORMAT: Literal["nuggetjudge-cascade-1"] = "nuggetjudge-cascade-1"


class Guarantee(Row):
    """In a share `with` of fits to such topics, a share `agree` of the kept labels is right."""

    agree: Annotated[float, Field(gt=0, lt=1)]
    confidence: Annotated[float, Field(gt=0.5, lt=1, alias="with")] = 0.9
    unit: Literal["topic", "item"] = "topic"


class CascadeFile(Row):
    """A fitted cascade. `judges.NAME.cascade.state` in a config loads it.

    Attributes:
        format: the name and version of the format.
        judge: the name of the judge.
        scale: the labels of the judge, worst to best.
        is_ordered: whether the labels have an order.
        cut: the lowest positive label; then only labels on different sides of it differ. "": none.
        members: the members whose votes it uses; (): the first stage is a single judge.
        method: how the votes of the first stage are combined; "": not recorded.
        confidence: how the confidence is computed: `agreement`, `margin` or `calibrated`.
        threshold: a label of the first stage is kept from this confidence on.
        guarantee, share: the target of the threshold, if there was one.
        chance: the model of `calibrated` confidence; None for the others.
        models: the models that answered, if known, by member; "" for a single judge.
        fitted_on: the topics whose labels were used.
        fitted: its history, for people only.

    Raises: ValueError (pydantic's ValidationError) for a cut that is not on the scale, or a
        `calibrated` confidence without its model.

    >>> state = CascadeFile(
    ...     judge="support", scale=["none", "full"], confidence="agreement", threshold=0.8
    ... )
    >>> state.labels.labels, state.needs_lexical
    (('none', 'full'), False)
    """

    format: Literal["nuggetjudge-cascade-1"] = FORMAT
    judge: str
    scale: tuple[str, ...] = Field(min_length=2)
    is_ordered: bool = True
    cut: str = ""
    members: tuple[str, ...] = ()
    method: str = Field(default="", validation_alias=AliasChoices("method", "how"))
    confidence: ConfidenceKind
    threshold: Finite
    guarantee: Guarantee | None = None
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    chance: Chance | None = None
    models: dict[str, str] = Field(default_factory=dict)
    fitted_on: tuple[str, ...] = ()
    fitted: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.chance is None) is (self.confidence == "calibrated"):
            raise ValueError("chance: wanted with confidence calibrated only")
        if self.cut and self.cut not in self.scale[1:]:
            raise ValueError(f"cut: wanted one of {', '.join(self.scale[1:])}, got {self.cut}")
        return self

    @property
    def labels(self) -> Scale:
        """Return the scale in the form that `compute_confidence` takes."""
        cut = self.scale.index(self.cut) if self.cut else None
        return Scale(self.scale, self.is_ordered, cut)

    @property
    def needs_lexical(self) -> bool:
        """Return whether it uses the score of the lexical baseline."""
        return self.chance is not None and LEXICAL in self.chance.weights

    @property
    def needs_length(self) -> bool:
        """Return whether it uses the length of the judged text."""
        return self.chance is not None and LENGTH in self.chance.weights

    def text(self) -> str:
        """Return the content of the file; equal files have equal content."""
        row = self.model_dump(mode="json", by_alias=True)
        return json.dumps(row, indent=2, ensure_ascii=False) + "\n"


def read_cascade_file(path: Path) -> CascadeFile:
    """Read a cascade file.

    Args:
        path: a JSON file that `judge cascade fit` wrote.

    Returns: the content of the file.
    Raises: InputError with file, line and what was wanted.

    >>> from tempfile import TemporaryDirectory
    >>> state = CascadeFile(
    ...     judge="support", scale=["none", "full"], confidence="agreement", threshold=0.8
    ... )
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "cascade.json")
    ...     _ = path.write_text(state.text(), encoding="utf-8")
    ...     read_cascade_file(path).threshold
    0.8
    """
    return read_json_file(path, CascadeFile, FORMAT, "a cascade file")
