"""`judge compare`: compare runs, or two judges of the same answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

from ...metrics import kendall_tau
from ...metrics.inference import Draws
from ...records.kinds import Cell, LabelFile, file_kind
from ...records.labels import read_labels, rename_runs, with_run_names
from ...records.reading.problems import InputError, Problems, did_you_mean
from ..engine.manifest import read_manifest
from ..engine.results import MANIFEST
from ..protocols.judged_files import (
    are_ordered,
    find_file_scale,
    find_judged_file,
    list_judged_kinds,
)
from ..protocols.program import Folder
from ..protocols.scoreboard import Scoreboard
from ..protocols.table import programs
from .agree import agree
from .cell_texts import REMARKS, cell_texts
from .compare_runs import DRAWS, compare_runs

WAYS = ("runs", "judges")


def compare(
    one: Path,
    other: Path | None,
    problems: Problems,
    *,
    way: str | None = None,
    runs: Sequence[str] = (),
    measures: Sequence[str] = (),
    kind: str | None = None,
    **draws: Unpack[Draws],
) -> dict[str, Any]:
    """Compare runs or judges.

    Args:
        one, other: results folders, files of judgements, or files of scores by topic; without
            `other`, the runs in `one` are compared.
        way: runs or judges. Default: judges, if both have labels of the same items, unless both
            are folders of the same judge on other inputs (runs that changed and kept their
            names); runs, if there are no common items and run names differ.
        runs, measures, draws: see `compare_runs`.
        kind: for two folders, the judgements to compare: nuggets, support, relevance, ratings or
            keypoints.

    Returns: what `compare_runs` or `compare_judges` returns; `compared` says which.
    Raises: InputError with the reason why it is neither.
    """
    if way not in (None, *WAYS):
        raise InputError(f"--as {way}: wanted {' or '.join(WAYS)}")
    options: Draws = {**DRAWS, **draws}
    level, resamples = options["level"], options["resamples"]
    if not 0 < level < 1:
        raise InputError(f"--level {level:g}: wanted a number between 0 and 1, such as 0.95")
    if resamples < 1:
        raise InputError(f"resamples {resamples}: wanted at least 1")
    if kind not in (None, *list_judged_kinds()):
        known = list_judged_kinds()
        wanted = f"wanted one of {', '.join(known)}{did_you_mean(str(kind), known)}"
        raise InputError(f"--kind {kind}: {wanted}")
    sources = [one] if other is None else [one, other]
    as_judges = way == "judges" or (way is None and not runs and not _same_judge(sources))
    if other is None and way == "judges":
        raise InputError(f"{one}: has one judge, wanted two files or folders to compare")
    why_not = ""
    if other is not None and as_judges:
        own_problems = Problems()  # kept for a comparison of judges
        try:
            compared = compare_judges(one, other, own_problems, kind=kind, **options)
        except InputError as error:
            if way is not None:
                raise
            why_not = str(error)
        else:
            problems.rows += own_problems.rows
            return compared
    try:
        compared = compare_runs(sources, problems, runs=runs, measures=measures, **options)
    except InputError as error:
        if not why_not or str(error) == why_not:
            raise
        raise InputError(f"as judges: {why_not}\nas runs: {error}") from None
    if why_not and compared["runs_in_both"]:
        what = "both have runs with the same names; --as runs compares them anyway"
        raise InputError(f"{why_not}\n{what}")
    return compared


def _same_judge(sources: Sequence[Path]) -> bool:
    """Whether both are folders that one judge wrote, on other inputs."""
    if len(sources) < 2 or not all(path.is_dir() for path in sources):
        return False
    first, second = map(read_manifest, sources)
    inputs = [sorted(manifest.get("inputs", {}).values()) for manifest in (first, second)]
    return first.get("judges") == second.get("judges") and inputs[0] != inputs[1]


Labels = Mapping[Cell, str]


def compare_judges(
    one: Path,
    other: Path,
    problems: Problems,
    kind: str | None = None,
    **draws: Unpack[Draws],
) -> dict[str, Any]:
    """Compare the labels that two judges gave to the same cells.

    Args:
        one, other: results folders or files of labels.
        kind: of two folders, the judgements to compare: nuggets, support, relevance, ratings or
            keypoints.
        draws: of the intervals of agreement, which draw topics.

    Returns:
        agreement: what `agree` returns, `one` as the truth.
        conditions: number of labels of `one` that people gave under each condition; {}: none.
        n_flips, flip_counts: items whose labels differ, by label of `one` -> label of `other`.
        flips: these items, largest difference first, or by ids if labels have no order: ids,
            both labels, explanations of both, texts.
        ranking: by measure, the runs' scores under both judges on common items, Kendall's
            tau-b, and neighbours under `one` that swap under `other`. None unless a file has
            nugget assignments, citation support or entailments.
        cost: calls, tokens and dollars of both folders and the ratio per judgement; else None.
        Raises: InputError if there is no common item.
    """
    agreement = agree(one, other, problems, kind=kind, **draws)
    kind = agreement["kind"]
    if kind == "scores":
        raise InputError(
            f"{one} and {other}: scores, not judgements; use judge agree to compare scores"
        )
    # `agree` has read both files and listed their problems.
    scale = find_file_scale(one, other, kind=kind)
    files = [
        read_labels(find_judged_file(path, kind), Problems(), scale=scale) for path in (one, other)
    ]
    aliases = agreement["run_aliases"]
    files[1] = with_run_names(files[1], aliases)
    truth, judged = (file.cells for file in files)
    rank = {label: i for i, label in enumerate(agreement["scale"])}
    flips = [c for c in sorted(truth.keys() & judged.keys()) if truth[c] != judged[c]]
    if are_ordered(files[0].kind, agreement["scale"], one, other):
        flips.sort(key=lambda cell: -abs(rank[truth[cell]] - rank[judged[cell]]))
    counts = Counter((truth[cell], judged[cell]) for cell in flips)
    return {
        "compared": "judges",
        "kind": kind,
        "agreement": agreement,
        "conditions": files[0].conditions,
        "n_flips": len(flips),
        "flip_counts": [
            {"label": label, "other_label": other_label, "n": n}
            for (label, other_label), n in sorted(counts.items(), key=lambda item: -item[1])
        ],
        "flips": _flip_rows(flips, (one, other), files, aliases, problems) if flips else [],
        "ranking": _ranking((one, other), files, aliases),
        "cost": _cost(one, other),
    }


def _flip_rows(
    flips: Sequence[Cell],
    paths: tuple[Path, Path],
    files: Sequence[LabelFile],
    aliases: Mapping[str, str],
    problems: Problems,
) -> list[dict[str, Any]]:
    first, second = files
    back = {run: name for name, run in aliases.items()}
    named = [rename_runs(cell, second.key_names, back) for cell in flips]
    texts = cell_texts(paths[0], first.kind, flips, problems)
    other_texts = cell_texts(paths[1], second.kind, named, problems)
    rows = []
    for cell, other_cell in zip(flips, named, strict=True):
        one, other = texts[cell], other_texts[other_cell]
        row: dict[str, Any] = dict(zip(first.key_names, cell, strict=True))
        row |= {"label": first.cells[cell], "other_label": second.cells[cell]}
        for remark in REMARKS:
            if remark in one or remark in other:
                row |= {remark: one.get(remark), f"other_{remark}": other.get(remark)}
        for side, file in (("", first), ("other_", second)):
            for name, values in (("annotations", file.annotations), ("score", file.scores)):
                if cell in values:
                    row[f"{side}{name}"] = values[cell]
        rows.append(row | {k: v for k, v in (other | one).items() if k not in REMARKS})
    return rows


def _ranking(
    paths: tuple[Path, Path], files: Sequence[LabelFile], aliases: Mapping[str, str]
) -> dict[str, Any] | None:
    shared = files[0].cells.keys() & files[1].cells.keys()
    failed = [
        (aliases.get(run, run) if path == paths[1] else run, topic)
        for path in paths
        if (path / MANIFEST).is_file()
        for run, topic in Folder(path, Problems()).failed
    ]
    for path, of_file in zip(paths, ({}, aliases), strict=True):
        file = find_judged_file(path, files[0].kind)
        back = {run: name for name, run in of_file.items()}
        cells = {cell: rename_runs(cell, files[0].key_names, back) for cell in shared}
        lost = [(back.get(run, run), topic) for run, topic in failed]
        boards = [
            _means(file, {cells[c]: one.cells[c] for c in shared}, of_file, lost) for one in files
        ]
        if boards[0] is not None and boards[1] is not None:
            return _orders([boards[0], boards[1]])
    return None


def _means(
    file: Path, labels: Labels, aliases: Mapping[str, str], failed: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], float | None] | None:
    """Return the mean of each measure and run under these labels; None without scores.

    Args:
        failed: (run, topic) of answers that one of the judges did not get.
    """
    kind, board = file_kind(file), Scoreboard({cell[0] for cell in labels})
    board.mark_failed(failed)
    for program in programs():
        if program.file_kind == kind and program.relabel(file, labels, board):
            rows = (row for row in board.rows() if row.topic_id == "all")
            return {(row.measure, aliases.get(row.run_id, row.run_id)): row.value for row in rows}
    return None


def _orders(boards: Sequence[Mapping[tuple[str, str], float | None]]) -> dict[str, Any]:
    measures = dict.fromkeys(measure for measure, _ in boards[0])
    orders = {measure: _order(measure, boards) for measure in measures}
    return {measure: row for measure, row in orders.items() if row["scores"]}


def _order(
    measure: str, boards: Sequence[Mapping[tuple[str, str], float | None]]
) -> dict[str, Any]:
    """Return both judges' scores of runs, best first by the first judge, and the swaps."""
    pairs: list[tuple[str, float, float]] = []
    for (name, run), value in boards[0].items():
        other = boards[1][name, run]
        if name == measure and value is not None and other is not None:
            pairs.append((run, value, other))
    pairs.sort(key=lambda row: (-row[1], row[0]))
    return {
        "tau_b": kendall_tau([row[1] for row in pairs], [row[2] for row in pairs]),
        "n_runs": len(pairs),
        "swaps": [
            [upper[0], lower[0]]
            for upper, lower in pairwise(pairs)
            if upper[1] > lower[1] and upper[2] < lower[2]
        ],
        "scores": [{"run_id": r, "score": x, "other_score": y} for r, x, y in pairs],
    }


