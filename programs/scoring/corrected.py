"""Scores of stored judgements, corrected with human labels of some items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from scipy.stats import norm, t

from ...metrics.inference import LEVEL
from ...records.columns import TableOptions
from ...records.kinds import file_kind
from ...records.reading.problems import InputError, Problems, did_you_mean
from ..protocols.judged_items import JudgedItems, Measure
from .corrected_measure import (
    MIN_LABELS,
    MIN_TOPICS,
    CorrectedDifference,
    CorrectedScore,
    CorrectedScores,
    Correction,
    find_labelled,
)
from .human_labels import human_labels, is_of_cascade
from .score import score_path

# A larger gap (in standard errors) between labelled and all items is not due to a random draw.
# A standard error from few labels is rough itself, so their gap has to be larger (Student's t).
_TOO_FAR = 4.0


def _is_too_far(gap: float, degrees: float) -> bool:
    return degrees > 0 and abs(gap) > max(t.isf(norm.sf(_TOO_FAR), degrees), _TOO_FAR)


def correct_scores(
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
    how: TableOptions | None = None,
) -> CorrectedScores:
    """Correct the scores of judged items with human labels of some of them.

    The labels must be a random sample of each topic's items, or of each answer's items. One lam
    is tuned for a measure over all runs: with few labels, a lam per run would be too noisy.

    Args:
        path: an assignments, support, relevance or label file, or a results folder.
        labels: human labels in any layout; in a folder, judgements of their kind are corrected.
        where: read only labels whose fields have one of these values.
        topics: file of the topics that every run must answer, as for `score_path`.
        measures: the measures to correct; empty: all.
        against: the run to compare the others with; None: the best by the judge's own score,
            which does not depend on the labels.
        half_width: also estimate how many labels an interval of this half-width needs.
        level: the level of all intervals, in (0, 1).
        ignore_others: ignore labels of topics or items that were not judged.
        regroup: replaces the runs, for example by slices; then there are no plain rows.
        how: the columns, labels and missing values of a table of human labels.

    Raises: InputError if nothing can be corrected: too few labels or topics, only one label
        value, labels that the judge does not give, labels of unknown items, or two labels of
        one item.
    """
    if not 0 < level < 1:
        raise InputError(f"--level {level}: wanted between 0 and 1")
    if half_width is not None and not half_width > 0:
        raise InputError(f"--half-width {half_width}: wanted a value above 0")
    in_parts = is_of_cascade(labels, where or {}, how)
    items, human = human_labels(
        path,
        labels,
        problems,
        where or {},
        topics,
        ignore_others=ignore_others,
        in_parts=in_parts,
        how=how,
    )
    if in_parts:
        _check_parts(items, human, labels)
    if regroup is not None:
        items = regroup(items)
    if against is not None and against not in items.runs:
        runs = list(dict.fromkeys(items.runs))
        wanted = f"wanted one of {', '.join(runs)}{did_you_mean(against, runs)}"
        raise InputError(f"--against {against}: no such run in {path}; {wanted}")
    _check_numbers(items, human, labels, problems)
    chosen = [
        find_labelled(items, human, measure, in_parts=in_parts)
        for measure in _choose_measures(items, human, measures, problems, labels)
    ]
    is_scored = path.is_dir() or file_kind(path) in ("assignments", "support")
    is_scored = is_scored and regroup is None
    plain = score_path(path, Problems(), topics=topics) if is_scored else []
    means = {(row.run_id, row.measure): row.value for row in plain if row.topic_id == "all"}
    correction = Correction(means, against, half_width, level)
    scores: list[CorrectedScore] = []
    pooled: list[CorrectedScore] = []
    differences: list[CorrectedDifference] = []
    for of_measure in chosen:
        found = correction.measure(of_measure)
        if _is_too_far(found.gap, found.gap_degrees):
            name, more = of_measure.measure.name, "higher" if found.gap > 0 else "lower"
            what = f"the judge scores labelled items {more} in {name} than all"
            what += f", by {abs(found.gap):.1f}"
            what += " standard errors: is the sample random?"
            problems.keep(labels, 1, "labels_not_random", what)
        scores += found.scores
        if found.pooled is not None and any(score.reason for score in found.scores):
            pooled.append(found.pooled)
        differences += found.differences
    if all(score.corrected is None for score in (*scores, *pooled)):
        together = f"; all runs together: {pooled[0].reason}" if pooled else ""
        raise InputError(f"{labels}: nothing can be corrected: {_why_none(scores)}{together}")
    return CorrectedScores(plain, scores, pooled, differences, level, half_width)


def _check_numbers(
    items: JudgedItems, human: Sequence[str | None], labels: Path, problems: Problems
) -> None:
    n = sum(label is not None for label in human)
    topics = {t for t, label in zip(items.topics, human, strict=True) if label is not None}
    if n < MIN_LABELS:
        what = f"{n} labels of judged items, wanted {MIN_LABELS} or more"
        if unused := next((row.what for row in problems if row.kind == "not_random"), ""):
            what += f"; {unused}. `judge next --random-share 1` chooses all items at random"
        raise InputError(f"{labels}: {what}")
    if len(topics) < 2:
        raise InputError(f"{labels}: the labels are of one topic, wanted {MIN_TOPICS} or more")


def _check_parts(items: JudgedItems, human: Sequence[str | None], labels: Path) -> None:
    """Raise InputError unless each topic has labels of judged and of unjudged items."""
    n_labels: dict[tuple[bool, str], int] = {}
    for topic, is_first, label, human_label in zip(
        items.topics, items.is_first, items.labels, human, strict=True
    ):
        part = label is not None, topic
        if is_first:
            n_labels[part] = n_labels.get(part, 0) + (human_label is not None)
    if lacking := sorted((topic, kept) for (kept, topic), n in n_labels.items() if not n):
        topic, kept = lacking[0]
        of = "that the cascade kept" if kept else "that the cascade left to people"
        what = f"no label of an item {of} in topic {topic}, nor in {len(lacking) - 1} more parts"
        raise InputError(f"{labels}: {what}: scores cannot be corrected without a random part")


def _choose_measures(
    items: JudgedItems,
    human: Sequence[str | None],
    names: Sequence[str],
    problems: Problems,
    labels: Path,
) -> list[Measure]:
    """Choose the measures; those of all citations need labels of later citations."""
    known = [measure.name for measure in items.measures]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"--measure {unknown[0]}: wanted one of {', '.join(known)}")
    of_topic = later_citations(items, human)
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


def _why_none(scores: Sequence[CorrectedScore]) -> str | None:
    """Return why no run's score can be corrected, from its measure with the most labels."""
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


def later_citations(items: JudgedItems, human: Sequence[str | None]) -> dict[str, bool]:
    """Return topics with second citations of a sentence, and whether one has a label."""
    has_label: dict[str, bool] = {}
    for topic, is_first, label in zip(items.topics, items.is_first, human, strict=True):
        if not is_first:
            has_label[topic] = has_label.get(topic, False) or label is not None
    return has_label
