"""One measure corrected with human labels: its scores by run, and their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from ..protocols.judged_items import Floats, JudgedItems, Measure


@dataclass(frozen=True)
class Figure:
    """A score or a difference, with an interval for each of two questions.

    `like_these`: how far another sample of such topics could give another score. `of_these`:
    where human labels of every item of these topics would come out. Bounds are None where
    labels are too few for that question.
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
    """One measure of one run: by the judge, corrected, and by the human labels alone.

    `corrected` and what follows it is None where `reason` says why. `lam`, `rho` and
    `label_saving` are of the measure, over all its runs.
    """

    run_id: str
    measure: str
    judged: float | None  # as `judge score` gives it, from labels
    expected: float | None  # the same from probabilities; None: there are none
    n_items: int
    n_unjudged: int
    n_labels: int
    n_topics: int
    n_labelled_topics: int
    lam: float | None
    rho: float | None
    label_saving: float | None
    reason: str | None = None
    corrected: Figure | None = None
    human_only: Figure | None = None
    plug_in: float | None = None
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
    """What `correct_scores` found; `plain` holds the score rows without correction."""

    plain: list[ScoreRow] = field(repr=False)
    scores: list[CorrectedScore]
    differences: list[CorrectedDifference]
    level: float
    half_width: float | None


Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """A measure's items that weigh in it, of all runs, with the labels by people.

    A stratum is a topic; where later citations count it is the first, or the later, citations
    of a topic; of a cascade what it kept, or what it left. Labels are taken to be a random draw
    of a stratum's items.
    """

    measure: Measure
    run_ids: list[str]  # (n_runs,) sorted
    runs: Ints  # (n,) index of the item's run in run_ids
    has_probabilities: bool
    judged: Floats  # (n,) by probabilities where there are some; nan = not judged
    judged_level: Ints  # (n,) index of the judge's label among the gains; -1 = not judged
    human_level: Ints  # (n,) of the human label; -1 = not labelled
    weights: Floats  # (n,)
    topics: Ints  # (n,) index of the topic in measure.topics
    strata: Ints  # (n,)

    @cached_property
    def levels(self) -> Floats:
        """(k,) the gains that labels have in this measure, ascending."""
        return np.unique(list(self.measure.gains.values()))

    @cached_property
    def is_labelled(self) -> NDArray[np.bool_]:
        """(n,) whether people labelled the item."""
        return self.human_level >= 0

    def sample(self, run_id: str) -> Sample:
        """The run's items. One that was not judged earns what the judged ones do on average.

        Where each of the run's strata holds 2 labels of its own, they stand for the run alone;
        else the labels of all runs' items say how large a share of a stratum was labelled.
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
        """The judge's errors over all runs, each label counted as the items that it stands for."""
        on = self.is_labelled & (self.judged_level >= 0)
        drawn = np.bincount(self.strata[on], minlength=int(self.strata.max(initial=0)) + 1)
        size = np.bincount(self.strata, minlength=len(drawn))
        share = (drawn / np.maximum(size, 1))[self.strata[on]]
        pairs = self.human_level[on], self.judged_level[on]
        return count_error_rates(*pairs, self.weights[on] / share, len(self.levels))

    def plug_in(self, run_id: str) -> float | None:
        """The run's score freed of those errors; None: the judge hardly tells labels apart."""
        of_run = self._of(run_id)
        on = of_run & (self.judged_level >= 0)
        if not on.any():
            return None
        counts = np.bincount(self.judged_level[on], self.weights[on], len(self.levels))
        shares = correct_shares(counts / counts.sum(), self.rates)
        return None if shares is None else float(shares @ self.levels * self.weights[of_run].sum())

    def n_unjudged(self, run_id: str) -> int:
        """Items of the run that the judge did not judge."""
        return int(np.isnan(self.judged[self._of(run_id)]).sum())

    def judged_score(self, run_id: str, *, expected: bool = False) -> float | None:
        """The run's score by the judge, as a mean over topics; None: nothing was judged.

        By its labels or, `expected`, by its probabilities. What was not judged is left out.
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
        """(n,) whether the item is of this run."""
        mask: NDArray[np.bool_] = self.runs == self.run_ids.index(run_id)
        return mask


def find_labelled(
    items: JudgedItems, human: Sequence[str | None], measure: Measure, *, in_parts: bool = False
) -> Labelled:
    """The items of a measure with their labels.

    Args:
        human: (n_items,), None = not labelled.
        in_parts: what was judged and what was not are strata of their own.
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


# In simulations the intervals cover what they promise from about 20 labels of a score on; with
# 10, those of these topics fell to 88%. Below 5 topics Student's t makes an interval useless.
MIN_LABELS = 20
MIN_TOPICS = 5
# Fewer labels than this on either side of a score's middle make an interval doubtful.
_FEW = 5


