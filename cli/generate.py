"""`judge generate`: answers with citations, written from what retrieval runs found."""

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


def generate(
    topics: Annotated[Path | None, typer.Option(help="Topics, TSV or JSONL.")] = None,
    retrieval: Annotated[
        list[str] | None,
        typer.Option(help="Retrieval run (TREC), folder or pattern; may be repeated."),
    ] = None,
    passages: Annotated[
        list[Path] | None, typer.Option(help="Passage texts, JSONL; may be repeated.")
    ] = None,
    out: Out = None,
    model: Model = None,
    k: Annotated[
        int | None,
        typer.Option("--k", help="Passages that an answer is written from; default: 10."),
    ] = None,
    words: Annotated[
        int | None, typer.Option(help="Words of an answer, at most; default: 400.")
    ] = None,
    citations: Annotated[
        int | None, typer.Option(help="Citations of a sentence, at most; default: 3.")
    ] = None,
    layout: Annotated[
        str | None, typer.Option(help="rag24 or rag25: of TREC RAG 2024 or 2025; default: rag24.")
    ] = None,
    instructions: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A text instead of our own instructions."),
    ] = None,
    run_id: Annotated[
        str | None, typer.Option(help="Name of the answers' run; default: the retrieval run's.")
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
    """Write TREC RAG answers from retrieval runs, citations checked. Started again, it goes on.

    Example: judge generate --topics topics.tsv --retrieval bm25.run --passages passages.jsonl
    --model openai/gpt-4o --out generated
    Then: judge run nuggets,support --runs generated/answers ...

    Exit: 0 complete, 2 usage or input, 3 answers are missing or a limit was reached, 130
    interrupted, 143 terminated, 70 an error of this program.
    """
    from ..programs.engine.rehearsal import ASSUMED
    from ..programs.pipelines.generate import generate as write_answers
    from ..programs.pipelines.generate import plan_generate
    from ..programs.pipelines.generate_files import statistics_table
    from .tables import aligned, write_objects

    flags: dict[str, Any] = {
        "data.topics": topics,
        "data.retrieval": retrieval,
        "data.passages": passages,
        "generate.k": k,
        "generate.words": words,
        "generate.citations": citations,
        "generate.layout": layout,
        "generate.instructions": instructions,
        "generate.run_id": run_id,
        **run_flags(
            out=out,
            limit=limit,
            max_cost=max_cost,
            max_calls=max_calls,
            max_tokens=max_tokens,
            offline=offline,
        ),
    }
    resolved = config_with(config, flags, sets, model)
    if planned(plan_generate(resolved), ASSUMED, dry_run=dry_run, as_json=as_json):
        return
    manifest = unless_stopped(lambda: write_answers(resolved, quiet=quiet), out=resolved.run.out)
    found = manifest["statistics"]
    if as_json:
        write_objects([found])
    else:
        sys.stdout.write(aligned(statistics_table(found)))
    sys.stderr.write(shown(_summary(manifest, resolved.run.out)))
    too_few = manifest["share_missing"] > resolved.run.allow_missing
    if too_few or manifest["limit_reached"]:
        raise typer.Exit(INCOMPLETE)


def _summary(manifest: dict[str, Any], folder: Path) -> str:
    """What is missing, and what it took."""
    from .tables import spent_line

    lines = []
    if reasons := manifest["unjudged_by_reason"]:
        told = ", ".join(f"{reason} {n:,}" for reason, n in reasons.items())
        lines.append(f"{sum(reasons.values()):,} answers were not written ({told}).")
        lines.append(f"Why is in {folder}/unjudged.jsonl; the same command asks again.")
    lines += [f"  {n:>7,} {what}" for what, n in manifest["problems"].items()]
    spent = manifest["this_time"]
    lines.append(f"{spent_line(spent)}, {spent['seconds']:.1f} s")
    if manifest["limit_reached"]:
        lines.append(f"Stopped at {manifest['limit_reached']}: the answers are not all there.")
    lines.append(f"Answers: {folder}/answers")
    return "\n".join(lines) + "\n"
