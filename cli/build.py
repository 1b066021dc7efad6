"""`judge build`: collections to evaluate with, made from what a user has."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .exits import INCOMPLETE, INTERRUPTED, TERMINATED, Terminated
from .terminal import shown

build = typer.Typer(
    help="Make a collection to evaluate with.", no_args_is_help=True, rich_markup_mode=None
)
SHOWN = 10  # topics that were left out, on stderr


@build.command()
def crux(
    summaries: Annotated[
        Path,
        typer.Argument(exists=True, dir_okay=False, help="JSONL: id, documents (a list), summary."),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the collection; default: run.out of the config.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="What answers, as in judge run; default: lexical.")
    ] = None,
    n_questions: Annotated[
        int | None, typer.Option(help="Sub-questions a topic; default: 15.")
    ] = None,
    eta: Annotated[
        int | None, typer.Option(help="Rating, 1-5, from which a text answers; default: 3.")
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="What counts tokens: words, tiktoken:NAME or a tokenizers file."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Config file: models, judges, run."),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="NAME=VALUE for any setting, e.g. judges.answerability.window=15."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Take the first topics only.")] = None,
    max_cost: Annotated[float | None, typer.Option(help="Dollars to spend at most.")] = None,
    max_calls: Annotated[int | None, typer.Option(help="Requests to send at most.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens to use at most.")] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Answer from the reply cache alone.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print calls, tokens and cost; ask nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="The statistics as one JSON object.")
    ] = False,
) -> None:
    """Make a CRUX collection from multi-document summaries. Started again, it goes on.

    Of each summary: a request, sub-questions, and standalone passages of its documents, all
    rated; which questions are answerable, which passages required; qrels, statistics and a
    datasheet. The cost is printed first.

    Example: judge build crux summaries.jsonl --model openai/gpt-4o --out collection --max-cost 5

    Exit: 0 complete, 2 usage or input, 3 a topic was left out, ratings are missing or a limit
    was reached, 130 interrupted, 143 terminated, 70 an error of this program.
    """
    from ..programs.build_crux import build_crux
    from ..programs.build_plan import ASSUMED, plan_build
    from ..programs.config_file import load_config
    from .tables import plan_table, write_objects

    flags: dict[str, Any] = {
        "run.out": out,
        "run.limit": limit,
        "run.max_cost": max_cost,
        "run.max_calls": max_calls,
        "run.max_tokens": max_tokens,
        "run.offline": offline or None,
        "coverage.n": n_questions,
        "coverage.eta": eta,
        "coverage.tokenizer": tokenizer,
    }
    given = {name: value for name, value in flags.items() if value is not None}
    resolved = load_config(config, given, sets or (), model)
    plan = plan_build(summaries, resolved)
    if dry_run and as_json:
        write_objects(vars(estimate) for estimate in plan)
        return
    told = sys.stdout if dry_run else sys.stderr
    told.write(plan_table(plan) + ASSUMED)
    if dry_run:
        return
    try:
        manifest = build_crux(summaries, resolved, quiet=quiet)
    except KeyboardInterrupt as signal:
        is_term = isinstance(signal, Terminated)
        how = "Terminated" if is_term else "Interrupted"
        sys.stderr.write(f"\n{how}. What was made is kept: the same command goes on.\n")
        raise typer.Exit(TERMINATED if is_term else INTERRUPTED) from None
    if as_json:
        write_objects([manifest["statistics"]])
    else:
        sys.stdout.write(_table(manifest["statistics"]))
    sys.stderr.write(shown(_summary(manifest, resolved.run.out)))
    too_few = manifest["share_missing"] > resolved.run.allow_missing
    if manifest["left_out"] or too_few or manifest["limit_reached"]:
        raise typer.Exit(INCOMPLETE)


def _table(statistics: dict[str, Any]) -> str:
    from ..programs.build_statistics import reference_coverage, statistics_table
    from .tables import aligned

    covered = f"Coverage of the reference reports: {reference_coverage(statistics)}\n"
    return aligned(statistics_table(statistics)) + covered


def _summary(manifest: dict[str, Any], folder: Path) -> str:
    missing, left_out = manifest["statistics"]["ratings"]["missing"], manifest["left_out"]
    lines = []
    if left_out:
        lines.append(f"{len(left_out):,} topics were left out:")
        lines += [
            f"  {row['topic_id']}: {row['stage']} not made ({row['reason']})"
            for row in left_out[:SHOWN]
        ]
    if missing:
        lines.append(f"{missing:,} ratings are missing: -1 (unreadable) or -2 in ratings.jsonl")
    for what, n in {**manifest["problems"], **manifest["counts"]}.items():
        lines.append(f"  {n:>7,} {what}")
    spent = manifest["this_time"]
    cost = "unknown" if spent["cost"] is None else f"${spent['cost']:.4f}"
    lines.append(
        f"{spent['requests']:,} requests, {spent['cache_hits']:,} from the cache, "
        f"{spent['tokens']:,} tokens, cost {cost}, {spent['seconds']:.1f} s"
    )
    if manifest["limit_reached"]:
        lines.append(f"Stopped at {manifest['limit_reached']}: the collection is partial.")
    if left_out or missing:
        lines.append(f"Why is in {folder}/unjudged.jsonl; the same command asks again.")
    lines.append(f"Collection: {folder}")
    return "\n".join(lines) + "\n"
