"""`judge index` and `judge retrieve`: contexts to evaluate, by pipelines over passages."""

from __future__ import annotations

import os
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
    Quiet,
    Sets,
    config_with,
    planned,
    run_flags,
)
from .stopping import unless_stopped
from .terminal import shown

Passages = Annotated[
    list[Path] | None,
    typer.Option(exists=True, dir_okay=False, help="Passages, JSONL; may be repeated."),
]
Steps = Annotated[
    str | None,
    typer.Option(help="Steps, as 'bm25 100, rrf, mmr 10', or a YAML file with retrieve:."),
]
KEPT = "Replies are kept: the same command with a higher limit goes on."
SHOWN = 5  # topics without passages, on stderr
MOST = 1_000_000  # passages or tokens of a context, as programs.steps has it


def index(
    out: Annotated[Path, typer.Option(help="Folder of the indexes.")],
    passages: Passages = None,
    pipeline: Steps = None,
    config: ConfigFile = None,
    sets: Sets = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make the indexes that the first stages of a pipeline search; the default is BM25.

    Example: judge index --passages passages.jsonl --pipeline 'bm25, dense, rrf' --out index

    Exit: 0 complete, 2 usage or input, 130 interrupted, 143 terminated, 70 an error of this
    program.
    """
    from ..programs.config.steps import FirstStage
    from ..programs.pipelines.indexing import make_indexes
    from ..programs.pipelines.retrieve import pipelines_of
    from ..records.reading.problems import InputError
    from .tables import write_objects

    if pipeline is None and config is None:
        pipeline = "bm25"
    resolved = _config(pipeline, config, {"data.passages": passages}, sets, None)
    if not resolved.data.passages:
        raise InputError("no passages: name files of them (--passages, data.passages)")
    steps = [step for steps in pipelines_of(resolved).values() for step in steps]
    first = list(dict.fromkeys(step for step in steps if isinstance(step, FirstStage)))
    found = unless_stopped(
        lambda: make_indexes(
            first, resolved.data.passages, out, cache=resolved.run.cache, quiet=quiet
        ),
        "Indexes that were finished are kept",
    )
    if as_json:
        write_objects([found])
        return
    sys.stdout.write(shown(f"{found['passages']:,} passages: {', '.join(found['indexes'])}\n"))
    for what, n in found["problems"].items():
        sys.stderr.write(f"  {n:>7,} {what}\n")
    sys.stderr.write(shown(f"Indexes: {out}\n"))


def retrieve(
    out: Annotated[
        Path, typer.Option(help="A TREC run (.run, .trec, .txt), or a folder of several.")
    ],
    topics: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Topics, TSV or JSONL.")
    ] = None,
    passages: Passages = None,
    index: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="What judge index made.")
    ] = None,
    pipeline: Steps = None,
    hits: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="Passages a topic, at most.")
    ] = None,
    context: Annotated[
        str | None, typer.Option(help="required: as many passages as the topic's Z* has.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="Tokens of a topic's passages, at most.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Sub-questions, for coverage and Z*."),
    ] = None,
    ratings: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="Ratings of them; may be repeated."),
    ] = None,
    model: Model = None,
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
    """Find the passages that answers are written from, and write them as TREC runs.

    Example: judge retrieve --topics topics.tsv --passages passages.jsonl
    --pipeline 'bm25 100, mmr 10' --out bm25-mmr.run

    Exit: 0 complete, 2 usage or input, 3 a topic found nothing, a reranker's reply is missing or
    a limit was reached, 130 interrupted, 143 terminated, 70 an error of this program.
    """
    from ..programs.config.pipeline import cut_to
    from ..programs.engine.rehearsal import ASSUMED
    from ..programs.pipelines.retrieve import NOT_COUNTED, asks_by_itself, plan_retrieve
    from ..programs.pipelines.retrieve import retrieve as run

    if context not in (None, "required"):
        raise typer.BadParameter("--context takes required; for a number of passages: --hits")
    flags = {
        "data.topics": topics,
        "data.passages": passages,
        "data.index": index,
        "data.questions": questions,
        "data.ratings": ratings,
        **run_flags(
            limit=limit,
            max_cost=max_cost,
            max_calls=max_calls,
            max_tokens=max_tokens,
            offline=offline,
        ),
    }
    resolved = _config(pipeline, config, flags, sets, model)

    def cut(steps: Any) -> Any:
        return cut_to(steps, hits, tokens, required=context is not None)

    resolved = resolved.with_steps(cut)
    if dry_run:
        if asks_by_itself(resolved):
            sys.stderr.write(NOT_COUNTED)
        planned(plan_retrieve(resolved), ASSUMED, dry_run=True, as_json=as_json)
        return
    manifest = unless_stopped(lambda: run(resolved, out, quiet=quiet), "Replies are kept")
    _tell(manifest["runs"], as_json=as_json)
    _end(manifest, resolved.run.allow_missing)


def _config(
    pipeline: str | None,
    config: Path | None,
    flags: dict[str, Any],
    sets: list[str] | None,
    model: str | None,
) -> Any:
    from ..records.reading.problems import InputError

    if pipeline is not None:
        path = Path(pipeline)
        if path.suffix not in (".yaml", ".yml") and os.sep not in pipeline:
            flags = {**flags, "retrieve": pipeline, "pipelines": {}}
        elif config is not None:
            raise InputError(f"--pipeline {pipeline} is a config as --config is, wanted one")
        else:
            config = path
    return config_with(config, flags, sets, model)


def _tell(runs: dict[str, Any], *, as_json: bool) -> None:
    from .tables import aligned, write_objects

    if as_json:
        write_objects({"run_id": name, **about} for name, about in runs.items())
        return
    table = [["run", "topics", "passages", "file"]]
    for name, about in runs.items():
        numbers = [f"{about['topics']:,}", f"{about['passages']:,}"]
        table.append([name, *numbers, about["file"] or "not written"])
    sys.stdout.write(aligned(table))


def _end(manifest: dict[str, Any], allow_missing: float) -> None:
    """Say what a reader of the runs should know; ends with 3 if something is missing."""
    from .tables import spent_line

    lines = []
    is_complete = True
    for name, about in manifest["runs"].items():
        if empty := about["topics_without_passages"]:
            is_complete = False
            lines.append(f"{name}: {_topics(empty, 'found nothing')}")
        if empty := about["topics_cut_to_nothing"]:
            lines.append(f"{name}: {_topics(empty, 'were cut to nothing')}")
    for what, n in manifest["failed"].items():
        asked = manifest["asked"][what]
        lines.append(f"  {n:>7,} of {asked:,} calls for {what} gave nothing; the order was kept")
    lines += [f"  {n:>7,} {what}" for what, n in manifest["counts"].items()]
    lines += [f"  {n:>7,} {what}" for what, n in manifest["problems"].items()]
    spent = manifest["this_time"]
    if manifest["asked"]:
        lines.append(spent_line(spent))
    steps = ", ".join(f"{step} {s:.1f} s" for step, s in spent["seconds_by_step"].items())
    lines.append(f"{spent['seconds']:.1f} s: {steps}")
    if manifest["limit_reached"]:
        stays = "nothing was written, and what was there before stays"
        lines.append(f"Stopped at {manifest['limit_reached']}: {stays}.\n{KEPT}")
    sys.stderr.write(shown("\n".join(lines) + "\n"))
    if not is_complete or manifest["share_missing"] > allow_missing or manifest["limit_reached"]:
        raise typer.Exit(INCOMPLETE)


def _topics(topics: list[str], what: str) -> str:
    more = ", ..." * (len(topics) > SHOWN)
    return f"{len(topics):,} topics {what}: {', '.join(topics[:SHOWN])}{more}"
