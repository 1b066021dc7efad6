"""Judge files: results of a fit as JSON without code; and corrections of labels."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, JsonValue, model_validator

from ..records.reading.problems import InputError
from ..records.reading.settings import parse_json_file, read_json_file
from ..records.rows import Row
from .verdicts import Verdict

Weight = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
FORMAT: Literal["nuggetjudge-judge-1"] = "nuggetjudge-judge-1"


class FittedPrompt(Row):
    """The instructions and worked examples of one predictor.

    Attributes:
        instructions: the text that replaces the instructions of the question.
        demos: the worked examples, each with its inputs and its reply by field; (): none.
    """

    instructions: str = Field(min_length=1)
    demos: tuple[dict[str, JsonValue], ...] = ()


class JudgeFile(Row):
    """A fitted judge. `judges.NAME.state` in a config loads it.

    Attributes:
        format: the name and version of the format.
        judge, version: the judge that it belongs to, and the version of that judge.
        scale: the labels, worst to best; () if the judge makes lists.
        model: the model whose scores it was fitted to.
        prompts: the instructions and worked examples of each question, by name.
        correction: the map from scores to the labels that people would give; None: none.
        logprobs: whether it was fitted to scores from log-probabilities.
        window: the number of items in a call when it was fitted.
        fitted_on: the topics whose labels were used; a later fit must not be tested on them.
        words: the weights of the lexical score, by word stem.
        fitted: for people only: method, labels, split, model, figures before and after.

    Raises: ValueError (pydantic's ValidationError) for a correction that does not fit the scale.

    >>> state = JudgeFile(
    ...     judge="support", version="3", scale=["none", "partial", "full"], model="lexical",
    ...     correction={"cuts": [0.3, 0.8]},
    ... )
    >>> state.check("support", "4", ("none", "partial", "full"), "lexical")
    Traceback (most recent call last):
    ValueError: it was fitted to version 3 of the support judge; this is version 4. Fit it again
    """

    format: Literal["nuggetjudge-judge-1"] = FORMAT
    judge: str
    version: str
    scale: tuple[str, ...] = ()
    model: str
    logprobs: bool = False
    window: int | None = None
    prompts: dict[str, FittedPrompt] = Field(default_factory=dict)
    correction: Correction | None = None
    fitted_on: tuple[str, ...] = ()
    fitted: dict[str, JsonValue] = Field(default_factory=dict)
    words: dict[str, Weight] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        correction = self.correction
        n_labels = None if correction is None else correction.n_labels
        if correction is not None and n_labels not in (None, len(correction.labels or self.scale)):
            labels = ", ".join(self.scale)
            raise ValueError(f"correction: it has {n_labels} labels, but the scale is {labels}")
        weights = correction.weights if correction is not None else None
        for name in weights or ():
            if name not in self.scale:
                raise ValueError(
                    f"correction: a weight for {name!r}, wanted one of {', '.join(self.scale)}"
                )
        return self

    def check(self, judge: str, version: str, scale: Sequence[str], model: str) -> None:
        """Raise an error unless the file belongs to this judge and this model.

        Args:
            judge, version: the name of the judge, and its version.
            scale: the labels of the judge, worst to best.
            model: the model that answers; it must be the same if the file has cut-offs or weights.

        Raises: ValueError with the difference.
        """
        if self.judge != judge:
            raise ValueError(f"it belongs to the {self.judge} judge, wanted {judge}")
        if self.version != version:
            what = f"it was fitted to version {self.version} of the {judge} judge"
            raise ValueError(f"{what}; this is version {version}. Fit it again")
        if self.scale != tuple(scale):
            what = f"its labels are {', '.join(self.scale)}"
            raise ValueError(f"{what}; the judge's labels are {', '.join(scale)}")
        if self.model != model and (self.correction is not None or self.words is not None):
            what = f"its cut-offs were fitted to scores of {self.model}"
            raise ValueError(f"{what}, which do not apply to {model}. Fit it again")

    def check_scores(self, logprobs: bool, window: int) -> None:
        """Raise an error if its cut-offs are for scores that this judge does not give.

        Args:
            logprobs: whether the judge's scores come from log-probabilities.
            window: the largest number of items in a call of the judge.

        Raises: ValueError with the difference.
        """
        if self.correction is not None and self.window not in (None, window):
            what = f"its cut-offs were fitted to calls of up to {self.window} items"
            raise ValueError(f"{what}; this judge's window is {window}. Fit it again")
        if self.correction is not None and self.logprobs != logprobs:
            how = ("with", "without") if self.logprobs else ("without", "with")
            what = f"its cut-offs were fitted {how[0]} log-probabilities; this model is used"
            raise ValueError(f"{what} {how[1]} them (logprobs). Fit it again")

    def text(self) -> str:
        """Return the content of the file; equal files have the same."""
        return json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


def is_saved_by_dspy(row: Mapping[str, Any]) -> bool:
    """Whether it is the state of a program that DSPy's `program.save("x.json")` wrote."""
    return any(isinstance(part, dict) and "signature" in part for part in row.values())


def read_judge_file(path: Path) -> JudgeFile:
    """Read a judge file.

    Args:
        path: the JSON file of a fit, such as the file that `judge calibrate` writes.

    Returns: the content of the file.
    Raises: InputError with file, line and what was wanted.

    >>> from tempfile import TemporaryDirectory
    >>> state = JudgeFile(judge="support", version="3", scale=["none", "full"], model="lexical")
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "fit.json")
    ...     _ = path.write_text(state.text(), encoding="utf-8")
    ...     read_judge_file(path) == state
    True
    """
    _, row = parse_json_file(path, "a judge file")
    if isinstance(row, dict) and row.get("format") != FORMAT and is_saved_by_dspy(row):
        what = "DSPy saved it, without the name of a judge"
        raise InputError(f"{path}: {what}; use it as judges.NAME.state={path}")
    return read_json_file(path, JudgeFile, FORMAT, "a judge file")


Finite = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
NEAREST = 0.001  # smallest distance to 0 and 1 before a score becomes log-odds


class OrdinalCurve(Row):
    """P(label >= j) = 1 / (1 + exp(thresholds[j-1] - slope * position)), for j = 1..k-1.

    For two labels this is Platt's sigmoid.
    """

    kind: Literal["ordinal"] = "ordinal"
    slope: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    thresholds: tuple[Finite, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        _ascending("thresholds", self.thresholds)
        return self

    @property
    def n_labels(self) -> int:
        """The number of labels, k."""
        return len(self.thresholds) + 1

    def at_least(self, position: float) -> list[float]:
        """Return P(label >= j) for j = 1..k-1, descending."""
        return [_logistic(self.slope * position - threshold) for threshold in self.thresholds]


class IsotonicCurve(Row):
    """P(label >= j), linear between knots, constant beyond the first and the last.

    `shares[j-1]` has its value at each of `places`; it never falls as the position rises.
    """

    kind: Literal["isotonic"] = "isotonic"
    places: tuple[Finite, ...] = Field(min_length=1)
    shares: tuple[tuple[Share, ...], ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        _ascending("places", self.places)
        for j, row in enumerate(self.shares, 1):
            if len(row) != len(self.places):
                raise ValueError(f"shares of label {j}: {len(row)} for {len(self.places)} places")
            _ascending(f"shares of label {j}", row)
        for column in zip(*self.shares, strict=True):
            _ascending("shares of a position, last label first", column[::-1])
        return self

    @property
    def n_labels(self) -> int:
        """The number of labels, k."""
        return len(self.shares) + 1

    def at_least(self, position: float) -> list[float]:
        """Return P(label >= j) for j = 1..k-1, descending."""
        right = bisect_right(self.places, position)
        if right in (0, len(self.places)):
            return [row[max(0, right - 1)] for row in self.shares]
        low, high = self.places[right - 1 : right + 1]
        along = (position - low) / (high - low)
        return [row[right - 1] + along * (row[right] - row[right - 1]) for row in self.shares]


class Correction(Row):
    """A map from a judge's score to the label that people would give.

    A score becomes a position (its log-odds if `log_odds`, else the score) and is moved by the
    shift of its topic; `cuts` and `curve` apply to that position.

    Attributes:
        cuts: k-1 ascending positions, one for each label but the lowest; an item gets a label from
            its cut on. None with a curve: the median label, the highest with P(label >= j) >= 0.5.
        curve: the probability of each label. None: unknown.
        log_odds: whether a score s in [0, 1] becomes ln(s / (1 - s)), which suits probabilities,
            because they crowd at 0 and 1; s is first moved 0.001 away from either.
        topics: topic id -> shift of its positions, above 0 if people are more lenient on this topic
            than on average. Other topics: 0.
        spread: the standard deviation of the shifts over topics, for new topics.
        labels: the k labels, worst to best, if they differ from the judge's.
        weights: for labels without an order. Each probability is multiplied by the weight of its
            label (default 1), and the label with the largest product is chosen.
    """

    cuts: tuple[Finite, ...] | None = Field(default=None, min_length=1)
    curve: Annotated[OrdinalCurve | IsotonicCurve, Field(discriminator="kind")] | None = None
    log_odds: bool = False
    topics: dict[str, Finite] = Field(default_factory=dict)
    spread: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    labels: tuple[str, ...] | None = Field(default=None, min_length=2)
    weights: dict[str, Weight] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.weights is not None and (self.cuts is not None or self.curve is not None):
            raise ValueError("weights: only for labels without an order; use no cuts or curve")
        _ascending("cuts", self.cuts or ())
        counts = {
            "cuts": len(self.cuts) + 1 if self.cuts is not None else None,
            "the curve": self.curve.n_labels if self.curve is not None else None,
            "labels": len(self.labels) if self.labels is not None else None,
        }
        n_labels = {name: n for name, n in counts.items() if n is not None}
        if len(set(n_labels.values())) > 1:
            counts_text = ", ".join(f"{name} for {n}" for name, n in n_labels.items())
            raise ValueError(f"wanted the same number of labels throughout, got {counts_text}")
        if self.topics and self.cuts is None and self.curve is None:
            raise ValueError("shifts of topics have no effect without cuts or a curve")
        return self

    @property
    def n_labels(self) -> int | None:
        """The number of labels, k; None without cuts, curve and labels."""
        if self.labels is not None:
            return len(self.labels)
        if self.cuts is not None:
            return len(self.cuts) + 1
        return self.curve.n_labels if self.curve is not None else None

    def position(self, score: float, topic_id: str | None = None) -> float:
        """Return the position of an item of that topic, for cuts and curve."""
        if self.log_odds:
            score = min(max(score, NEAREST), 1 - NEAREST)
            score = math.log(score / (1 - score))
        return score + (self.topics.get(topic_id, 0.0) if topic_id is not None else 0.0)

    def verdict(self, verdict: Verdict, scale: Sequence[str], topic_id: str | None) -> Verdict:
        """Return the verdict that people would give; without cuts and curve, the verdict itself.

        Args:
            verdict: the judge's verdict. Without a score, the position of its label on the scale is
                the score, from 0 (worst) to 1 (best).
            scale: the judge's labels, worst to best.
            topic_id: the topic of the item; None, or a topic without labels: no shift.

        Returns: the label; with a curve also the probabilities, and as score their mean position.
        Raises: ValueError if the correction is for another number of labels.
        """
        if self.weights is not None and verdict.probabilities is not None:
            return verdict._replace(label=_weigh(verdict, self.weights))
        if self.cuts is None and self.curve is None:
            return verdict
        labels = self.labels or tuple(scale)
        score = verdict.score
        if score is None:
            score = list(scale).index(verdict.label) / (len(scale) - 1)
        position = self.position(score, topic_id)
        if self.curve is None:
            assert self.cuts is not None
            return Verdict(_pick(labels, self.cuts, position), score)
        reached = self.curve.at_least(position)
        if len(reached) != len(labels) - 1:
            raise ValueError(f"a correction for {len(reached) + 1} labels; the scale has {labels}")
        if self.cuts is not None:
            label = _pick(labels, self.cuts, position)
        else:
            label = labels[sum(chance >= 0.5 for chance in reached)]
        chances = [high - low for high, low in pairwise([1.0, *reached, 0.0])]
        expected = min(1.0, math.fsum(reached) / len(reached))
        return Verdict(label, expected, dict(zip(labels, chances, strict=True)))


def _weigh(verdict: Verdict, weights: Mapping[str, float]) -> str:
    """The label with the largest weighted probability; on a tie the judge's own label."""
    shares = {n: p * weights.get(n, 1.0) for n, p in (verdict.probabilities or {}).items()}
    return max(shares, key=lambda name: (shares[name], name == verdict.label))


def _pick(labels: Sequence[str], cuts: Sequence[float], position: float) -> str:
    if len(cuts) != len(labels) - 1:
        raise ValueError(f"{len(cuts)} cuts, wanted {len(labels) - 1} for {list(labels)}")
    return labels[sum(position >= cut for cut in cuts)]


def _logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0


def _ascending(name: str, values: Sequence[float]) -> None:
    for i, (low, high) in enumerate(pairwise(values), 1):
        if high < low:
            raise ValueError(f"{name} must ascend, got {high} after {low} at {i}")
