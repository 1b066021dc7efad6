"""`judge build`: collections to evaluate with, made from what a user has."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import typer

from ...cli.flags import ParsedSettings, settings
from ...cli.options import AsJson, Command, DryRun, print_table
from ...cli.signatures import ExistingPath, File
from ...cli.stopping import (
    INCOMPLETE,
    exit_unless,
    is_whole,
    list_problems,
    report_end,
    run_until_stopped,
)
from ...cli.tables import write_note
from ...cli.views import list_unjudged, print_plan

build = typer.Typer(
    help="Make a collection to evaluate with.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
SHOWN = 10  # topics that were left out, on stderr
SETTINGS = "run.limit run.max_cost run.out"


@build.command(cls=Command)
@settings(SETTINGS)
def crux(
    given: ParsedSettings,
    summaries: ExistingPath,
    *,
    select: Literal["spread", "tau"] | None = None,
    keep: int = 10,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Make a CRUX collection from multi-document summaries. The same command continues.

    For each summary it makes a request, sub-questions, and standalone passages of the documents,
    and rates all passages. It finds the answerable questions and the required passages, and writes
    qrels, statistics and a datasheet. The cost is printed first.

    Example: judge build crux summaries.jsonl --model openai/gpt-4o --out collection --max-cost 5
    Then: judge build crux results/coverage --select spread --keep 8 --out selected

    Exit: 0 complete, 2 usage or input, 3 a topic was left out, ratings are missing or a limit
    was reached, 130 interrupted, 143 terminated, 70 an error of this program.

    Args:
        summaries: JSONL: id, documents (a list), summary; or, to select, a results folder of
            `judge run coverage`.
        select: Keep the questions that separate the runs of the folder best: by the spread of
            their answers, or by their tau-b with coverage by the other questions.
        keep: Most questions to keep of each topic.
    """
    from .crux import build_crux, plan_build, reference_coverage, statistics_table

    if select is not None:
        _select(given, summaries, select, keep, dry_run=dry_run, as_json=as_json)
        return
    if summaries.is_dir():
        raise typer.BadParameter(f"{summaries} is a folder: name summaries, or --select")
    config = given.config()
    if print_plan(plan_build(summaries, config), dry_run=dry_run, as_json=as_json):
        return
    manifest = run_until_stopped(lambda: build_crux(summaries, config), out=config.run.out)
    statistics = manifest["statistics"]
    missing = statistics["ratings"]["missing"]
    what = f"{missing:,} ratings are missing: -1 (unreadable) or -2 in ratings.jsonl"
    _report(manifest, config, [what] if missing else [])
    covered = f"Coverage of the reference reports: {reference_coverage(statistics)}\n"
    print_table([statistics], statistics_table(statistics), covered, as_json=as_json)
    exit_unless(_is_complete(manifest, config))


