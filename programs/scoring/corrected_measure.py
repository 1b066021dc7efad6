"""One measure's scores, corrected: those of its runs, and how these differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ...metrics.inference import SHARE, SIGNED, Ends, Interval
from ...metrics.ppi import (
    Estimate,
    LabelsNeeded,
    Moments,
    Sample,
    difference,
    estimate,
    interval_like_these,
    interval_of_these,
    judged_gap,
    labels_needed,
    moments,
)
from .corrected_rows import CorrectedDifference, CorrectedScore, Figure
from .corrected_samples import Labelled

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
        gap = sum(judged_gap(samples[run]) for run in usable)
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
