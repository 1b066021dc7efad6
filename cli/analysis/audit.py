"""`judge audit`: would another judge order the runs in the same way?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..flags import Given, settings
from ..options import AsJson, DryRun, Level, Quiet, Seed, planned, print_result
from ..signatures import Folder, Positive, Takes
from ..stopping import INCOMPLETE, is_whole, list_problems, unless_stopped
from ..tables import aligned, cell, figure, interval, money, percent, shown, spent_line, write_note

_SHOWN = 3  # pairs of runs named of each top
_FEW = 20  # topics
Several = Annotated[int, Takes(min=2)]


@settings(
    "data.passages run.max_cost run.max_calls run.max_tokens run.offline run.cache run.out "
    "run.force run.allow_missing"
)
def audit(
    given: Given,
    results: Folder,
    *,
    sample: Several | None = None,
    seed: Seed = 0,
    resamples: Positive = 10000,
    level: Level = 0.95,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Judge a sample again by a judge of another family, and show where the order of runs changes.

    Example: judge audit results/demo --model preset:qwen3-8b --sample 30

    Exit: 0 complete, 2 usage or input, 3 some not judged.

    Args:
        results: A results folder of several runs.
        sample: Topics that are drawn and judged again; else all.
        resamples: Samples drawn for p and interval.
    """
    from ...programs.analysis.audit.audit import audit as audit_results
    from ...programs.analysis.audit.audit import families, family_warning
    from ...programs.analysis.audit.sample import audit_sections
    from ...programs.engine.manifest import read_manifest
    from ...programs.run import forecast, judge_collection, models_asked
    from ...records.reading.problems import InputError, Problems

    if given.model is None and given.path is None:
        raise InputError("name the other judge (--model, or --config with models:)")
    out = Path(given.flags.get("run.out") or f"{results}-audit")
    if out.resolve() == results.resolve():
        raise InputError(f"{out}: is the results folder; name another --out")
    sections = audit_sections(results, out, sample, seed)
    own = {name: value for name, value in sections.items() if name != "run"}
    own |= {f"run.{name}": value for name, value in sections["run"].items()}
    config = given.config(under=own)
    before, now = families(results, [model.model for _, model in models_asked(config)])
    warning = family_warning(before, now)
    if warning:
        write_note(f"Warning: {warning}.\n")
    if dry_run:
        planned(forecast(config).judges, as_json=as_json)
        return
    unless_stopped(lambda: judge_collection(config, quiet=quiet), "What was judged is kept", out)
    problems = Problems()
    draws: dict[str, Any] = {"resamples": resamples, "seed": seed, "level": level}
    audited = audit_results(results, out, problems, **draws)
    manifest = read_manifest(out)
    about = {"families": [before, now], "warning": warning, "level": level}
    n_of = len(read_manifest(results)["data"]["topic_ids"])
    blocks = ["\n".join(_lines(row, n_of, (before, now), level)) + "\n" for row in audited]
    blocks.append("".join(f"{line}\n" for line in _cost(audited[0]["cost"])))  # of all programs
    rows = ({**about, **row} for row in audited)
    print_result(rows, lambda: shown("\n".join(blocks)), as_json=as_json)
    list_problems(problems)
    missing = sum(manifest["unjudged"].values())
    lost = f"{missing:,} judgements did not arrive and are no score\n" if missing else ""
    write_note(f"{lost}{spent_line(manifest['this_time'])}\nResults: {out}\n")
    if not is_whole(manifest, config.run.allow_missing):
        raise typer.Exit(INCOMPLETE)


def _lines(
    row: Mapping[str, Any], n_of: int, who: tuple[Sequence[str], Sequence[str]], level: float
) -> Iterator[str]:
    first, second = (", ".join(names) or "unknown" for names in who)
    agreed = row["agreement"]
    kappa = agreed["intervals"]["cohen_kappa"]["unweighted"]
    bounds = interval(kappa["low"], kappa["high"], none="[- -]")
    yield f"{row['program']} by {cell(row['measure'])}: {cell(first)} and {cell(second)}, "\
        f"{row['n_topics']:,} of {n_of:,} topics, {len(row['runs']):,} runs"  # fmt: skip
    yield (
        f"{agreed['n']:,} judgements by both: {agreed['accuracy']:.1%} alike, "
        f"kappa {figure(kappa['value'])} {bounds}; order of runs: tau-b {figure(row['tau_b'])}"
    )
    yield ""
    header = ["run", "place", "other", "first judge", "other judge", "labels", "alike", "kappa"]
    table = [header]
    for run in row["runs"]:
        moved = run["other_rank"] - run["rank"]
        table.append(
            [
                cell(run["run_id"], 40),
                str(run["rank"]),
                f"{run['other_rank']}" + (f" ({-moved:+d})" if moved else ""),
                *(_mean(run, side) for side in ("", "other_")),
                f"{run['n'] or 0:,}",
                percent(run["accuracy"]),
                figure(run["kappa"]),
            ]
        )
    yield aligned(table).rstrip("\n")
    yield ""
    yield from _tops(row["top"], level)
    if row["n_topics"] < _FEW:
        yield f"{row['n_topics']} topics are few: that nothing changes beyond chance says little."


def _mean(run: Mapping[str, Any], side: str) -> str:
    mean, low, high = (run[f"{side}{name}"] for name in ("mean", "low", "high"))
    return f"{figure(mean)} {interval(low, high, none='')}".rstrip()


def _tops(tops: Sequence[Mapping[str, Any]], level: float) -> Iterator[str]:
    table = [["top", "leave", "most places", "pairs", "change order", "beyond chance"]]
    names = ("most_places", "n_pairs", "n_swapped", "n_beyond_chance")
    for top in tops:
        table.append([f"{top['k']}", f"{len(top['leave'])}", *(f"{top[name]}" for name in names)])
    yield aligned(table).rstrip("\n")
    yield f"beyond chance: pairs that one of the judges tells apart (p < {1 - level:.2g})"
    last = tops[-1]["beyond_chance"]
    for one, other in last[:_SHOWN]:
        yield f"  {cell(one)} before {cell(other)} by the first judge, after it by the other"
    if len(last) > _SHOWN:
        yield f"  and {len(last) - _SHOWN:,} more"


def _cost(cost: Mapping[str, Any] | None) -> Iterator[str]:
    if cost is None:
        return
    amounts = []
    for name in ("one", "other"):
        calls, dollars = cost[name]["calls"], cost[name]["dollars"]
        n = "unknown calls" if calls is None else f"{calls:,} calls"
        amounts.append(f"{n}, {money(dollars)}" if dollars is not None else n)
    yield f"cost: {amounts[0]} at first, {amounts[1]} for the sample"
