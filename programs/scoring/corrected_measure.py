"""Correct one measure with human labels: scores by run, and their differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chisquare

from ...metrics.inference import SHARE, SIGNED, Ends, Interval
from ...metrics.ppi import (
    ErrorRates,
    Estimate,
    LabelsNeeded,
    Moments,
    Sample,
    correct_shares,
    count_error_rates,
    difference,
    estimate,
    interval_like_these,
    interval_of_these,
    labels_needed,
    measure_gap,
    moments,
)
from ...records.rows import ScoreRow
from ..protocols.judged_items import ALL, Floats, JudgedItems, Measure


@dataclass(frozen=True)
class Figure:
    """A score or a difference with two intervals.

    `like_these`: for another sample of topics like these. `of_these`: for human labels of every
    item of these topics. Bounds are None if there are too few labels.
    """

    value: float
    like_these: Interval
    of_these: Interval

    def as_dict(self) -> dict[str, Any]:
        """Fields ready for JSON."""
        bounds = {
            name: None if interval.low is None else [interval.low, interval.high]
            for name, interval in (("like_these", self.like_these), ("of_these", self.of_these))
        }
        return {"value": self.value, **bounds}


@dataclass(frozen=True)
class CorrectedScore:
    """One measure of one run: by the judge, corrected, and by human labels alone.

    If a score has no correction, `reason` says why, and `corrected` and later fields are None.
    `lam`, `rho` and `label_saving` belong to the measure over all runs. `plug_in` is the judge's
    score, corrected with its error rates on the labels of all runs.
    """

    run_id: str
    measure: str
    judged: float | None  # from labels, as in `judge score`
    expected: float | None  # from probabilities; None: no probabilities
    n_items: int
    n_unjudged: int
    n_labels: int
    n_topics: int
    n_labelled_topics: int
    lam: float | None
    rho: float | None
    label_saving: float | None
    plug_in: float | None = None
    reason: str | None = None
    corrected: Figure | None = None
    human_only: Figure | None = None
    sensitivity: float | None = None
    specificity: float | None = None
    needed: LabelsNeeded | None = None
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Fields ready for JSON."""
        needed = None if self.needed is None else vars(self.needed)
        figures = {
            name: None if figure is None else figure.as_dict()
            for name, figure in (("corrected", self.corrected), ("human_only", self.human_only))
        }
        return {**vars(self), **figures, "needed": needed, "warnings": list(self.warnings)}


@dataclass(frozen=True)
class CorrectedDifference:
    """A run's corrected score minus another's, paired by topic."""

    run_id: str
    against: str
    measure: str
    judged: float | None
    corrected: Figure
    n_labels: int
    n_topics: int

    def as_dict(self) -> dict[str, Any]:
        """Fields ready for JSON."""
        return {**vars(self), "corrected": self.corrected.as_dict()}


@dataclass(frozen=True)
class CorrectedScores:
    """The result of `correct_scores`; `plain` has the score rows without correction.

    `pooled` has a row for each measure with too few labels for some run: the mean of all runs'
    scores, corrected with the labels of all runs.
    """

    plain: list[ScoreRow] = field(repr=False)
    scores: list[CorrectedScore]
    pooled: list[CorrectedScore]
    differences: list[CorrectedDifference]
    level: float
    half_width: float | None


