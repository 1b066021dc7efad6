"""The samples that corrected scores rest on: by run, its items, their gains and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...metrics.ppi import ErrorRates, Sample, error_rates, true_shares
from ..protocols.judged_items import Floats, JudgedItems, Measure

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
        return error_rates(*pairs, self.weights[on] / share, len(self.levels))

    def plug_in(self, run_id: str) -> float | None:
        """The run's score freed of those errors; None: the judge hardly tells labels apart."""
        of_run = self._of(run_id)
        on = of_run & (self.judged_level >= 0)
        if not on.any():
            return None
        counts = np.bincount(self.judged_level[on], self.weights[on], len(self.levels))
        shares = true_shares(counts / counts.sum(), self.rates)
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


def labelled(
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
        judged=measure.judged_gains(items)[on],
        judged_level=level(items.labels),
        human_level=level(human),
        weights=measure.weights[on],
        topics=topics[on],
        strata=4 * topics[on] + 2 * is_open[on] + ~items.is_first[on],
    )
