"""`judge build`: collections to evaluate with, made from what a user has."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .exits import INCOMPLETE
from .options import (
    AsJson,
    ConfigFile,
    DryRun,
    Limit,
    MaxCalls,
    MaxCost,
    MaxTokens,
    Model,
    Offline,
    Out,
    Quiet,
    Sets,
    config_with,
    planned,
    run_flags,
)
from .stopping import unless_stopped
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
    out: Out = None,
    model: Model = None,
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
    config: ConfigFile = None,
    sets: Sets = None,
    limit: Limit = None,
    max_cost: MaxCost = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    offline: Offline = False,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make a CRUX collection from multi-document summaries. Started again, it goes on.

    Of each summary: a request, sub-questions, and standalone passages of its documents, all
    rated; which questions are answerable, which passages required; qrels, statistics and a
    datasheet. The cost is printed first.

    Example: judge build crux summaries.jsonl --model openai/gpt-4o --out collection --max-cost 5

    Exit: 0 complete, 2 usage or input, 3 a topic was left out, ratings are missing or a limit
    was reached, 130 interrupted, 143 terminated, 70 an error of this program.
    """
    from ..programs.build.crux import build_crux, plan_build
    from ..programs.build.crux_statistics import reference_coverage, statistics_table
    from ..programs.engine.rehearsal import ASSUMED

    flags: dict[str, Any] = {
        **run_flags(
            out=out,
            limit=limit,
            max_cost=max_cost,
            max_calls=max_calls,
            max_tokens=max_tokens,
            offline=offline,
        ),
        "coverage.n": n_questions,
        "coverage.eta": eta,
        "coverage.tokenizer": tokenizer,
    }
    resolved = config_with(config, flags, sets, model)
    if planned(plan_build(summaries, resolved), ASSUMED, dry_run=dry_run, as_json=as_json):
        return
    manifest = unless_stopped(
        lambda: build_crux(summaries, resolved, quiet=quiet), out=resolved.run.out
    )
    found = manifest["statistics"]
    covered = f"Coverage of the reference reports: {reference_coverage(found)}\n"
    _tell(found, statistics_table(found), covered, as_json=as_json)
    missing = found["ratings"]["missing"]
    what = f"{missing:,} ratings are missing: -1 (unreadable) or -2 in ratings.jsonl"
    _end(manifest, resolved.run.out, resolved.run.allow_missing, [what] if missing else [])


