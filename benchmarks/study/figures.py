"""How a judge's labels compare with those of people: the figures of one set and question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from nuggetjudge.metrics import agreement, pairwise_kappa, taus
from nuggetjudge.metrics.inference import SIGNED_DIFFERENCE, Interval, jackknife_interval
from nuggetjudge.metrics.label_agreement import agreement_intervals
from nuggetjudge.metrics.label_coefficients import cohen_kappa, count_confusion
from nuggetjudge.records.reading.problems import InputError

from .sets import Item, JudgedSet, Question, lines

YES_NO = ("no", "yes")
_DIGITS = 12
Labels = Mapping[tuple[str, ...], str | None]  # by the cell of an item; None: not judged


@dataclass(frozen=True)
class Figures:
    """Of one question; None where a figure is undefined or there is nothing to take it from.

    Attributes:
        question, n, n_unjudged: what was asked, items with both labels, and with people's alone.
        kappa: Cohen's, of yes and no (or of each label), in [-1, 1], with the interval over drawn
            topics.
        lexical_kappa: of the lexical judge on the same n items. minus_lexical: kappa minus that,
            with the interval of the difference, by leaving out one topic at a time.
        people_kappa, n_people: mean of Cohen's kappa over the pairs of people who labelled the same
            items, and those items. kappa_with_each: of the judge with each of them, the like.
        worst, worst_recall: people's worst label, and the share of its items that got the judge's
            worst; "no" where people said yes or no.
        rarest, rarest_recall: the label that people gave least often, and the share of its items
            that got it; of yes and no where people and judge have other labels.
        tau_runs, tau_topics, n_runs: Kendall's tau-b of the runs' scores by people and the judge,
            and its mean within topics.
        yes, people_yes: shares of the n items; None where each label is compared.
    """

    question: str
    n: int
    n_unjudged: int
    kappa: Interval | None
    lexical_kappa: float | None
    minus_lexical: Interval | None
    people_kappa: float | None
    n_people: int
    kappa_with_each: float | None
    worst: str
    worst_recall: float | None
    rarest: str
    rarest_recall: float | None
    measure: str
    tau_runs: float | None
    tau_topics: float | None
    n_runs: int
    yes: float | None
    people_yes: float | None


def read_labels(folder: Path, items: Sequence[Item]) -> Labels:
    """The labels that a results folder has of these items.

    Raises: InputError if it has others.
    """
    labels: dict[tuple[str, ...], str | None] = {}
    path = folder / "labels.jsonl"
    rows = list(lines(path))
    for number, (row, item) in enumerate(zip_longest(rows, items), 1):
        if not (row and item) or any(row.get(name) != value for name, value in item.ids.items()):
            raise InputError(
                f"{path}:{number}: not the item that was judged there; remove {folder}"
            )
        labels[item.cell] = row["label"]
    return labels


def figures(
    of: JudgedSet,
    question: Question,
    items: Sequence[Item],
    judged: Labels,
    lexical: Labels,
    judge_scale: Sequence[str],
    resamples: int = 1000,
) -> Figures:
    """The figures of one question; the measure of runs goes with the first one alone."""
    yes = _Answer(of, question, judge_scale)
    on = [item for item in items if judged[item.cell] in judge_scale]
    people = [yes.of_people(item.label) for item in on]
    ours = [yes.of_judge(judged[item.cell]) for item in on]
    topics = [item.ids["topic_id"] for item in on]
    pairs = agreement(people, ours, yes.scale)
    interval = None
    if on:
        drawn = agreement_intervals(pairs, people, ours, topics, resamples=resamples)
        interval = drawn["cohen_kappa"]["unweighted"]
    names = sorted({name for item in on for name in item.by})
    by = [[_people_answer(item, name, yes) for item in on] for name in names]
    among = pairwise_kappa(list(combinations(by, 2)), yes.scale) if len(names) > 1 else None
    with_each = pairwise_kappa([(ours, one) for one in by], yes.scale) if among else None
    tau = None
    if of.measure and question == of.questions[0]:
        tau = _taus(of, on, judged, yes)
    worst, rarest = _find_labels(of, items, judge_scale)
    return Figures(
        question=question.text,
        n=len(on),
        n_unjudged=len(items) - len(on),
        kappa=interval,
        lexical_kappa=_kappa(on, lexical, yes),
        minus_lexical=_minus(
            people, ours, [yes.of_judge(lexical[i.cell]) for i in on], topics, yes
        ),
        people_kappa=among.unweighted if among else None,
        n_people=sum(len(item.by) > 1 for item in on),
        kappa_with_each=with_each.unweighted if with_each else None,
        worst=worst,
        worst_recall=_recall(of, on, judged, judge_scale, worst),
        rarest=rarest,
        rarest_recall=_recall(of, on, judged, judge_scale, rarest),
        measure=of.measure if tau else "",
        tau_runs=tau and tau.run_level,
        tau_topics=tau and tau.topic_mean,
        n_runs=tau.n_runs if tau else 0,
        yes=_share(ours) if question.people else None,
        people_yes=_share(people) if question.people else None,
    )


class _Answer:
    """What a label says to a question: yes or no, or the label itself."""

    def __init__(self, of: JudgedSet, question: Question, judge_scale: Sequence[str]) -> None:
        self._is_each = not question.people
        if self._is_each:
            self.scale = tuple(judge_scale)
            return
        self.scale = YES_NO
        self._people = set(of.scale[of.scale.index(question.people) :])
        self._judge = set(judge_scale[judge_scale.index(question.judge) :])

    def of_people(self, label: str) -> str:
        return label if self._is_each else YES_NO[label in self._people]

    def of_judge(self, label: str | None) -> str:
        return str(label) if self._is_each else YES_NO[label in self._judge]


def _people_answer(item: Item, name: str, yes: _Answer) -> str | None:
    return yes.of_people(item.by[name]) if name in item.by else None


def _kappa(items: Sequence[Item], labels: Labels, yes: _Answer) -> float | None:
    people = [yes.of_people(item.label) for item in items]
    judged = [yes.of_judge(labels[item.cell]) for item in items]
    return agreement(people, judged, yes.scale).cohen_kappa["unweighted"]


def _minus(
    people: Sequence[str],
    ours: Sequence[str],
    theirs: Sequence[str],
    topics: Sequence[str],
    yes: _Answer,
) -> Interval | None:
    """The difference of two kappas on the same items."""
    if not people:
        return None
    by_topic: dict[str, list[int]] = {}
    for i, topic in enumerate(topics):
        by_topic.setdefault(topic, []).append(i)
    kappas = []
    for labels in (ours, theirs):
        counts = np.stack(
            [
                count_confusion([people[i] for i in at], [labels[i] for i in at], yes.scale)
                for at in by_topic.values()
            ]
        )
        whole = counts.sum(0)
        kappas.append(cohen_kappa(np.concatenate([whole[None], whole - counts])))
    value, *without = kappas[0] - kappas[1]
    is_known = not np.isnan(value)
    return jackknife_interval(
        float(value) if is_known else None, np.array(without), SIGNED_DIFFERENCE
    )


def _find_labels(
    of: JudgedSet, items: Sequence[Item], judge_scale: Sequence[str]
) -> tuple[str, str]:
    """The worst label and the rarest; of yes and no where the scales differ."""
    if tuple(of.scale) == tuple(judge_scale):
        n = Counter(item.label for item in items)
        return of.scale[0], min((label for label in of.scale if n[label]), key=n.__getitem__)
    yes = _Answer(of, of.questions[0], judge_scale)
    n = Counter(yes.of_people(item.label) for item in items)
    return YES_NO[0], min(YES_NO, key=n.__getitem__)


def _recall(
    of: JudgedSet, on: Sequence[Item], judged: Labels, judge_scale: Sequence[str], label: str
) -> float | None:
    """The share of people's items of a label to which the judge gave it."""
    if label in of.scale:
        got = [judged[item.cell] == label for item in on if item.label == label]
    else:
        yes = _Answer(of, of.questions[0], judge_scale)
        by_people = [item for item in on if yes.of_people(item.label) == label]
        got = [yes.of_judge(judged[item.cell]) == label for item in by_people]
    return sum(got) / len(got) if got else None