def _cost(one: Path, other: Path) -> dict[str, Any] | None:
    """Return calls, tokens and dollars of both folders, and the ratio per judgement.

    Calls include cached ones, if the manifest has them. Tokens and dollars are those of the last
    start; they are unknown if replies came from the cache or an earlier start, or if a price is
    unknown.
    """
    if not (one.is_dir() and other.is_dir()):
        return None
    first, second = map(read_manifest, (one, other))
    spent = [_read_spending(manifest) for manifest in (first, second)]
    same_work = first["config"]["program"] == second["config"]["program"]
    n_mine, n_theirs = (s["n_judgements"] or 1 for s in spent)
    ratio: dict[str, float | None] = dict.fromkeys(("calls", "tokens", "dollars"))
    for name in ratio if same_work else ():
        mine, theirs = (s[name] for s in spent)
        if mine and theirs is not None:
            ratio[name] = (theirs / n_theirs) / (mine / n_mine)
    return {"one": spent[0], "other": spent[1], "ratio_per_judgement": ratio}


def _read_spending(manifest: Mapping[str, Any]) -> dict[str, Any]:
    last, counted = manifest.get("this_time", {}), manifest.get("tokens", {})
    tokens = counted.get("prompt", 0) + counted.get("completion", 0)
    is_whole = not last.get("cache_hits") and (last.get("tokens") or 0) >= tokens
    n = sum(manifest["judged"].values()) + sum(manifest["unjudged"].values())
    requests = last.get("requests") if is_whole else None
    return {
        "n_judgements": n,
        "calls": sum(manifest["calls"].values()) if "calls" in manifest else requests,
        "tokens": tokens if not last.get("cache_hits") else None,
        "dollars": last.get("cost") if is_whole else None,
    }
