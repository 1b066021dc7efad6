"""What the judge decides of the order of runs: two judges of the same topics, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Unpack

from ....backends.presets import family
from ....metrics import kendall_tau
from ....metrics.bootstrap import Draws
from ....metrics.label_agreement import cohen_kappas
from ....records.labels.cells import LabelFile
from ....records.labels.labels import read_labels
from ....records.reading.problems import InputError, Problems
from ...engine.manifest import read_manifest
from ...protocols.judged_files import judged_file, scale_of
from ...protocols.program import Folder
from ...protocols.table import chosen
from ...scoring.topic_scores import TopicScores, topic_scores
from ..compare_judges import compare_judges
from ..compare_runs import compare_scores

TOP = (5, 10, 20)  # ranks of a leaderboard that are read
_LEXICAL = "lexical"


def audit(
    results: Path, again: Path, problems: Problems, **draws: Unpack[Draws]
) -> list[dict[str, Any]]:
    """Hold the runs' order by one judge against that by another, program by program.

    Args:
        results: as judged first. again: the same runs on some of its topics, by another judge.

    Returns: of each program that both have its `agreement` (see `agree`; the first judge as the
        truth) and `cost`, its `runs` with both scores over the topics that both judged, ranks and
        agreement of each, `tau_b`, and what changes in the top 5, 10 and 20, of fewer runs in all.
    Raises: InputError if nothing was judged by both.
    """
    first, second = Folder(results, problems), Folder(again, Problems())
    names = [name for name in first.programs if name in second.programs]
    scores = [topic_scores(path, problems) for path in (results, again)]
    rows = []
    for program in chosen(names):
        shared = scores[0].values.keys() & scores[1].values.keys()
        measure = next((each for each in program.shown if each in shared), None)
        if measure is not None and first.file(program.judged) is not None:
            row = _of_program(program.kind, measure, scores, (results, again), draws)
            rows.append({"program": program.name, **row})
    if not rows:
        raise InputError(f"{results} and {again}: no program in common that orders runs")
    return rows


def families(results: Path, models: Sequence[str]) -> tuple[list[str], list[str]]:
    """The families of who judged a folder, and of those who judge again, each once."""
    identities = read_manifest(results).get("judges", {}).values()
    before = [of["model"]["model"] for of in identities if isinstance(of.get("model"), dict)]
    return [list(dict.fromkeys(map(family, names))) for names in (before, models)]  # type: ignore[return-value]


def family_warning(before: Sequence[str], now: Sequence[str]) -> str:
    """A warning where the other judge is not another; "" where it is."""
    if same := [name for name in now if name in before and name != _LEXICAL]:
        what = f"both judges are of the family {same[0]}: what they err on together is not seen"
        return f"{what}; name a model of another (--model)"
    if _LEXICAL in (*before, *now):
        return "one judge is word overlap, which reads nothing: what changes may be its errors"
    return "" if before else "nobody knows who judged first: the families may be the same"


def _of_program(
    kind: str,
    measure: str,
    scores: Sequence[TopicScores],
    paths: tuple[Path, Path],
    draws: Draws,
) -> dict[str, Any]:
    judged_topics = [set(one.topics[measure]) for one in scores]
    topics = [
        topic for topic in scores[0].topics[measure] if topic in judged_topics[0] & judged_topics[1]
    ]
    runs = [run for run in scores[0].values[measure] if run in scores[1].values[measure]]
    boards = [
        compare_scores(_only(one, other, measure, topics, runs), measure, **draws)
        for one, other in (scores, scores[::-1])
    ]
    judges = compare_judges(*paths, Problems(), kind, **draws)
    orders = [[row["run_id"] for row in of["runs"] if row["mean"] is not None] for of in boards]
    both = [run for run in orders[0] if run in orders[1]]
    ranks = [
        {run: i + 1 for i, run in enumerate(r for r in order if r in both)} for order in orders
    ]
    means = [{row["run_id"]: row for row in board["runs"]} for board in boards]
    apart = [_apart(board) for board in boards]
    tops = [k for k in TOP if k < len(both)] + [len(both)] * (len(both) <= TOP[-1])
    return {
        "measure": measure,
        "kind": kind,
        "n_topics": len(topics),
        "agreement": judges["agreement"],
        "cost": judges["cost"],
        "tau_b": kendall_tau(*([of[run]["mean"] for run in both] for of in means)),
        "runs": list(_runs(both, means, ranks, _agreements(paths, kind))),
        "top": [_top(k, both, ranks, apart) for k in tops],
    }


def _only(
    scores: TopicScores,
    other: TopicScores,
    measure: str,
    topics: Sequence[str],
    runs: Sequence[str],
) -> TopicScores:
    """One measure of these runs on these topics, without values that the other judge lacks."""
    values, rows = scores.values[measure], scores.rows[measure]
    lacks = {
        (run, topic)
        for run, of_run in other.values[measure].items()
        for topic, value in of_run.items()
        if value is None
    }
    both = {
        run: {topic: None if (run, topic) in lacks else v for topic, v in values[run].items()}
        for run in runs
    }
    return replace(
        scores,
        values={measure: both},
        topics={measure: topics},
        rows={measure: {run: rows[run] for run in runs}},
    )


def _apart(board: Mapping[str, Any]) -> dict[frozenset[str], bool | None]:
    return {
        frozenset((row["run_id"], row["other_run_id"])): row["is_told_apart"]
        for row in board["pairs"]
    }


def _top(
    k: int,
    runs: Sequence[str],
    ranks: Sequence[Mapping[str, int]],
    apart: Sequence[Mapping[frozenset[str], bool | None]],
) -> dict[str, Any]:
    """What the other judge changes among the first k runs of either.

    A pair that changes ranks matters where a judge tells the two apart on these topics; where
    neither does, their order was chance to begin with.
    """
    tops = [[run for run in runs if of[run] <= k] for of in ranks]
    union = [run for run in runs if run in tops[0] or run in tops[1]]
    swapped = [
        (one, other)
        for one, other in combinations(union, 2)
        if (ranks[0][one] < ranks[0][other]) != (ranks[1][one] < ranks[1][other])
    ]
    beyond_chance = [list(pair) for pair in swapped if any(of.get(frozenset(pair)) for of in apart)]
    moves = {run: ranks[1][run] - ranks[0][run] for run in union}
    return {
        "k": k,
        "leave": [run for run in tops[0] if run not in tops[1]],
        "enter": [run for run in tops[1] if run not in tops[0]],
        "most_places": max(map(abs, moves.values()), default=0),
        "n_pairs": len(union) * (len(union) - 1) // 2,
        "n_swapped": len(swapped),
        "n_beyond_chance": len(beyond_chance),
        "beyond_chance": beyond_chance,
    }


def _agreements(paths: tuple[Path, Path], kind: str) -> dict[str, dict[str, Any]]:
    """By run, of the cells that both judges labelled: how many, the share alike, kappa."""
    scale = scale_of(*paths, kind=kind)
    files: list[LabelFile] = [
        read_labels(judged_file(path, kind), Problems(), scale=scale) for path in paths
    ]
    of_runs = [i for i, n in enumerate(files[0].key_names) if n in ("run_id", "opponent_id")]
    by_run: dict[str, list[tuple[str, str]]] = {}
    for cell, label in files[0].cells.items():
        if (other := files[1].cells.get(cell)) is not None:
            for at in of_runs:  # a battle is of two
                by_run.setdefault(cell[at], []).append((label, other))
    labels = dict.fromkeys([*files[0].scale, *files[1].scale])
    return {
        run: {
            "n": len(pairs),
            "accuracy": sum(one == other for one, other in pairs) / len(pairs),
            "kappa": cohen_kappas([a for a, _ in pairs], [b for _, b in pairs], list(labels))[
                "unweighted"
            ],
        }
        for run, pairs in by_run.items()
    }


def _runs(
    runs: Sequence[str],
    means: Sequence[Mapping[str, Mapping[str, Any]]],
    ranks: Sequence[Mapping[str, int]],
    agreements: Mapping[str, Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    for run in runs:
        bounds = {name: [of[run][name] for of in means] for name in ("mean", "low", "high")}
        yield {
            "run_id": run,
            **{f"{'other_' * i}{name}": of[i] for name, of in bounds.items() for i in (0, 1)},
            "rank": ranks[0][run],
            "other_rank": ranks[1][run],
            **{name: agreements.get(run, {}).get(name) for name in ("n", "accuracy", "kappa")},
        }
