"""How far two sets of judgements, or two sets of scores, agree: a judge against people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from ...metrics.inference import Draws
from ...records.kinds import file_kind
from ...records.labels import read_labels
from ...records.reading.problems import InputError, Problems
from ..engine.manifest import read_manifest
from ..engine.results import MANIFEST
from ..protocols.judged_files import are_ordered, judged_file, judged_kinds, kinds_in, scale_in
from .agree_labels import agree_annotators, agree_labels
from .agree_scores import agree_scores

SCORES = "scores"
# Figures of several kinds, and those of the kinds that go by how far apart two labels are.
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
    **draws: Unpack[Draws],
) -> dict[str, Any]:
    """Compare two files cell by cell on their ids, or the annotators of one with each other.

    Args:
        human: the file taken as the truth: labels of any layout, or scores; or a results folder
            of `judge run`, of which the file is taken that is like the other.
        judged: the other file or folder; None: compare the annotators of `human`.
        where: read only those rows of `human` whose fields have one of these values.
        kind: what to compare of folders: nuggets, support, relevance, ratings, keypoints, items or
            scores.
            Of two folders it is otherwise the first of these judgements that both have.
        cut: a label, or one for each file: all labels from it on count as positive, those below
            it as negative.
        measures: of scores, the measure of `judged` -> that of `human` it is compared with; None:
            each that both have.
        draws: of the intervals, which draw topics; 0 resamples: no intervals.

    Returns: for labels, the fields of `Agreement`, how many cells only one side has, `intervals`,
        `calls` (of models, and `judgements`, of a folder that a model judged, or None), `cut`,
        `scale_note` (what to beware of where the files may have two scales, or None), and
        `annotators`: None, or
        `among` (the fields of `Reliability`) and `judge`: its mean kappa with each of them and,
        `pooled`, its precision, recall and F1 over every single label. `by_topic` has the n,
        accuracy and Cohen's kappa of each topic, without intervals, which draw topics.
        Weighted figures are None where the labels have no order (`is_ordered`, see
        `are_ordered`). For scores, `measures` with the fields of `Taus`, `intervals`, `run_scores`,
        `run_topics` (how many topics the scores of runs are over: `human`, `judged` in the files,
        and `shared`, or None where they are the files' own) and `note` (what to know of these
        topics, or None) of each measure that both sides have; for one file, `annotators`. Run names
        with and without a team prefix (`team.run`) are matched where that is unambiguous, and
        `run_aliases` lists them.
    Raises: InputError if nothing can be compared, or the labels are not of one scale.
    """
    if kind not in (None, *judged_kinds(), SCORES):
        raise InputError(f"--kind {kind}: wanted one of {', '.join((*judged_kinds(), SCORES))}")
    if judged is None:
        if human.is_dir():
            raise InputError(f"{human}: a folder, wanted a file of labels or a second folder")
        cut_at, _ = _cuts(cut)
        labels = read_labels(human, problems, where, cut=cut_at)
        problems.raise_errors()
        return _by_order(agree_annotators(labels, human, draws) | {"cut": cut[:1] or None}, human)
    paths = (human, judged)
    if human.is_dir() or judged.is_dir():
        kind = kind or _kind_of_both(human, judged, where or {})
        human, judged = _in_folder(human, kind), _in_folder(judged, kind)
    if file_kind(human) == SCORES:
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
    truth = read_labels(human, problems, where, names, cuts[0])
    other = read_labels(judged, problems, scale=names, cut=cuts[1])
    problems.raise_errors()
    comparison = agree_labels(truth, other, human, judged, draws)
    if (
        cut
        and not any(comparison["confusion"][1])
        and not any(row[1] for row in comparison["confusion"])
    ):
        raise InputError(f"--cut {','.join(cut)}: no label of either file reaches it")
    comparison |= {"cut": cuts if cut else None, "calls": _calls(paths[1])}
    return _by_order(comparison, *paths)


def _calls(judged: Path) -> dict[str, int] | None:
    """What a results folder took; None: not known, or no model was asked."""
    manifest = read_manifest(judged) if (judged / MANIFEST).is_file() else {}
    if "calls" not in manifest or manifest.get("answered_by") == ["lexical"]:
        return None
    n = sum(sum(manifest[name].values()) for name in ("judged", "unjudged"))
    return {"calls": sum(manifest["calls"].values()), "judgements": n}


def _cuts(cut: Sequence[str]) -> tuple[str | None, str | None]:
    """Of both files. Raises: InputError for more than two."""
    if len(cut) > 2:
        raise InputError(f"--cut {','.join(cut)}: wanted a label, or HUMAN,JUDGED")
    return (cut[0], cut[-1]) if cut else (None, None)


def _by_order(comparison: dict[str, Any], *paths: Path) -> dict[str, Any]:
    """The comparison; of labels without an order none that goes by how far apart two are.

    Labels and annotators may have the name of such a figure, so those are looked for only
    where they stand.
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


def _kind_of_both(human: Path, judged: Path, where: Mapping[str, Sequence[str]]) -> str:
    if human.is_dir() and judged.is_dir():
        of_other = kinds_in(judged)
        for kind in kinds_in(human):
            if kind in of_other:
                return kind
        raise InputError(
            f"{human} and {judged}: no judgements of one kind; for scores --kind scores"
        )
    path = judged if human.is_dir() else human
    if file_kind(path) == SCORES:
        return SCORES
    return read_labels(path, Problems(), {} if human.is_dir() else where).kind


def _in_folder(path: Path, kind: str) -> Path:
    if kind != SCORES or not path.is_dir():
        return judged_file(path, kind)
    return path / "scores.jsonl"
