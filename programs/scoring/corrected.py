"""Scores of stored judgements, corrected with human labels of a part of the items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from ...metrics.bootstrap import LEVEL, Interval
from ...metrics.ppi.estimates import Estimate, Moments, difference, estimate, judged_gap, moments
from ...metrics.ppi.intervals import (
    LabelsNeeded,
    interval_like_these,
    interval_of_these,
    labels_needed,
)
from ...metrics.ppi.sample import Sample
from ...records.labels.kinds import file_kind
from ...records.reading.problems import InputError, Problems
from ..protocols.judged_items import JudgedItems, Measure
from .corrected_rows import CorrectedDifference, CorrectedScore, CorrectedScores, Figure
from .corrected_samples import Labelled, labelled
from .human_labels import human_labels, is_of_cascade
from .score import score_path

# In simulations the intervals cover what they promise from about 20 labels of a score on; with
# 10, those of these topics fell to 88%. Below 5 topics Student's t makes an interval useless.
MIN_LABELS = 20
MIN_TOPICS = 5
# Standard errors between the judge's scores of labelled and of all items that no draw explains.
_TOO_FAR = 4.0
# Fewer labels than this on either side of a score's middle make an interval doubtful.
_FEW = 5


def corrected_scores(
    path: Path,
    labels: Path,
    problems: Problems,
    *,
    where: Mapping[str, Sequence[str]] | None = None,
    topics: Path | None = None,
    measures: Sequence[str] = (),
    against: str | None = None,
    half_width: float | None = None,
    level: float = LEVEL,
    ignore_others: bool = False,
    regroup: Callable[[JudgedItems], JudgedItems] | None = None,
) -> CorrectedScores:
    """Correct the scores of judged items with human labels of some of them.

    The labels must be a random draw of each topic's items, or of each answer's items. One lam is
    tuned for a measure over all its runs: with few labels a run's own would follow chance.

    Args:
        path: an assignments, support, relevance or label file, or a results folder.
        labels: human labels in any layout; of a folder, judgements of their kind are corrected.
        where: read only labels whose fields have one of these values.
        topics: file of the topics that every run must answer, as for `score_path`.
        measures: those to correct; empty: all.
        against: the run that others are compared with; None: the best by the judge's own score,
            which the labels have no part in.
        half_width: also say how many labels an interval of this half-width takes.
        level: of all intervals, in (0, 1).
        ignore_others: leave out labels of topics or items that were not judged.
        regroup: puts others in the place of the runs, such as slices; there are no plain rows then.

    Raises: InputError if nothing can be corrected: too few labels or topics, one label only,
        labels that the judge does not give, of items that it was not given, or two of one item.
    """
    if not 0 < level < 1:
        raise InputError(f"--level {level}: wanted between 0 and 1")
    if half_width is not None and not half_width > 0:
        raise InputError(f"--half-width {half_width}: wanted above 0")
    in_parts = is_of_cascade(labels, where or {})
    items, human = human_labels(
        path,
        labels,
        problems,
        where or {},
        topics,
        ignore_others=ignore_others,
        in_parts=in_parts,
    )
    if in_parts:
        _check_parts(items, human, labels)
    if regroup is not None:
        items = regroup(items)
    if against is not None and against not in items.runs:
        raise InputError(f"--against {against}: no such run in {path}")
    _check_numbers(items, human, labels)
    chosen = [
        labelled(items, human, measure, in_parts=in_parts)
        for measure in _chosen(items, human, measures, problems, labels)
    ]
    is_scored = path.is_dir() or file_kind(path) in ("assignments", "support")
    is_scored = is_scored and regroup is None
    plain = score_path(path, Problems(), topics=topics) if is_scored else []
    means = {(row.run_id, row.measure): row.value for row in plain if row.topic_id == "all"}
    asked = _Asked(means, against, half_width, level)
    scores: list[CorrectedScore] = []
    differences: list[CorrectedDifference] = []
    for of_measure in chosen:
        found, compared, gap = asked.measure(of_measure)
        if abs(gap) > _TOO_FAR:
            name, more = of_measure.measure.name, "higher" if gap > 0 else "lower"
            what = f"the judge scores labelled items {more} in {name} than all, by {abs(gap):.1f}"
            what += " standard errors: were they drawn at random?"
            problems.keep(labels, 1, "labels_not_random", what)
        scores += found
        differences += compared
    if all(score.corrected is None for score in scores):
        raise InputError(f"{labels}: nothing can be corrected: {_why_none(scores)}")
    return CorrectedScores(plain, scores, differences, level, half_width)


def _check_numbers(items: JudgedItems, human: Sequence[str | None], labels: Path) -> None:
    n = sum(label is not None for label in human)
    topics = {t for t, label in zip(items.topics, human, strict=True) if label is not None}
    if n < MIN_LABELS:
        raise InputError(f"{labels}: {n} labels of judged items, wanted {MIN_LABELS} or more")
    if len(topics) < 2:
        raise InputError(f"{labels}: the labels are of one topic, wanted {MIN_TOPICS} or more")


def _check_parts(items: JudgedItems, human: Sequence[str | None], labels: Path) -> None:
    """Raise InputError unless each topic has labels of what was judged, and of what was not."""
    n_labels: dict[tuple[bool, str], int] = {}
    for topic, is_first, label, given in zip(
        items.topics, items.is_first, items.labels, human, strict=True
    ):
        part = label is not None, topic
        if is_first:
            n_labels[part] = n_labels.get(part, 0) + (given is not None)
    if lacking := sorted((topic, kept) for (kept, topic), n in n_labels.items() if not n):
        topic, kept = lacking[0]
        of = "that the cascade kept" if kept else "that the cascade left to people"
        what = f"no label of an item {of} in topic {topic}, nor in {len(lacking) - 1} more parts"
        raise InputError(f"{labels}: {what}: scores cannot be corrected without a random part")


def _chosen(
    items: JudgedItems,
    human: Sequence[str | None],
    names: Sequence[str],
    problems: Problems,
    labels: Path,
) -> list[Measure]:
    """The measures asked for; those of all citations only where labels of later ones say more."""
    known = [measure.name for measure in items.measures]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"--measure {unknown[0]}: wanted one of {', '.join(known)}")
    of_topic: dict[str, bool] = {}
    for topic, is_first, label in zip(items.topics, items.is_first, human, strict=True):
        if not is_first:
            of_topic[topic] = of_topic.get(topic, False) or label is not None
    can_all = bool(of_topic) and all(of_topic.values())
    if not can_all and (any(of_topic.values()) or any(name.endswith("_all") for name in names)):
        n = sum(of_topic.values())
        what = f"later citations have labels in {n} of {len(of_topic)} topics"
        problems.skip(labels, 1, "later_citations", f"{what}: measures with _all stay uncorrected")
    return [
        measure
        for measure in items.measures
        if (not names or measure.name in names) and (can_all or not measure.name.endswith("_all"))
    ]


@dataclass(frozen=True)
class _Asked:
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
        found = {run: estimate(samples[run], tuned.lam) for run in usable}
        scores = [
            self._score(data, run, samples[run], tuned, reasons[run], found.get(run))
            for run in runs
        ]
        gap = sum(judged_gap(samples[run]) for run in usable)
        error = float(np.sqrt(tuned.judged))
        return scores, self._differences(data, found), gap / error if error > 0 else 0.0

    def _score(
        self,
        data: Labelled,
        run: str,
        sample: Sample,
        tuned: Moments,
        reason: str | None,
        found: Estimate | None,
    ) -> CorrectedScore:
        name = data.measure.name
        lam = tuned.lam
        known: dict[str, Any] = {
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
        if found is None:
            return CorrectedScore(**known, reason=reason)
        corrected = self._figure(found, is_share=True)
        plug_in = data.plug_in(run)
        binary = len(data.levels) == 2
        return CorrectedScore(
            **known,
            corrected=corrected,
            human_only=self._figure(estimate(sample, 0.0), is_share=True),
            plug_in=plug_in,
            sensitivity=data.rates.sensitivity if binary else None,
            specificity=data.rates.specificity if binary else None,
            needed=self._needed(found),
            warnings=tuple(_warnings(sample, corrected, plug_in)),
        )

    def _judged(self, data: Labelled, run: str) -> float | None:
        key = (run, data.measure.name)
        return self.means[key] if key in self.means else data.judged_score(run)

    def _needed(self, found: Estimate) -> LabelsNeeded | None:
        """Labels for the wanted half-width, never fewer than a score is corrected with."""
        if self.half_width is None:
            return None
        needed = labels_needed(found, self.half_width, level=self.level)
        if needed is None:
            return None
        least, like = min(found.n_items, MIN_LABELS), needed.like_these
        return replace(
            needed,
            like_these=None if like is None else max(like, least),
            of_these=max(needed.of_these, least),
        )

    def _figure(self, found: Estimate, *, is_share: bool) -> Figure:
        """With both intervals; a share is cut to [0, 1], which loses no interval its truth."""
        like = interval_like_these(found, level=self.level)
        if found.n_labelled_topics < MIN_TOPICS:
            like = Interval(found.value, None, None, like.n_topics, self.level)
        of_these = interval_of_these(found, level=self.level)
        if not is_share:
            return Figure(found.value, like, of_these)
        return Figure(_cut(found.value), _cut_interval(like), _cut_interval(of_these))

    def _differences(
        self, data: Labelled, found: Mapping[str, Estimate]
    ) -> list[CorrectedDifference]:
        if len(found) < 2 or (self.against is not None and self.against not in found):
            return []
        judged = {run: self._judged(data, run) for run in sorted(found)}
        # Chosen without the labels: the best corrected value is in part the luckiest draw.
        best = self.against or max(judged, key=lambda run: _or_least(judged[run]))
        compared = []
        for run in sorted(judged.keys() - {best}):
            minus, one, other = difference(found[run], found[best]), judged[run], judged[best]
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


def _why_none(scores: Sequence[CorrectedScore]) -> str | None:
    """Why no run's score can be corrected, by its measure with the most labels."""
    best: dict[str, CorrectedScore] = {}
    for score in scores:
        if score.run_id not in best or score.n_labels > best[score.run_id].n_labels:
            best[score.run_id] = score
    if not best:
        return "no measure has labels"
    ranked = sorted(best.values(), key=lambda score: (score.n_labels, score.run_id))
    n_few = sum(score.n_labels < MIN_LABELS for score in ranked)
    if len(ranked) == 1 or not n_few:
        return ranked[-1].reason
    ends = [f"{score.n_labels} ({score.run_id})" for score in (ranked[0], ranked[-1])]
    what = f"the runs have {' to '.join(ends)} labels, wanted {MIN_LABELS} or more"
    more = "" if n_few == len(ranked) else f"; of {ranked[-1].run_id}: {ranked[-1].reason}"
    return f"{what}; {n_few} of {len(ranked)} have fewer{more}"


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
    found = []
    gains = sample.human[sample.is_labelled]
    few = min(np.count_nonzero(gains > gains.min()), np.count_nonzero(gains < gains.max()))
    if few < _FEW and not sample.is_labelled.all():
        found.append(f"only {few} of {len(gains)} labels differ from the others")
    interval = corrected.of_these if corrected.like_these.low is None else corrected.like_these
    if plug_in is not None and interval.low is not None and interval.high is not None:
        half = (interval.high - interval.low) / 2
        if abs(plug_in - corrected.value) > half + 1e-9:
            what = f"the error rates of all runs together give {plug_in:.3f}"
            found.append(f"{what}: this run's errors may be of another kind")
    return found


def _or_least(value: float | None) -> float:
    return -np.inf if value is None else value


def _cut(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _cut_interval(given: Interval) -> Interval:
    low, high = (None if bound is None else _cut(bound) for bound in (given.low, given.high))
    value = None if given.value is None else _cut(given.value)
    return Interval(value, low, high, given.n_topics, given.level)