@build.command()
def long2rag(
    topics: Annotated[
        Path,
        typer.Argument(
            exists=True,
            help="Seed questions (JSONL: id, text, domain, category); or, to verify, a collection.",
        ),
    ],
    documents: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="JSONL: topic_id, docid, text; without: questions."
        ),
    ] = None,
    out: Out = None,
    model: Model = None,
    evolve: Annotated[
        int | None,
        typer.Option(help="New questions of each seed, in depth and in width; default: 0."),
    ] = None,
    least: Annotated[
        int | None, typer.Option(help="Score, 1-5, a seed needs on each criterion; default: 3.")
    ] = None,
    verified: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True, dir_okay=False, help="A sheet that people filled in; may be repeated."
        ),
    ] = None,
    config: ConfigFile = None,
    sets: Sets = None,
    limit: Limit = None,
    max_cost: MaxCost = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    offline: Offline = False,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make a Long2RAG collection from seed questions and documents. Started again, it goes on.

    Seeds are scored and those that are good enough kept, new questions made of them, and all
    split into sub-questions to search by. Of given documents: key points, merged and filtered,
    and a sheet for people to verify them. The cost is printed first.

    Example: judge build long2rag seeds.jsonl --documents docs.jsonl --evolve 1 --out collection
    Then: judge build long2rag collection --verified collection/verification.csv

    Exit: 0 complete, 2 usage or input, 3 a question was left out, key points are not verified or
    a limit was reached, 130 interrupted, 143 terminated, 70 an error of this program.
    """
    from ..programs.build.long2rag import build_long2rag, plan_long2rag
    from ..programs.build.long2rag_files import statistics_table
    from ..programs.engine.rehearsal import ASSUMED

    if verified:
        others = (documents, out, model, evolve, least, config, sets, limit, max_cost, max_calls)
        if any(value is not None for value in (*others, max_tokens)) or offline or dry_run:
            raise typer.BadParameter("--verified goes with the folder, --json and --quiet alone")
        _verify(topics, verified, as_json=as_json)
        return
    if topics.is_dir():
        raise typer.BadParameter(f"{topics} is a folder: name seed questions, or --verified")
    flags: dict[str, Any] = {
        **run_flags(
            out=out,
            limit=limit,
            max_cost=max_cost,
            max_calls=max_calls,
            max_tokens=max_tokens,
            offline=offline,
        ),
        "long2rag.evolve": evolve,
        "long2rag.least": least,
    }
    resolved = config_with(config, flags, sets, model)
    plan = plan_long2rag(topics, documents, resolved)
    if planned(plan, ASSUMED, dry_run=dry_run, as_json=as_json):
        return
    manifest = unless_stopped(
        lambda: build_long2rag(topics, documents, resolved, quiet=quiet), out=resolved.run.out
    )
    folder = resolved.run.out
    if documents is None:
        note = "No documents, so no key points yet: the same command with --documents goes on.\n"
        note += f"What to search for is in {folder}/subquestions.jsonl.\n"
    else:
        note = f"For people: {folder}/verification.csv, then judge build long2rag {folder} "
        note += "--verified SHEET\n"
        if not (folder / "verification.csv").is_file():
            note = "No key points, so nothing for people to verify.\n"
    found = manifest["statistics"]
    _tell(found, statistics_table(found), "", as_json=as_json)
    _end(manifest, folder, resolved.run.allow_missing, [note.rstrip()])


def _verify(folder: Path, sheets: list[Path], *, as_json: bool) -> None:
    from ..programs.build.verification import agreement_lines, retention_table
    from ..programs.build.verify_long2rag import verify_long2rag

    if not folder.is_dir():
        raise typer.BadParameter(f"--verified: {folder} is no folder, name the collection")
    found = verify_long2rag(folder, sheets)["statistics"]["verification"]
    agreed = "".join(f"{line}\n" for line in agreement_lines(found))
    _tell(found, retention_table(found), agreed, as_json=as_json)
    if n_open := found["all"]["open"]:
        what = f"{n_open:,} key points have no verdict on both tasks that most people gave; kept"
        first = [" ".join(cell) for cell in found["open_key_points"][:SHOWN]]
        sys.stderr.write(shown(f"{what}: {', '.join(first)}{', ...' * (n_open > SHOWN)}\n"))
        raise typer.Exit(INCOMPLETE)


def _tell(statistics: dict[str, Any], table: list[list[str]], more: str, *, as_json: bool) -> None:
    from .tables import aligned, write_objects

    if as_json:
        write_objects([statistics])
    else:
        sys.stdout.write(aligned(table) + shown(more))


def _end(manifest: dict[str, Any], folder: Path, allow_missing: float, notes: list[str]) -> None:
    """Say what is missing and what it took; ends with 3 if the collection is not complete."""
    sys.stderr.write(shown(_summary(manifest, folder, notes)))
    too_few = manifest["share_missing"] > allow_missing
    if manifest["left_out"] or too_few or manifest["limit_reached"]:
        raise typer.Exit(INCOMPLETE)


def _summary(manifest: dict[str, Any], folder: Path, notes: list[str]) -> str:
    from .tables import spent_line

    left_out = manifest["left_out"]
    lines = []
    if left_out:
        lines.append(f"{len(left_out):,} topics were left out:")
        lines += [
            f"  {row['topic_id']}: {row['stage']} not made ({row['reason']})"
            for row in left_out[:SHOWN]
        ]
    lines += notes
    for what, n in {**manifest["problems"], **manifest["counts"]}.items():
        lines.append(f"  {n:>7,} {what}")
    spent = manifest["this_time"]
    lines.append(f"{spent_line(spent)}, {spent['seconds']:.1f} s")
    if manifest["limit_reached"]:
        lines.append(f"Stopped at {manifest['limit_reached']}: the collection is partial.")
    if manifest["unjudged"].keys():
        lines.append(f"Why is in {folder}/unjudged.jsonl; the same command asks again.")
    lines.append(f"Collection: {folder}")
    return "\n".join(lines) + "\n"