@dataclass(frozen=True)
class Measured:
    """The scores of all runs in one measure, and their differences to one run.

    `pooled` is the mean score of the runs; None: only one run. `gap`, in standard errors, is how
    much higher the judge scores labelled items than all items; the standard error has
    `gap_degrees` of freedom.
    """

    scores: list[CorrectedScore]
    pooled: CorrectedScore | None
    differences: list[CorrectedDifference]
    gap: float
    gap_degrees: float


Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """The items of all runs with weight in a measure, and their human labels.

    A stratum is a topic; the first or the later citations of a topic, if later citations count;
    or, for a cascade, the kept or the other items of a topic. Labels are assumed to be a random
    sample of a stratum's items.
    """

    measure: Measure
    run_ids: list[str]  # (n_runs,) sorted
    runs: Ints  # (n,) index of the item's run in run_ids
    has_probabilities: bool
    judged: Floats  # (n,) from probabilities if available; nan = not judged
    judged_level: Ints  # (n,) index of the judge's label among the gains; -1 = not judged
    human_level: Ints  # (n,) index of the human label; -1 = not labelled
    weights: Floats  # (n,)
    topics: Ints  # (n,) index of the topic in measure.topics
    strata: Ints  # (n,)

    @cached_property
    def levels(self) -> Floats:
        """(k,) gains of labels in this measure, ascending."""
        return np.unique(list(self.measure.gains.values()))

    @cached_property
    def is_labelled(self) -> NDArray[np.bool_]:
        """(n,) whether people labelled the item."""
        return self.human_level >= 0

    def is_drawn_from_all(self) -> bool:
        """Whether the labels are spread over runs like a random sample of all items.

        Chi-squared test; a random sample fails it once in 1,000 times.
        """
        n_items = np.bincount(self.runs, minlength=len(self.run_ids))
        n_labels = np.bincount(self.runs[self.is_labelled], minlength=len(self.run_ids))
        expected = n_labels.sum() * n_items / n_items.sum()
        return not n_labels.any() or bool(chisquare(n_labels, expected).pvalue >= _BY_CHANCE)

    def pool(self) -> Labelled:
        """Return the items of all runs as one run, whose score is the mean of their scores."""
        weights = self.weights / len(self.run_ids)
        return replace(self, run_ids=[ALL], runs=np.zeros_like(self.runs), weights=weights)

    def sample(self, run_id: str) -> Sample:
        """Return the run's items; an unjudged item gets the mean gain of judged items.

        If each of the run's strata has 2 labels, only these labels are used. Otherwise the labels
        of all runs give the labelled share of a stratum.
        """
        of_run = self._of(run_id)
        is_judged = of_run & ~np.isnan(self.judged)
        mean = (
            np.average(self.judged[is_judged], weights=self.weights[is_judged])
            if is_judged.any()
            else 0.0
        )
        on = self.is_labelled
        n_strata = int(self.strata.max(initial=-1)) + 1
        for pool in (of_run, np.ones_like(of_run)):
            drawn = np.bincount(self.strata[pool & on], minlength=n_strata)[self.strata[of_run]]
            size = np.bincount(self.strata[pool], minlength=n_strata)[self.strata[of_run]]
            if ((drawn >= 2) | (drawn == size)).all():
                break
        human = np.where(on, self.levels[self.human_level], np.nan)
        return Sample(
            judged=np.where(is_judged, self.judged, mean)[of_run],
            human=human[of_run],
            weights=self.weights[of_run],
            topics=self.topics[of_run],
            n_topics=len(self.measure.topics),
            strata=self.strata[of_run],
            stratum_labels=drawn.astype(np.int64),
            stratum_items=size.astype(np.int64),
            by_own_topics=self.measure.by_own_topics,
        )

    @cached_property
    def rates(self) -> ErrorRates:
        """Return the judge's error rates over all runs; labels are weighted by their items."""
        on = self.is_labelled & (self.judged_level >= 0)
        drawn = np.bincount(self.strata[on], minlength=int(self.strata.max(initial=0)) + 1)
        size = np.bincount(self.strata, minlength=len(drawn))
        share = (drawn / np.maximum(size, 1))[self.strata[on]]
        pairs = self.human_level[on], self.judged_level[on]
        return count_error_rates(*pairs, self.weights[on] / share, len(self.levels))

    def plug_in(self, run_id: str) -> float | None:
        """Return the run's score without these errors; None if labels are not separable."""
        of_run = self._of(run_id)
        on = of_run & (self.judged_level >= 0)
        if not on.any():
            return None
        counts = np.bincount(self.judged_level[on], self.weights[on], len(self.levels))
        shares = correct_shares(counts / counts.sum(), self.rates)
        return None if shares is None else float(shares @ self.levels * self.weights[of_run].sum())

    def n_unjudged(self, run_id: str) -> int:
        """Return the number of the run's unjudged items."""
        return int(np.isnan(self.judged[self._of(run_id)]).sum())

    def score_by_judge(self, run_id: str, *, expected: bool = False) -> float | None:
        """Return the run's score by the judge, a mean over topics; None: nothing was judged.

        From its labels or, with `expected`, from its probabilities. Unjudged items are left out.
        """
        of_run = self._of(run_id)
        level, n_topics = self.judged_level[of_run], len(self.measure.topics)
        gains = self.judged[of_run] if expected else np.where(level < 0, np.nan, self.levels[level])
        at, on = self.topics[of_run], ~np.isnan(gains)
        if not on.any():
            return None
        counted = np.bincount(at, minlength=n_topics) > 0
        if not self.measure.by_own_topics:
            counted[:] = True
        weights = self.weights[of_run] * np.count_nonzero(counted)
        earned = np.bincount(at[on], weights[on] * gains[on], n_topics)
        missing = np.bincount(at[~on], weights[~on], n_topics)
        is_judged = counted & (missing < 1 - 1e-9)
        return float(
            (earned[is_judged] / (1 - missing[is_judged])).sum() / np.count_nonzero(is_judged)
        )

    def _of(self, run_id: str) -> NDArray[np.bool_]:
        """Return (n,) whether the item belongs to this run."""
        mask: NDArray[np.bool_] = self.runs == self.run_ids.index(run_id)
        return mask


