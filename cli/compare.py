"""`judge compare`: two runs, a leaderboard, or two judges."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..records.reading.problems import InputError, Problems
from .options import AsJson, Kind, Seed, print_result
from .signatures import Positive, Takes, There
from .stopping import list_problems
from .tables import cell, figure, interval, shown, write_note
from .views.differences import answered_of, differences_text
from .views.leaderboards import cut_names

SHOWN_FLIPS = 3  # the others are in the file of --flips
_NAME_CHARS = 40  # of a run on a leaderboard
_FLIP_CHARS = 200  # of each text of a flip that is printed


def compare(
    context: typer.Context,
    one: There,
    others: list[str] | None = None,
    *,
    way: Annotated[str | None, Takes("--as")] = None,
    runs: str | None = None,
    measure: list[str] | None = None,
    kind: Kind = None,
    flips: Path | None = None,
    resamples: Positive = 10000,
    seed: Seed = 0,
    level: float = 0.95,
    as_json: AsJson = False,
) -> None:
    """Test runs against each other by topic, or show where two judges differ.

    Examples: judge compare results/demo complete thin
    / judge compare results/lexical results/gpt --flips flips.jsonl

    Args:
        one: A results folder, judgements, or scores by topic.
        others ([OTHER | RUN RUN]): The other judge's, or with other runs; or two runs of ONE; else
            all its runs.
        way: runs or judges, where it is not as it seems.
        runs: Runs to compare, as one,two; else all.
        measure: Measure to compare by; may be repeated.
        resamples: Samples drawn for p and interval.
        level: Of intervals; p counts below 1 - level.

    Output:
        flips: JSONL file to write the labels that differ to.
    """
    from ..programs.analysis.compare import compare as compare_files
    from ..programs.engine.folders.independence import dependence_of
    from .views.partial import opened

    if flips is not None and flips.exists():
        raise InputError(f"{flips}: is there already; name another file")
    problems = Problems()
    other, chosen = _others(others or [], runs)
    named = [one] if other is None else [one, other]
    one, *second = opened(context, named)
    comparison = compare_files(
        one,
        second[0] if second else None,
        problems,
        way=way,
        runs=chosen,
        measures=measure or (),
        kind=kind,
        resamples=resamples,
        seed=seed,
        level=level,
    )
    if flips is not None:
        if comparison["compared"] == "runs":
            raise InputError(f"--flips {flips}: runs are compared, wanted two judges")
        _write_flips(flips, comparison["flips"])
    is_of_judges = comparison["compared"] == "judges"
    text = partial(_judges_text, flips=flips) if is_of_judges else _runs_text
    print_result([comparison], lambda: shown(text(comparison)), as_json=as_json)
    list_problems(problems)
    notes = dependence_of([one, *second], named)
    if is_of_judges and kind is None:
        notes += _other_kinds(comparison["kind"], [one, *second])
    for note in notes:
        write_note(f"{note}\n")


def _other_kinds(taken: str, paths: list[Path]) -> list[str]:
    """What else both judged, where nobody said what to compare."""
    from ..programs.protocols.judged_files import kinds_in

    if not all(path.is_dir() for path in paths):
        return []
    there = [kinds_in(path) for path in paths]
    rest = [kind for kind in there[0] if kind != taken and all(kind in each for each in there)]
    return [f"Compared: {taken}. Both also judged {', '.join(rest)} (--kind)."] if rest else []


def _others(args: list[str], runs: str | None) -> tuple[Path | None, list[str]]:
    """The other file or folder, and the runs. Raises: InputError for what is neither."""

    names = [name for name in (runs or "").split(",") if name]
    if len(args) == 2 and not names:
        return None, args
    if len(args) > 1:
        raise InputError(f"{' '.join(args)}: wanted one file or folder, or two runs, once")
    if args and not Path(args[0]).exists():
        what = "no such file or folder; to compare two runs name both"
        raise InputError(f"{args[0]}: {what}")
    return (Path(args[0]) if args else None), names


def _write_flips(path: Path, rows: list[dict[str, Any]]) -> None:
    import orjson

    from ..records.writing.files import write_file

    write_file(path, b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))


def _runs_text(comparison: dict[str, Any]) -> str:
    blocks = [
        _leaderboard_text(name, tested, comparison["level"])
        for name, tested in comparison["measures"].items()
        if len(tested["runs"]) > 2
    ]
    pairs = [
        (name, tested)
        for name, tested in comparison["measures"].items()
        if len(tested["runs"]) == 2
    ]
    if pairs:
        blocks.insert(0, _pair_text(pairs, comparison["level"]) + differences_text(comparison))
    return "\n".join(blocks)


def _pair_text(pairs: list[tuple[str, dict[str, Any]]], level: float) -> str:
    from ..programs.analysis.compare_runs import OVER_BOTH, is_over_fewer

    first, second = (cell(run["run_id"]) for run in pairs[0][1]["runs"])
    lines = [
        f"{first} less {second}, by topic, {level:.0%} intervals",
        f"{'measure':<25}{'first':>8}{'second':>8}{'difference':>12}{'interval':>22}{'p':>8}"
        f"{'effect':>8}  won/tied/lost",
    ]
    for name, tested in pairs:
        (row,), (one, other) = tested["pairs"], tested["runs"]
        bounds = interval(row["low"], row["high"], 4, "+", "[- -]")
        lines.append(
            f"{cell(name):<25}{figure(one['mean'], 4):>8} {figure(other['mean'], 4):>7}"
            f"{figure(row['difference'], 4, '+'):>12}{bounds:>22}{_p(row['p']):>8}"
            f"{figure(row['effect_size'], 2, '+'):>8}  {row['wins']}/{row['ties']}/{row['losses']}"
        )
    if any(is_over_fewer(tested, tested["pairs"]) for _, tested in pairs):
        lines.append(OVER_BOTH)
        lines.append("Won, tied and lost add up to the topics on which both have a value.")
    return "\n".join(lines) + "\n"


def _leaderboard_text(name: str, tested: dict[str, Any], level: float) -> str:
    runs, pairs = tested["runs"], tested["pairs"]
    next_of = {row["run_id"]: row for row in pairs if row["are_neighbours"]}
    names = cut_names([cell(run["run_id"]) for run in runs], _NAME_CHARS)
    width = max(map(len, names))
    alpha = 1 - level
    from ..programs.analysis.compare_runs import NOT_ALL_JUDGED, OVER_BOTH, is_over_fewer

    has_hsd = any(row["p_hsd"] is not None for row in pairs)
    lines = [
        f"{cell(name)}: {len(runs)} runs, {tested['n_topics']} topics",
        f"{'run':<{width}}{'mean':>8}   less the next{'interval':>19}{'p':>8}{'Holm':>8}{'HSD':>8}",
    ]
    for run, named in zip(runs, names, strict=True):
        text = f"{named:<{width}}{figure(run['mean'], 4):>8}"
        if row := next_of.get(run["run_id"]):
            bounds = interval(row["low"], row["high"], 4, "+", "[- -]")
            mark = "  =" if row["is_told_apart"] is False else ""
            text += (
                f"{figure(row['difference'], 4, '+'):>16}{bounds:>19}{_p(row['p']):>8}"
                f"{_p(row['p_holm']):>8}{_p(row['p_hsd']):>8}{mark}"
            )
        lines.append(text)
    n_holm = sum(row["p_holm"] is not None and row["p_holm"] < alpha for row in pairs)
    n_hsd = sum(bool(row["is_told_apart"]) for row in pairs)
    n_near = sum(row["is_told_apart"] is False for row in next_of.values())
    if has_hsd:
        what = f"(HSD p >= {alpha:.2g}): {n_near} of {len(next_of)}"
        lines.append(f"=  not told apart from the next one {what}")
        lines.append(f"Pairs told apart: {n_hsd:,} by HSD, {n_holm:,} by Holm, of {len(pairs):,}")
    else:
        lines.append(f"{NOT_ALL_JUDGED}: no pair is marked.")
        lines.append(f"Pairs told apart: {n_holm:,} by Holm, of {len(pairs):,}")
    lines += answered_of(runs, tested["n_topics"])
    if is_over_fewer(tested, next_of.values()):
        lines.append(OVER_BOTH)
    floor = len(pairs) * 2 / 2 ** tested["n_topics"]
    if floor >= alpha:
        lines.append(
            f"{tested['n_topics']} topics are too few for Holm's correction: "
            f"no p of {len(pairs):,} pairs could pass it."
        )
    return "\n".join(lines) + "\n"


def _judges_text(comparison: dict[str, Any], flips: Path | None) -> str:
    agreement = comparison["agreement"]
    n = agreement["n"]
    lines = [
        f"{comparison['kind']}: {n:,} cells with both labels, {comparison['n_flips']:,} differ"
    ]
    intervals = agreement["intervals"]
    kappas = {f"kappa, {name}": row for name, row in intervals["cohen_kappa"].items()}
    for name, row in ({"accuracy": intervals["accuracy"]} | kappas).items():
        drawn = interval(row["low"], row["high"], 4, none="[- -]")
        lines.append(f"{name:<25}{figure(row['value'], 4):>7} {drawn}, {row['n_topics']} topics")
    lines.append("")
    for row in comparison["flip_counts"]:
        lines.append(f"{row['n']:>8,}  {cell(row['label'])} -> {cell(row['other_label'])}")
    for row in comparison["flips"][:SHOWN_FLIPS]:
        lines += [
            "",
            *(
                f"  {name}: {cell(str(value), _FLIP_CHARS)}"
                for name, value in row.items()
                if value is not None
            ),
        ]
    if comparison["n_flips"] > SHOWN_FLIPS:
        where = f"all in {flips}" if flips else "--flips FILE writes all"
        lines += ["", f"... and {comparison['n_flips'] - SHOWN_FLIPS:,} more; {where}"]
    lines += ["", *_ranking_lines(comparison["ranking"]), *_cost_lines(comparison["cost"])]
    return "\n".join(lines).rstrip() + "\n"


def _ranking_lines(ranking: dict[str, Any] | None) -> list[str]:
    if not ranking:
        return ["No runs to rank by these labels."]
    lines = [f"{'ranking by':<25}{'tau-b':>7}{'runs':>6}   neighbours that swap"]
    for name, row in ranking.items():
        swaps = ", ".join(f"{cell(a)} / {cell(b)}" for a, b in row["swaps"][:SHOWN_FLIPS])
        more = len(row["swaps"]) - SHOWN_FLIPS
        swaps = (swaps + (f" and {more} more" if more > 0 else "")) or "none"
        lines.append(f"{cell(name):<25}{figure(row['tau_b'], 4):>7}{row['n_runs']:>6}   {swaps}")
    return lines


def _cost_lines(cost: dict[str, Any] | None) -> list[str]:
    if cost is None:
        return []
    lines = ["", f"{'cost':<25}{'one':>14}{'other':>14}   ratio a judgement"]
    for name, ratio in cost["ratio_per_judgement"].items():
        one, other = (_amount(cost[side][name], name) for side in ("one", "other"))
        lines.append(f"{name:<25}{one:>14}{other:>14}   {figure(ratio, 2)}")
    return lines


def _amount(value: float | None, name: str) -> str:
    if value is None:
        return "unknown"
    return f"${value:.4f}" if name == "dollars" else f"{value:,}"


def _p(value: float | None) -> str:
    return "<.0001" if value is not None and value < 0.0001 else figure(value, 4)
