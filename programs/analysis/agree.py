"""Agreement of two sets of judgements or scores, such as a judge and people."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, Unpack

from ...metrics import taus
from ...metrics.answer_scores import scale_gains
from ...metrics.inference import Draws
from ...metrics.rank_correlation import tau_intervals
from ...records.columns import TableOptions
from ...records.kinds import OTHER, LabelFile, file_kind, find_kind
from ...records.labels import read_labels, run_aliases
from ...records.reading.problems import InputError, Problems, did_you_mean
from ...records.rows import ScoreRow
from ...records.scores import read_scores
from ...records.tables.label_rows import is_table
from ..engine.manifest import read_manifest
from ..engine.results import MANIFEST
from ..inputs import ORACLES
from ..protocols.judged_files import (
    are_ordered,
    find_judged_file,
    find_task,
    kinds_in,
    list_judged_kinds,
    scale_in,
)
from ..protocols.judged_items import ITEMS, MEAN_GAIN
from ..protocols.table import is_of_answered
from ..scoring.human_labels import note_hard_labels
from .agree_labels import agree_annotators, agree_labels, plain

SCORES = "scores"
# Coefficients of several kinds, and kinds that use the distance between labels.
_BY_KIND = ("cohen_kappa", "pairwise_kappa", "alpha")
_WEIGHTED = ("linear", "quadratic", "ordinal", "interval")


def agree(
    human: Path,
    judged: Path | None,
    problems: Problems,
    where: Mapping[str, Sequence[str]] | None = None,
    kind: str | None = None,
    cut: Sequence[str] = (),
    measures: Mapping[str, str] | None = None,
    how: TableOptions | None = None,
    **draws: Unpack[Draws],
) -> dict[str, Any]:
    """Compare two files item by item on their ids, or the annotators of one file.

    Args:
        human: the file that counts as correct: labels in any layout, or scores; or a results
            folder, whose file of the same kind is compared.
        judged: the other file or folder; None: compare the annotators of `human`.
        where: read only rows of `human` whose fields have one of these values.
        kind: what to compare in folders: nuggets, support, relevance, ratings, keypoints, items
            or scores; default for two folders: the first kind that both have.
        cut: a label, or one for each file: this label and better labels count as positive.
        measures: for scores, measure of `judged` -> measure of `human` to compare it with; None:
            all measures in both.
        how: the columns, labels and missing values of `human`, if it is a table.
        draws: options of intervals, which resample topics; 0 resamples: no intervals.

    Returns: for labels, the fields of `Agreement`, the number of items on only one side,
        `intervals`, `calls` (of models, with `judgements`, if a model judged the folder; else
        None), `cut`, `scale_note` (a warning if the files may have two scales, or None),
        `has_two_scales` (they have different labels, so there is no verdict), and `annotators`:
        None, or `among` (the fields of `Reliability`) and `judge`: its mean kappa with each
        annotator and, `pooled`, its precision, recall and F1 over every single label.
        `by_topic` has n, accuracy and Cohen's kappa of each topic, without intervals. Weighted
        coefficients are None if the labels have no order (`is_ordered`, see `are_ordered`).
        For scores, each measure of both sides has the fields of `Taus`, `intervals`,
        `run_scores`, `run_topics` (number of topics behind the run scores: `human` and `judged`
        in the files, and `shared`, or None if the run scores are the files' own) and `note`
        (about these topics, or None); for one file, `annotators`. Run names with and without a
        team prefix (`team.run`) are matched if unambiguous; `run_aliases` lists them.
    Raises: InputError if nothing can be compared, or the labels have different scales.
    """
    if kind not in (None, *list_judged_kinds(), SCORES):
        raise InputError(
            f"--kind {kind}: wanted one of {', '.join((*list_judged_kinds(), SCORES))}"
        )
    if judged is None:
        if human.is_dir():
            raise InputError(f"{human}: a folder, wanted a file of labels or a second folder")
        cut_at, _ = _cuts(cut)
        labels = read_labels(human, problems, where, cut=cut_at, how=how, is_human=True)
        problems.raise_errors()
        return _by_order(agree_annotators(labels, human, draws) | {"cut": cut[:1] or None}, human)
    paths = (human, judged)
    if human.is_dir() or judged.is_dir():
        kind = kind or _kind_of_both(human, judged, where or {}, how)
        human, judged = _in_folder(human, kind), _in_folder(judged, kind)
    if _has_scores(human, how):
        if cut:
            raise InputError(f"--cut {','.join(cut)}: {human} has scores, wanted labels")
        return agree_scores(human, judged, problems, draws, measures)
    if measures:
        raise InputError(f"--measure {next(iter(measures))}: {human} has labels, wanted scores")
    scale, cuts = scale_in(*paths, kind=kind), _cuts(cut)
    if cut and scale is not None and not scale.is_ordered:
        what = "has no order, so there is nothing to --cut"
        raise InputError(f"the scale {', '.join(scale.labels)} {what}")
    names = scale.labels if scale is not None else None
    other = read_labels(judged, problems, scale=names, cut=cuts[1])
    truth = read_labels(
        *(human, problems, where, names, cuts[0]), how=how, key=other.key_names, is_human=True
    )
    problems.raise_errors()
    note_hard_labels(human, where or {}, problems, how)
    return _compare(truth, other, (human, judged), paths, (cut, cuts), draws)


def _compare(
    truth: LabelFile,
    other: LabelFile,
    files: tuple[Path, Path],
    paths: tuple[Path, Path],
    cut: tuple[Sequence[str], tuple[str | None, str | None]],
    draws: Draws,
) -> dict[str, Any]:
    """Compare two sets of labels, read from `files` in `paths`."""
    given, cuts = cut
    comparison = agree_labels(truth, other, *files, draws)
    n_positive = sum(comparison["confusion"][1]) + sum(row[1] for row in comparison["confusion"])
    if given and not n_positive:
        raise InputError(f"--cut {','.join(given)}: no label of either file reaches it")
    comparison |= {"cut": cuts if given else None, "calls": _calls(paths[1])}
    return _by_order(comparison, *paths)


def agree_with_judge(
    truth: LabelFile,
    human: Path,
    results: Path,
    problems: Problems,
    cut: Sequence[str] = (),
    **draws: Unpack[Draws],
) -> dict[str, Any]:
    """Compare human labels with a judge's labels of the same items.

    Args:
        truth: the labels of the file `human`, after `cut`.
        results: the folder with the judged items.
        cut, draws: see `agree`.

    Returns: as `agree`. With two or more runs and ordered labels, `runs` compares the runs by
        their mean gain over items with both labels, like `measures` of scores.
    """
    scale, cuts = scale_in(results, kind=ITEMS), _cuts(cut)
    names = scale.labels if scale is not None else None
    file = find_judged_file(results, ITEMS)
    other = read_labels(file, problems, scale=names, cut=cuts[1])
    problems.raise_errors()
    comparison = _compare(truth, other, (human, file), (human, results), (cut, cuts), draws)
    if (runs := _compare_runs(truth, other, comparison, draws)) is not None:
        comparison["runs"] = runs
    return comparison


def _compare_runs(
    truth: LabelFile, other: LabelFile, comparison: Mapping[str, Any], draws: Draws
) -> dict[str, Any] | None:
    """Compare the orders of runs; None without runs or with labels without an order."""
    if not comparison["is_ordered"] or "run_id" not in truth.key_names:
        return None
    gains = scale_gains(comparison["scale"])[MEAN_GAIN]
    run_at = truth.key_names.index("run_id")
    topic_at = truth.key_names.index("topic_id") if "topic_id" in truth.key_names else None
    sides = []
    for labels in (truth.cells, other.cells):
        by_cell: dict[tuple[str, str], list[float]] = {}
        for cell in sorted(truth.cells.keys() & other.cells.keys()):
            topic = "all" if topic_at is None else cell[topic_at]
            by_cell.setdefault((cell[run_at], topic), []).append(gains[labels[cell]])
        sides.append(
            [
                ScoreRow(run_id=run, topic_id=topic, measure=MEAN_GAIN, value=fmean(values))
                for (run, topic), values in by_cell.items()
            ]
        )
    if len({row.run_id for row in sides[0]}) < 2:
        return None
    return _of_measure(sides[0], sides[1], (MEAN_GAIN, MEAN_GAIN), draws)


def _calls(judged: Path) -> dict[str, int] | None:
    """Return calls of a results folder; None if unknown or no model was asked."""
    manifest = read_manifest(judged) if (judged / MANIFEST).is_file() else {}
    if "calls" not in manifest or manifest.get("answered_by") == ["lexical"]:
        return None
    n = sum(sum(manifest[name].values()) for name in ("judged", "unjudged"))
    return {"calls": sum(manifest["calls"].values()), "judgements": n}


def _cuts(cut: Sequence[str]) -> tuple[str | None, str | None]:
    """Return the cut of each file. Raises: InputError for more than two."""
    if len(cut) > 2:
        raise InputError(f"--cut {','.join(cut)}: wanted a label, or HUMAN,JUDGED")
    return (cut[0], cut[-1]) if cut else (None, None)


def _by_order(comparison: dict[str, Any], *paths: Path) -> dict[str, Any]:
    """Return the comparison; for labels without an order, without distance-based coefficients.

    Labels and annotators may have the name of a coefficient, so only known places are changed.
    """
    is_cut = comparison["cut"] is not None
    comparison["is_ordered"] = is_cut or are_ordered(
        comparison["kind"], comparison["scale"], *paths
    )
    if comparison["is_ordered"]:
        return comparison
    blocks, by_kind = [comparison] if "intervals" in comparison else [], []
    by_kind += [topic["cohen_kappa"] for topic in comparison.get("by_topic", {}).values()]
    if comparison["annotators"] is not None:
        judge = comparison["annotators"]["judge"]
        blocks.append(comparison["annotators"]["among"])
        if judge is not None:
            by_kind += [judge, judge["intervals"], *judge["by_annotator"].values()]
    for block in (*blocks, *(block["intervals"] for block in blocks)):
        by_kind += [block[name] for name in _BY_KIND if name in block]
    for figures in by_kind:
        for name in figures.keys() & set(_WEIGHTED):
            interval = figures[name]
            lost = dict.fromkeys(("value", "low", "high"))
            figures[name] = {**interval, **lost} if isinstance(interval, dict) else None
    return comparison


def _kind_of_both(
    human: Path, judged: Path, where: Mapping[str, Sequence[str]], how: TableOptions | None
) -> str:
    if human.is_dir() and judged.is_dir():
        of_other = kinds_in(judged)
        for kind in kinds_in(human):
            if kind in of_other:
                return kind
        raise InputError(
            f"{human} and {judged}: no judgements of the same kind; for scores add --kind scores"
        )
    if human.is_dir():
        is_of_scores = file_kind(judged) == SCORES
        return SCORES if is_of_scores else read_labels(judged, Problems()).kind
    if _has_scores(human, how):
        return SCORES
    labels = read_labels(human, Problems(), where, how=how)
    if labels.kind == OTHER and find_task(judged, OTHER) is None:
        for kind in kinds_in(judged):  # the side with more of its ids
            declared = find_kind(kind)
            if declared is not None and {*declared.key} <= {*labels.key_names}:
                return kind
    return labels.kind


def _has_scores(path: Path, how: TableOptions | None) -> bool:
    """Return whether a file has scores; a table with named columns has labels."""
    return not is_table(path, how) and file_kind(path) == SCORES


def _in_folder(path: Path, kind: str) -> Path:
    if kind != SCORES or not path.is_dir():
        return find_judged_file(path, kind)
    return path / "scores.jsonl"


_DIGITS = 12  # digits of means computed here, so that equal means are tied
_CLOSE = 1e-3  # tolerance between a run's score and its mean over topics, which may have 4 digits


def agree_scores(
    human: Path,
    judged: Path,
    problems: Problems,
    draws: Draws,
    measures: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Compare the scores of each measure in both files, without the oracles of coverage.

    Args:
        measures: measure of the judged file -> measure of the human file, if names differ; only
            these are compared then.

    Returns: see `agree`. Run scores are means over the topics in both files, without (run, topic)
        pairs that lack a value on one side. If a file has only run scores, or run scores that are
        not the means of its topics, the files' own run scores are compared, and `note` says which
        topics they cover.
    Raises: InputError if there is no common measure, or a named measure is missing.
    """
    truth, other = read_scores(human, problems), read_scores(judged, problems)
    problems.raise_errors()
    return agree_score_rows(truth, other, human, judged, draws, measures)


def agree_score_rows(
    truth: Sequence[ScoreRow],
    other: Sequence[ScoreRow],
    human: Path,
    judged: Path,
    draws: Draws,
    measures: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Compare rows like `agree_scores`; the paths are for messages."""
    truth, other = ([r for r in rows if r.run_id not in ORACLES] for rows in (truth, other))
    aliases = run_aliases({row.run_id for row in truth}, {row.run_id for row in other})
    other = [r.model_copy(update={"run_id": aliases.get(r.run_id, r.run_id)}) for r in other]
    measures_of = [dict.fromkeys(row.measure for row in rows) for rows in (truth, other)]
    pairs = [(name, name) for name in measures_of[0] if name in measures_of[1]]
    if measures:
        pairs = [(measures[name], name) for name in measures]
    for path, names, side in ((human, measures_of[0], 0), (judged, measures_of[1], 1)):
        for pair in pairs:
            if pair[side] not in names:
                what = f"no measure {pair[side]!r}{did_you_mean(pair[side], names)}"
                raise InputError(f"{path}: {what}")
    if not pairs:
        raise InputError(f"{human} and {judged}: no measure in common; name two with --measure")
    by_name = {
        one if one == two else f"{one}={two}": _of_measure(truth, other, (one, two), draws)
        for one, two in pairs
    }
    return {"kind": "scores", "measures": by_name, "run_aliases": aliases}


def _of_measure(
    truth: list[ScoreRow], other: list[ScoreRow], names: tuple[str, str], draws: Draws
) -> dict[str, Any]:
    sides = [_Scores(rows, name) for rows, name in zip((truth, other), names, strict=True)]
    shared = sides[0].topics & sides[1].topics
    is_joined = bool(shared) and all(side.are_means for side in sides)
    joined = [side.cells for side in sides]
    runs: list[Mapping[str, float]] = [side.runs for side in sides]
    if is_joined:
        joined = [one.on(shared, two) for one, two in (sides, sides[::-1])]
        runs = [
            side.runs if cells == side.cells else side.means(cells, shared)
            for side, cells in zip(sides, joined, strict=True)
        ]
    estimates = taus(sides[0].cells, sides[1].cells, truth_runs=runs[0], judged_runs=runs[1])
    intervals = tau_intervals(estimates, *joined, truth_runs=runs[0], judged_runs=runs[1], **draws)
    both = sorted(runs[0].keys() & runs[1].keys())
    n_topics = {
        "human": sides[0].n_topics,
        "judged": sides[1].n_topics,
        "shared": len(shared) if is_joined else None,
    }
    return {
        **estimates.as_dict(),
        "intervals": plain(intervals),
        "run_scores": {run: {"human": runs[0][run], "judged": runs[1][run]} for run in both},
        "run_topics": n_topics,
        "note": _note(n_topics, is_other=bool(sides[0].topics and sides[1].topics and not shared)),
    }


class _Scores:
    """A measure of one side.

    Attributes:
        cells: scores by (run, topic); None: not judged. topics: topics with a value of any run.
        runs: scores over all topics: from the file, or else the means over its topics.
    """

    def __init__(self, rows: Sequence[ScoreRow], measure: str) -> None:
        self._measure = measure
        chosen = [row for row in rows if row.measure == measure]
        self.cells = {(r.run_id, r.topic_id): r.value for r in chosen if r.topic_id != "all"}
        self.topics = {topic for (_, topic), value in self.cells.items() if value is not None}
        self._read = [r for r in chosen if r.topic_id == "all" and r.value is not None]
        read = {row.run_id: row.value for row in self._read if row.value is not None}
        self._names = sorted(read or {run for run, _ in self.cells})
        self.runs = read or self.means(self.cells, self.topics)

    @cached_property
    def are_means(self) -> bool:
        """Whether its run scores are the means over its topics."""
        means = self.means(self.cells, self.topics, self._n_unanswered)
        return bool(self.topics) and all(
            run in means and math.isclose(score, means[run], rel_tol=_CLOSE, abs_tol=_CLOSE)
            for run, score in self.runs.items()
        )

    @property
    def n_topics(self) -> int | None:
        """Number of topics behind run scores; None: unknown."""
        return len(self.topics) + self._n_unanswered if self.are_means else self._n_said

    def on(self, topics: Collection[str], other: _Scores) -> dict[tuple[str, str], float | None]:
        """Return its scores on these topics, without a value where the other side has none."""
        return {
            cell: None if other.cells.get(cell, 0.0) is None else value
            for cell, value in self.cells.items()
            if cell[1] in topics
        }

    def means(
        self,
        cells: Mapping[tuple[str, str], float | None],
        topics: Collection[str],
        n_unanswered: int = 0,
    ) -> dict[str, float]:
        """Return the mean of each run by `mean_over_topics`, without topics without a value.

        An unanswered topic counts 0, except in measures of given answers.
        """
        absent = None if is_of_answered(self._measure) else 0.0
        means = {}
        for run in self._names:
            values = [cells.get((run, topic), absent) for topic in sorted(topics)]
            present = [value for value in values if value is not None]
            if present:
                n = len(present) + (n_unanswered if absent is not None else 0)
                means[run] = round(math.fsum(present) / n, _DIGITS)
        return means

    @property
    def _n_said(self) -> int | None:
        said = [n for r in self._read if (n := r.n_asked or r.n_topics) is not None]
        return max(said, default=None)

    @property
    def _n_unanswered(self) -> int:
        """Number of topics that no run answered, without rows in the file."""
        return max(0, (self._n_said or 0) - len(self.topics))


def _note(n_topics: Mapping[str, int | None], *, is_other: bool) -> str | None:
    """Return a note on the topics behind run scores.

    Args:
        is_other: whether the files have no common topic.
    """
    human, judged, shared = (n_topics[name] for name in ("human", "judged", "shared"))
    if human is not None and human == judged and not is_other and shared in (None, human):
        return None
    counts = ["unknown" if n is None else f"{n:,}" for n in (human, judged)]
    both = f"human {counts[0]}, judged {counts[1]}"
    if shared is not None:
        return f"runs: means over the {shared:,} common topics; {both}"
    return f"run scores {'are' if is_other else 'may be'} over different topics: {both}"
