"""How far two sets of judgements, or two sets of scores, agree: a judge against people."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
    human: Path, judged: Path, problems: Problems, where: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Compare two files cell by cell on their ids.

    Args:
        human: the file taken as the truth: labels of any layout, or scores.
        judged: the other file, or a results folder of `judge run`.
        where: read only those rows of `human` whose fields have these values.

    Returns: for labels, the fields of `Agreement` and how many cells only one side has; for
        scores, `measures` with the three taus of each measure that both sides have. Run names
        with and without a team prefix (`team.run`) are matched where that is unambiguous, and
        `run_aliases` lists them.
    Raises: InputError if nothing can be compared.
    """
    if file_kind(human) == "scores":
        return _agree_scores(human, _in_folder(judged, "scores"), problems)
    truth = read_labels(human, problems, where)
    other = read_labels(_in_folder(judged, truth.kind), problems)
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
        raise InputError(f"{human} and {judged}: no cell in common; do their ids agree?")
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


def _in_folder(path: Path, kind: str) -> Path:
    if not path.is_dir():
        return path
    name = _FILES.get(kind)
    if name is None or not (path / name).is_file():
        raise InputError(f"{path}: has no {name or kind} to compare with")
    return path / name