def find_labelled(
    items: JudgedItems, human: Sequence[str | None], measure: Measure, *, in_parts: bool = False
) -> Labelled:
    """Return the items of a measure with their labels.

    Args:
        human: (n_items,), None = not labelled.
        in_parts: judged and unjudged items are separate strata.
    """
    on = measure.weights > 0
    levels = np.unique(list(measure.gains.values()))
    index = {label: int(np.searchsorted(levels, gain)) for label, gain in measure.gains.items()}
    topic_at = {topic: i for i, topic in enumerate(measure.topics)}
    topics = np.array([topic_at.get(topic, -1) for topic in items.topics], dtype=np.int64)

    def level(labels: Sequence[str | None]) -> Ints:
        level_indices = [-1 if label is None else index[label] for label in labels]
        return np.array(level_indices, dtype=np.int64)[on]

    is_open = np.array([in_parts and label is None for label in items.labels], np.bool_)
    run_ids, runs = np.unique(np.array(items.runs)[on], return_inverse=True)
    return Labelled(
        measure=measure,
        run_ids=[str(run) for run in run_ids],
        runs=runs,
        has_probabilities=any(chances is not None for chances in items.probabilities),
        judged=measure.get_gains(items)[on],
        judged_level=level(items.labels),
        human_level=level(human),
        weights=measure.weights[on],
        topics=topics[on],
        strata=4 * topics[on] + 2 * is_open[on] + ~items.is_first[on],
    )


# In simulations the intervals reach their level from about 20 labels of a score on; with 10, the
# coverage of these topics fell to 88%. Below 5 topics, Student's t makes an interval useless.
MIN_LABELS = 20
MIN_TOPICS = 5
_BY_CHANCE = 0.001
_NOT_OF_ALL = "the labels are not a random draw from the items of all runs"
# With fewer labels on either side of a score's middle, an interval is doubtful.
_FEW = 5
_ROUNDING = 1e-6  # a smaller standard error is 0