@dataclass(frozen=True)
class Correction:
    """What is wanted of every measure."""

    means: Mapping[tuple[str, str], float | None]  # (run, measure) -> score without correction
    against: str | None
    half_width: float | None
    level: float

    def measure(
        self, data: Labelled
    ) -> tuple[list[CorrectedScore], list[CorrectedDifference], float]:
        """The scores of all runs, their differences from one of them, and the gap of the draw.

        The gap, in standard errors: how much higher the judge scores labelled items than all.
        """
        runs = data.run_ids
        samples = {run: data.sample(run) for run in runs}
        reasons = {run: _reason(sample) for run, sample in samples.items()}
        usable = [run for run in runs if reasons[run] is None]
        tuned = reduce(add, (moments(samples[run]) for run in usable), Moments(0.0, 0.0, 0.0))
        estimates = {run: estimate(samples[run], tuned.lam) for run in usable}
        scores = [
            self._score(data, run, samples[run], tuned, reasons[run], estimates.get(run))
            for run in runs
        ]
        gap = sum(measure_gap(samples[run]) for run in usable)
        error = float(np.sqrt(tuned.judged))
        return scores, self._differences(data, estimates), gap / error if error > 0 else 0.0

    def _score(
        self,
        data: Labelled,
        run: str,
        sample: Sample,
        tuned: Moments,
        reason: str | None,
        estimated: Estimate | None,
    ) -> CorrectedScore:
        name = data.measure.name
        lam = tuned.lam
        common: dict[str, Any] = {
            "run_id": run,
            "measure": name,
            "judged": self._judged(data, run),
            "expected": data.judged_score(run, expected=True) if data.has_probabilities else None,
            "n_items": len(sample.judged),
            "n_unjudged": data.n_unjudged(run),
            "n_labels": sample.n_labels,
            "n_topics": int(np.count_nonzero(sample.is_counted)),
            "n_labelled_topics": len(set(sample.topics[sample.is_labelled])),
            "lam": lam,
            "rho": tuned.rho,
            "label_saving": tuned.label_saving(lam),
        }
        if estimated is None:
            return CorrectedScore(**common, reason=reason)
        corrected = self._figure(estimated, is_share=True)
        plug_in = data.plug_in(run)
        binary = len(data.levels) == 2
        return CorrectedScore(
            **common,
            corrected=corrected,
            human_only=self._figure(estimate(sample, 0.0), is_share=True),
            plug_in=plug_in,
            sensitivity=data.rates.sensitivity if binary else None,
            specificity=data.rates.specificity if binary else None,
            needed=self._needed(estimated),
            warnings=tuple(_warnings(sample, corrected, plug_in)),
        )

    def _judged(self, data: Labelled, run: str) -> float | None:
        key = (run, data.measure.name)
        return self.means[key] if key in self.means else data.judged_score(run)

    def _needed(self, estimated: Estimate) -> LabelsNeeded | None:
        """Labels for the wanted half-width, never fewer than a score is corrected with."""
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
        """With both intervals, cut to the range, which loses no interval its truth."""
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
        judged = {run: self._judged(data, run) for run in sorted(estimates)}
        # Chosen without the labels: the best corrected value is in part the luckiest draw.
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


def _reason(sample: Sample) -> str | None:
    """Why a run's score cannot be corrected."""
    on = sample.is_labelled
    n_topics = len(set(sample.topics[on]))
    drawn, pool = sample.stratum_labels, sample.stratum_items
    if sample.n_labels < MIN_LABELS and sample.n_labels < len(sample.judged):
        return f"{sample.n_labels} labels, wanted {MIN_LABELS} or more"
    if n_topics < 2:
        return f"labels of {n_topics} topic, wanted {MIN_TOPICS} or more"
    if n_topics < MIN_TOPICS and not ((drawn >= 2) | (drawn == pool)).all():
        return f"labels of {n_topics} topics, wanted {MIN_TOPICS} or more"
    if not on.all() and np.ptp(sample.human[on]) == 0:
        return f"by people, all {sample.n_labels} labelled items earn the same"
    return None


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
            warnings.append(f"{what}: this run's errors may be of another kind")
    return warnings


def _or_least(value: float | None) -> float:
    return -np.inf if value is None else value


def _cut(value: float, ends: Ends) -> float:
    return min(max(value, ends.low), ends.high)


def _cut_in(interval: Interval, ends: Ends) -> Interval:
    bounds = interval.value, interval.low, interval.high
    value, low, high = (None if bound is None else _cut(bound, ends) for bound in bounds)
    return Interval(value, low, high, interval.n_topics, interval.level)