def _taus(of: JudgedSet, on: Sequence[Item], judged: Labels, yes: _Answer) -> Any:
    """Of scores by people and by the judge, both over the items that the judge judged."""
    gains = of.gains
    people, ours = _Scores(), _Scores()
    for item in on:
        label = judged[item.cell]
        at = item.ids["run_id"], item.ids["topic_id"]
        earned = gains[item.label] if gains else float(yes.of_people(item.label) == "yes")
        people.add(at, item.weight, earned)
        earned = gains[label or ""] if gains else float(yes.of_judge(label) == "yes")
        ours.add(at, item.weight, earned)
    cells = people.cells(), ours.cells()
    return taus(*cells, truth_runs=_means(cells[0]), judged_runs=_means(cells[1]))


class _Scores:
    """Weighted means by run and topic."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], list[float]] = {}

    def add(self, at: tuple[str, str], weight: float, earned: float) -> None:
        of = self._sums.setdefault(at, [0.0, 0.0])
        of[0] += weight * earned
        of[1] += weight

    def cells(self) -> dict[tuple[str, str], float]:
        """Rounded, so that equal means are tied however they were added up."""
        sums = self._sums.items()
        return {at: round(earned / weight, _DIGITS) for at, (earned, weight) in sums if weight}


def _means(cells: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """A run's mean over the topics that it has items of: a sample lacks some by chance."""
    by_run: dict[str, list[float]] = {}
    for (run, _), value in cells.items():
        by_run.setdefault(run, []).append(value)
    return {run: round(fmean(values), _DIGITS) for run, values in by_run.items()}


def _share(labels: Sequence[str]) -> float | None:
    return labels.count(YES_NO[1]) / len(labels) if labels else None