@dataclass(frozen=True)
class Correction:
    """The options of a correction, for every measure."""

    means: Mapping[tuple[str, str], float | None]  # (run, measure) -> score without correction
    against: str | None
    half_width: float | None
    level: float

    def measure(self, data: Labelled) -> Measured:
        """Correct the scores of all runs in one measure, and their mean."""
        runs = data.run_ids
        samples = {run: data.sample(run) for run in runs}
        reasons = {run: find_reason(sample) for run, sample in samples.items()}
        usable = [run for run in runs if reasons[run] is None]
        tuned = reduce(add, (moments(samples[run]) for run in usable), Moments(0.0, 0.0, 0.0))
        estimates = {run: estimate(samples[run], tuned.lam) for run in usable}
        scores = [
            self._score(data, run, samples[run], tuned, reasons[run], estimates.get(run))
            for run in runs
        ]
        differences = self._differences(data, estimates)
        of_all = self.measure(data.pool()) if len(runs) > 1 else None
        if of_all is not None and not usable:
            gap, degrees = of_all.gap, of_all.gap_degrees
        else:
            degrees = sum(count_degrees(samples[run]) for run in usable)
            gap = sum(measure_gap(samples[run]) for run in usable)
            error = float(np.sqrt(tuned.judged))
            gap /= error if error > _ROUNDING else np.inf
        if of_all is None:
            return Measured(scores, None, differences, gap, degrees)
        judged, plug_in = _mean(x.judged for x in scores), _mean(x.plug_in for x in scores)
        pooled = replace(of_all.scores[0], judged=judged, plug_in=plug_in)
        if not data.is_drawn_from_all():
            nothing: dict[str, Any] = {"corrected": None, "human_only": None, "needed": None}
            pooled = replace(pooled, reason=_NOT_OF_ALL, warnings=(), **nothing)
        return Measured(scores, pooled, differences, gap, degrees)

    def _score(
        self,
        data: Labelled,
        run: str,
        sample: Sample,
        tuned: Moments,
        reason: str | None,
        estimated: Estimate | None,
    ) -> CorrectedScore:
        name, lam = data.measure.name, tuned.lam
        plug_in = data.plug_in(run)
        common: dict[str, Any] = {
            "run_id": run,
            "measure": name,
            "judged": self._score_by_judge(data, run),
            "expected": data.score_by_judge(run, expected=True) if data.has_probabilities else None,
            "n_items": len(sample.judged),
            "n_unjudged": data.n_unjudged(run),
            "n_labels": sample.n_labels,
            "n_topics": int(np.count_nonzero(sample.is_counted)),
            "n_labelled_topics": len(set(sample.topics[sample.is_labelled])),
            "lam": lam,
            "rho": tuned.rho,
            "label_saving": tuned.label_saving(lam),
            "plug_in": plug_in,
        }
        if estimated is None:
            return CorrectedScore(**common, reason=reason)
        corrected = self._figure(estimated, is_share=True)
        binary = len(data.levels) == 2
        return CorrectedScore(
            **common,
            corrected=corrected,
            human_only=self._figure(estimate(sample, 0.0), is_share=True),
            sensitivity=data.rates.sensitivity if binary else None,
            specificity=data.rates.specificity if binary else None,
            needed=self._count_needed(estimated),
            warnings=tuple(_warnings(sample, corrected, plug_in)),
        )

    def _score_by_judge(self, data: Labelled, run: str) -> float | None:
        key = (run, data.measure.name)
        return self.means[key] if key in self.means else data.score_by_judge(run)

    def _count_needed(self, estimated: Estimate) -> LabelsNeeded | None:
        """Return the labels needed for the half-width, at least the minimum for a correction."""
        if self.half_width is None:
            return None
        needed = labels_needed(estimated, self.half_width, level=self.level)
        if needed is None:
            return None
        least, like = min(estimated.n_items, MIN_LABELS), needed.like_these
        return replace(
            needed,
            like_these=None if like is None else max(like, least),
            of_these=max(needed.of_these, least),
        )

    def _figure(self, estimated: Estimate, *, is_share: bool) -> Figure:
        """Return an estimate with both intervals, cut to the possible range."""
        like = interval_like_these(estimated, level=self.level)
        if estimated.n_labelled_topics < MIN_TOPICS:
            like = Interval(estimated.value, None, None, like.n_topics, self.level)
        of_these = interval_of_these(estimated, level=self.level)
        ends = SHARE if is_share else SIGNED
        return Figure(_cut(estimated.value, ends), _cut_in(like, ends), _cut_in(of_these, ends))

    def _differences(
        self, data: Labelled, estimates: Mapping[str, Estimate]
    ) -> list[CorrectedDifference]:
        if len(estimates) < 2 or (self.against is not None and self.against not in estimates):
            return []
        judged = {run: self._score_by_judge(data, run) for run in sorted(estimates)}
        # Chosen without the labels: the best corrected value is partly luck.
        best = self.against or max(judged, key=lambda run: _or_least(judged[run]))
        compared = []
        for run in sorted(judged.keys() - {best}):
            minus, one, other = (
                difference(estimates[run], estimates[best]),
                judged[run],
                judged[best],
            )
            compared.append(
                CorrectedDifference(
                    run_id=run,
                    against=best,
                    measure=data.measure.name,
                    judged=None if one is None or other is None else one - other,
                    corrected=self._figure(minus, is_share=False),
                    n_labels=minus.n_labels,
                    n_topics=len(minus.without_topic),
                )
            )
        return compared


