"""How far two sets of judgements, or two sets of scores, agree: a judge against people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from ..metrics import agreement, taus
from ..records.cells import Cell, LabelFile
from ..records.kinds import file_kind
from ..records.labels import read_labels
from ..records.problems import InputError, Problems
from ..records.rows import ScoreRow
from ..records.scores import read_scores

# The file of a results folder that holds judgements of a kind.
_FILES = {
    "nuggets": "assignments.jsonl",
    "support": "support.jsonl",
    "relevance": "relevance.jsonl",
    "scores": "scores.jsonl",
}


def agree(
    human: Path,
    judged: Path,
    problems: Problems,
    where: Mapping[str, Sequence[str]] | None = None,
    kind: str | None = None,
) -> dict[str, Any]:
    """Compare two files cell by cell on their ids.

    Args:
        human: the file taken as the truth: labels of any layout, or scores; or a results folder
            of `judge run`, of which the file is taken that is like the other.
        judged: the other file or folder.
        where: read only those rows of `human` whose fields have one of these values.
        kind: what to compare of folders: nuggets, support, relevance or scores. Of two folders
            it is otherwise the first of nuggets, support, relevance that both have.

    Returns: for labels, the fields of `Agreement` and how many cells only one side has; for
        scores, `measures` with the three taus of each measure that both sides have. Run names
        with and without a team prefix (`team.run`) are matched where that is unambiguous, and
        `run_aliases` lists them.
    Raises: InputError if nothing can be compared.
    """
    if kind is not None and kind not in _FILES:
        raise InputError(f"--kind {kind}: wanted one of {', '.join(_FILES)}")
    if human.is_dir() or judged.is_dir():
        kind = kind or _kind_of_both(human, judged, where or {})
        human, judged = _in_folder(human, kind), _in_folder(judged, kind)
    if file_kind(human) == "scores":
        return _agree_scores(human, judged, problems)
    truth = _chosen(human, problems, where or {})
    other = read_labels(judged, problems)
    problems.raise_errors()
    if truth.key_names != other.key_names:
        keys = " and ".join(", ".join(f.key_names) for f in (truth, other))
        raise InputError(f"{human} and {judged}: labels of different things ({keys})")
    return _agree_labels(truth, other, human, judged)


def _agree_labels(truth: LabelFile, other: LabelFile, human: Path, judged: Path) -> dict[str, Any]:
    cells, aliases = dict(other.cells), {}
    if "run_id" in truth.key_names:
        at = truth.key_names.index("run_id")
        aliases = _aliases({cell[at] for cell in truth.cells}, {cell[at] for cell in cells})
        cells = {_renamed(cell, at, aliases): label for cell, label in cells.items()}
    shared = sorted(truth.cells.keys() & cells.keys())
    if not shared:
        raise InputError(f"{human} and {judged}: no cell in common{_why_none(truth, cells)}")
    scale = _joint_scale(truth.scale, other.scale)
    pairs = agreement([truth.cells[c] for c in shared], [cells[c] for c in shared], scale)
    return {
        "kind": truth.kind,
        **pairs.as_dict(),
        "n_human_only": len(truth.cells) - len(shared),
        "n_judged_only": len(cells) - len(shared),
        "n_human_unlabelled": truth.n_unlabelled,
        "n_judged_unlabelled": other.n_unlabelled,
        "run_aliases": aliases,
    }


def _why_none(truth: LabelFile, judged: Collection[Cell]) -> str:
    n_ids = len(truth.key_names) - 1
    if truth.kind == "nuggets" and {c[:n_ids] for c in truth.cells} & {c[:n_ids] for c in judged}:
        how = "judge with --nuggets and the bank of the first"
        return f", for they hold different nuggets for the same answers; {how}"
    return "; do their ids agree?"


def _chosen(path: Path, problems: Problems, where: Mapping[str, Sequence[str]]) -> LabelFile:
    """The labels of the rows that have one of the values in each field."""
    picks = [dict(zip(where, values, strict=True)) for values in product(*where.values())]
    first, *more = [read_labels(path, problems, pick) for pick in picks]
    if not more:
        return first
    scale, cells, annotations = first.scale, dict(first.cells), dict(first.annotations)
    for found in more:
        scale = _joint_scale(scale, found.scale)
        for cell, label in found.cells.items():
            if cells.setdefault(cell, label) != label:
                names = " and ".join(", ".join(f"{k}={v}" for k, v in p.items()) for p in picks)
                what = f"cell {' '.join(cell)} has different labels in {names}, wanted one label"
                problems.error(path, 0, "duplicate_cell", what)
        for cell, labels in found.annotations.items():
            annotations[cell] = {**annotations.get(cell, {}), **labels}
    n_unlabelled = first.n_unlabelled + sum(found.n_unlabelled for found in more)
    return replace(
        first, scale=scale, cells=cells, annotations=annotations, n_unlabelled=n_unlabelled
    )


def _agree_scores(human: Path, judged: Path, problems: Problems) -> dict[str, Any]:
    truth, other = read_scores(human, problems), read_scores(judged, problems)
    problems.raise_errors()
    aliases = _aliases({row.run_id for row in truth}, {row.run_id for row in other})
    other = [r.model_copy(update={"run_id": aliases.get(r.run_id, r.run_id)}) for r in other]
    names = {row.measure for row in other}
    shared = [m for m in dict.fromkeys(row.measure for row in truth) if m in names]
    if not shared:
        raise InputError(f"{human} and {judged}: no measure in common")
    found = {}
    for measure in shared:
        (truth_cells, truth_runs), (cells, runs) = _values(truth, measure), _values(other, measure)
        result = taus(truth_cells, cells, truth_runs=truth_runs, judged_runs=runs)
        found[measure] = result.as_dict()
    return {"kind": "scores", "measures": found, "run_aliases": aliases}


def _values(
    rows: list[ScoreRow], measure: str
) -> tuple[dict[tuple[str, str], float], dict[str, float]]:
    """Values by (run, topic), and the means by run: those in the file, else over its topics."""
    chosen = [row for row in rows if row.measure == measure and row.value is not None]
    cells = {(r.run_id, r.topic_id): r.value or 0.0 for r in chosen if r.topic_id != "all"}
    means = {row.run_id: row.value or 0.0 for row in chosen if row.topic_id == "all"}
    if not means:
        topics = {topic for _, topic in cells}
        for run in {run for run, _ in cells}:
            means[run] = sum(cells.get((run, topic), 0.0) for topic in topics) / len(topics)
    return cells, means


def _aliases(truth: Collection[str], judged: Collection[str]) -> dict[str, str]:
    """Judged run -> true run, where one is the other behind a team prefix and no other fits."""
    found: dict[str, str] = {}
    missing = sorted(set(truth) - set(judged))
    for name in sorted(set(judged) - set(truth)):
        fits = [t for t in missing if name.endswith(f".{t}") or t.endswith(f".{name}")]
        if len(fits) == 1:
            found[name] = fits[0]
    taken = list(found.values())
    return {name: run for name, run in found.items() if taken.count(run) == 1}


def _renamed(cell: Cell, at: int, aliases: Mapping[str, str]) -> Cell:
    return (*cell[:at], aliases.get(cell[at], cell[at]), *cell[at + 1 :])


def _joint_scale(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return longer if set(shorter) <= set(longer) else tuple(dict.fromkeys((*one, *other)))


def _kind_of_both(human: Path, judged: Path, where: Mapping[str, Sequence[str]]) -> str:
    if human.is_dir() and judged.is_dir():
        for kind in ("nuggets", "support", "relevance"):
            if all((folder / _FILES[kind]).is_file() for folder in (human, judged)):
                return kind
        raise InputError(
            f"{human} and {judged}: no judgements of one kind; for scores --kind scores"
        )
    path = judged if human.is_dir() else human
    if file_kind(path) == "scores":
        return "scores"
    return _chosen(path, Problems(), {} if human.is_dir() else where).kind


def _in_folder(path: Path, kind: str) -> Path:
    if not path.is_dir():
        return path
    name = _FILES.get(kind)
    if name is None or not (path / name).is_file():
        raise InputError(f"{path}: has no {name or kind} to compare with")
    return path / name