@build.command(cls=Command)
@settings("long2rag.categorize long2rag.evolve long2rag.domains long2rag.per_pair " + SETTINGS)
def long2rag(
    given: ParsedSettings,
    topics: ExistingPath,
    *,
    documents: File | None = None,
    verified: list[File] | None = None,
    thresholds: bool = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Make a Long2RAG collection from seed questions and documents. The same command continues.

    Seeds are scored and those that are good enough kept, new questions made of them, and all
    split into sub-questions to search by. Of given documents: key points, merged and filtered,
    and a sheet for people to verify them. The cost is printed first.

    Example: judge build long2rag seeds.jsonl --documents docs.jsonl --evolve 1 --out collection
    Then: judge build long2rag collection --verified collection/verification.csv

    Exit: 0 complete, 2 usage or input, 3 a question was left out, key points are not verified or
    a limit was reached, 130 interrupted, 143 terminated, 70 an error of this program.

    Args:
        topics: Seed questions (JSONL: id, text, domain, category); or, to verify, a collection.

    Data:
        documents: JSONL: topic_id, docid, text; without: questions.
        verified: A sheet that people filled in; may be repeated.
        thresholds: With --verified: print false positives by threshold of the key point filter.
    """
    from .long2rag import build_long2rag, plan_long2rag
    from .long2rag_datasheet import statistics_table

    if verified:
        if documents is not None or dry_run or not given.is_empty:
            raise typer.BadParameter("--verified goes with the folder, --json alone")
        _verify(topics, verified, thresholds=thresholds, as_json=as_json)
        return
    if thresholds:
        raise typer.BadParameter("--thresholds needs --verified")
    if topics.is_dir():
        raise typer.BadParameter(f"{topics} is a folder: name seed questions, or --verified")
    config = given.config()
    plan = plan_long2rag(topics, documents, config)
    if print_plan(plan, dry_run=dry_run, as_json=as_json):
        return
    manifest = run_until_stopped(
        lambda: build_long2rag(topics, documents, config), out=config.run.out
    )
    folder = config.run.out
    if documents is None:
        note = "No key points without documents: the same command with --documents continues.\n"
        note += f"What to search for is in {folder}/subquestions.jsonl."
    elif (folder / "verification.csv").is_file():
        note = f"For people: {folder}/verification.csv, then judge build long2rag {folder} "
        note += "--verified SHEET"
    else:
        note = "No key points, so nothing for people to verify."
    statistics = manifest["statistics"]
    _report(manifest, config, [note])
    print_table([statistics], statistics_table(statistics), as_json=as_json)
    exit_unless(_is_complete(manifest, config))


@build.command(cls=Command)
@settings(f"long2rag.conditions long2rag.condition_words {SETTINGS}")
def conditions(
    given: ParsedSettings,
    topics: ExistingPath,
    *,
    documents: File,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Write documents whole, cut, as snippets and as summaries: does less text hurt answers?

    Writes the texts, and a run for each condition, from which judge generate writes answers. The
    cost is printed first. The same command continues.

    Example: judge build conditions topics.jsonl --documents docs.jsonl --out short
    Then: judge generate --topics topics.jsonl --retrieval 'short/*.run' --passages
    short/passages.jsonl --out answers

    Exit: 0 complete, 2 usage or input, 3 a topic was left out or a limit was reached,
    130 interrupted, 143 terminated, 70 an error of this program.

    Args:
        topics: Questions, TSV or JSONL.

    Data:
        documents: JSONL: topic_id, docid, text.
    """
    from .conditions import build_conditions, conditions_table, plan_conditions

    config = given.config()
    plan = plan_conditions(topics, documents, config)
    if print_plan(plan, dry_run=dry_run, as_json=as_json):
        return
    manifest = run_until_stopped(
        lambda: build_conditions(topics, documents, config), out=config.run.out
    )
    statistics = manifest["statistics"]
    _report(manifest, config, [])
    print_table([statistics], conditions_table(statistics), as_json=as_json)
    exit_unless(_is_complete(manifest, config))


def _select(
    given: ParsedSettings,
    results: Path,
    by: Literal["spread", "tau"],
    keep: int,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    from ...records.reading.problems import Problems
    from .selection import MIN_RUNS, choices_table, select_questions

    others = [name for name in given.spelled if name != "run.out"]
    if dry_run or others or given.sets or given.model or given.path:
        raise typer.BadParameter("--select takes only the folder, --keep, --out and --json")
    if (out := given.flags.get("run.out")) is None:
        raise typer.BadParameter("--select: name the folder to write to (--out)")
    if not results.is_dir():
        raise typer.BadParameter(
            f"--select: {results} is not a folder; name a folder of judge run coverage"
        )
    if keep < 1:
        raise typer.BadParameter(f"--keep {keep}: wanted 1 or more")
    problems = Problems()
    checks = select_questions(results, by, keep, Path(out), problems)
    list_problems(problems)
    write_note(f"Questions: {Path(out) / 'questions.jsonl'} (data.questions)\n")
    note = "One half of the runs chooses, the other half is measured; mean over both directions.\n"
    if not checks:
        what = f"With fewer than {MIN_RUNS} runs, or with missing ratings for every question,"
        write_note(f"{what} the choice is not measured.\n")
        return
    print_table([vars(check) for check in checks], choices_table(checks), note, as_json=as_json)


def _verify(folder: Path, sheets: list[Path], *, thresholds: bool, as_json: bool) -> None:
    from ...views.printing import print_view
    from ...views.table import View
    from .thresholds import make_threshold_table
    from .verification import agreement_lines, retention_table
    from .verify_long2rag import verify_long2rag

    if not folder.is_dir():
        raise typer.BadParameter(f"--verified: {folder} is not a folder; name the collection")
    verification = verify_long2rag(folder, sheets)["statistics"]["verification"]
    agreed = "".join(f"{line}\n" for line in agreement_lines(verification))
    if thresholds and not as_json:
        lowest = verification["lowest_score"]
        print_view(View(tables=[make_threshold_table(verification["thresholds"], lowest)]))
    else:
        print_table([verification], retention_table(verification), agreed, as_json=as_json)
    if n_open := verification["all"]["open"]:
        what = f"{n_open:,} key points have no verdict on both tasks that most people gave; kept"
        first = [" ".join(cell) for cell in verification["open_key_points"][:SHOWN]]
        write_note(f"{what}: {', '.join(first)}{', ...' * (n_open > SHOWN)}\n")
        raise typer.Exit(INCOMPLETE)


def _report(manifest: dict[str, Any], config: Any, notes: list[str]) -> None:
    """Say how it ended and which topics were left out."""
    folder, excluded = config.run.out, manifest["excluded"]
    lines = [f"{len(excluded):,} topics were left out:"] if excluded else []
    for row in excluded[:SHOWN]:
        lines.append(f"  {row['topic_id']}: {row['stage']} failed ({row['reason']})")
    report_end(
        manifest,
        partial="the collection is partial",
        notes=[*lines, *notes, *list_unjudged(folder, manifest), f"Collection: {folder}"],
    )


def _is_complete(manifest: dict[str, Any], config: Any) -> bool:
    return not manifest["excluded"] and is_whole(manifest, config.run.allow_missing)