def find_reason(sample: Sample) -> str | None:
    """Return why a run's score cannot be corrected."""
    on = sample.is_labelled
    n_topics = len(set(sample.topics[on]))
    drawn, pool = sample.stratum_labels, sample.stratum_items
    if sample.n_labels < MIN_LABELS and sample.n_labels < len(sample.judged):
        more = min(MIN_LABELS, len(sample.judged)) - sample.n_labels
        return (
            f"{sample.n_labels} labels, wanted {MIN_LABELS} or more: label {more} more of its items"
        )
    if n_topics < 2:
        return f"labels of {n_topics} topic, wanted {MIN_TOPICS} or more"
    if n_topics < MIN_TOPICS and not ((drawn >= 2) | (drawn == pool)).all():
        return f"labels of {n_topics} topics, wanted {MIN_TOPICS} or more"
    if not on.all() and np.ptp(sample.human[on]) == 0:
        return f"by human labels, all {sample.n_labels} labelled items have the same gain"
    return None


def count_degrees(sample: Sample) -> float:
    """Return the degrees of freedom of a run's gap, see `Measured`.

    Its standard error is that of `moments`. A stratum with labels of all items has no part in it;
    strata with one label are one stratum. If some stratum has no label, topics vary instead.
    """
    weighs = sample.weights > 0
    drawn, on = sample.stratum_labels, sample.is_labelled & weighs
    if not (drawn[weighs] > 0).all():
        return len(set(sample.topics[on])) - 1.0
    partly = drawn[on & (drawn < sample.stratum_items)]
    several = partly[partly >= 2]
    return float((1 - 1 / several).sum()) + max(len(partly) - len(several) - 1, 0)


def _warnings(sample: Sample, corrected: Figure, plug_in: float | None) -> list[str]:
    warnings = []
    gains = sample.human[sample.is_labelled]
    few = min(np.count_nonzero(gains > gains.min()), np.count_nonzero(gains < gains.max()))
    if few < _FEW and not sample.is_labelled.all():
        warnings.append(f"only {few} of {len(gains)} labels differ from the others")
    interval = corrected.of_these if corrected.like_these.low is None else corrected.like_these
    if plug_in is not None and interval.low is not None and interval.high is not None:
        half = (interval.high - interval.low) / 2
        if abs(plug_in - corrected.value) > half + 1e-9:
            what = f"the error rates of all runs together give {plug_in:.3f}"
            warnings.append(f"{what}: this run may have other error rates")
    return warnings


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that exist; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _or_least(value: float | None) -> float:
    return -np.inf if value is None else value


def _cut(value: float, ends: Ends) -> float:
    return min(max(value, ends.low), ends.high)


def _cut_in(interval: Interval, ends: Ends) -> Interval:
    bounds = interval.value, interval.low, interval.high
    value, low, high = (None if bound is None else _cut(bound, ends) for bound in bounds)
    return Interval(value, low, high, interval.n_topics, interval.level)
