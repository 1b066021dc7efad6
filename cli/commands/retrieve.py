"""`judge index` and `judge retrieve`: find contexts with pipelines over passages."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ...records.reading.problems import InputError
from ..flags import ParsedSettings, settings
from ..options import NAMES_OF_MODELS, AsJson, DryRun, print_table
from ..stopping import exit_unless, is_whole, report_end, run_until_stopped
from ..tables import escape, write_note, write_objects
from ..views import print_plan

Steps = Annotated[
    str | None,
    typer.Option(help="Steps such as 'bm25 100, mmr 10', or a YAML file with retrieve:."),
]
KEPT = "Replies are kept. To continue, run the same command with a higher limit"
SHOWN = 5  # topics without passages, on stderr


@settings("data.passages", model=False, config=False)
def index(
    given: ParsedSettings,
    *,
    out: Path,
    pipeline: Steps = None,
    segments: str | None = None,
    near_duplicates: float | None = None,
    as_json: AsJson = False,
) -> None:
    """Build the indexes that a pipeline searches; the default is BM25.

    Examples: judge index --passages passages.jsonl --pipeline 'bm25, dense, rrf' --out index
    / judge index --passages documents.jsonl --segments 10,5 --near-duplicates .9 --out index

    Exit: 0 complete, 2 usage or input, 130 interrupted, 143 terminated, 70 an error of this
    program.

    Args:
        segments (WINDOW,STRIDE): Cut documents into passages of WINDOW sentences that start every
            STRIDE sentences, and write them to passages.jsonl in the folder.
        near_duplicates (SIMILARITY): Leave out documents at least this similar to an earlier
            one, by MinHash of 9-word shingles.

    Output:
        out: Folder to write the indexes to.
    """
    from ...programs.config.pipelines import FirstStage
    from ...programs.pipelines.indexing import make_indexes
    from ...programs.pipelines.retrieve import read_pipelines
    from ...programs.pipelines.segments import Segments, read_window

    if pipeline is None:
        pipeline = "bm25"
    config = _config(pipeline, given)
    if not config.data.passages:
        raise InputError("no passages: give passage files (--passages, data.passages)")
    steps = [step for steps in read_pipelines(config).values() for step in steps]
    first = list(dict.fromkeys(step for step in steps if isinstance(step, FirstStage)))
    window, stride = (None, None) if segments is None else read_window(segments)
    how = Segments(window, stride, near_duplicates)
    options: dict[str, Any] = {"cache": config.run.cache}
    options["segments"] = None if how == Segments() else how
    manifest = run_until_stopped(
        lambda: make_indexes(first, config.data.passages, out, **options),
        "Finished indexes are kept",
    )
    if as_json:
        write_objects([manifest])
        return
    if "documents" in manifest:
        n_near = f", {manifest['near_duplicates']:,} near-duplicates left out"
        near = n_near if near_duplicates is not None else ""
        sys.stdout.write(escape(f"{manifest['documents']:,} documents{near}\n"))
    sys.stdout.write(
        escape(f"{manifest['passages']:,} passages: {', '.join(manifest['indexes'])}\n")
    )
    for what, n in manifest["problems"].items():
        write_note(f"  {n:>7,} {what}\n")
    write_note(f"Indexes: {out}\n")


@settings(
    "data.topics data.passages data.index run.limit run.max_cost",
    config=False,
    helps={
        "model": f"Model of steps that ask one, such as listwise: lexical, {NAMES_OF_MODELS}; "
        "default: lexical.",
        "limit": "Use only the first N topics.",
    },
)
def retrieve(
    given: ParsedSettings,
    *,
    out: Path,
    pipeline: Steps = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Retrieve passages for topics, and write them as TREC runs.

    Example: judge retrieve --topics topics.tsv --passages passages.jsonl
    --pipeline 'bm25 100, mmr 10' --out bm25-mmr.run

    Exit: 0 complete, 2 usage or input, 3 no passages for a topic, a reranker's reply missing or
    a limit reached, 130 interrupted, 143 terminated, 70 an error of this program.

    Output:
        out: TREC run to write (.run, .trec, .txt), or a folder for several.
    """
    from ...programs.pipelines.retrieve import NOT_COUNTED, asks_by_itself, plan_retrieve
    from ...programs.pipelines.retrieve import retrieve as run

    config = _config(pipeline, given)
    if dry_run:
        if asks_by_itself(config):
            write_note(NOT_COUNTED)
        print_plan(plan_retrieve(config), as_json=as_json)
        return
    manifest = run_until_stopped(lambda: run(config, out), "Replies are kept")
    _report(manifest)
    _print(manifest["runs"], as_json=as_json)
    whys = ("topics_without_passages", "failed_topics")
    has_passages = not any(about[why] for about in manifest["runs"].values() for why in whys)
    exit_unless(has_passages and is_whole(manifest, config.run.allow_missing))


def _config(pipeline: str | None, given: ParsedSettings) -> Any:
    """Return the config with the pipeline of --pipeline: steps, or a config file."""

    if pipeline is None:
        return given.config()
    path = Path(pipeline)
    if path.suffix not in (".yaml", ".yml") and os.sep not in pipeline:
        return given.config(under={"retrieve": pipeline, "pipelines": {}})
    return given.config(path)


def _print(runs: dict[str, Any], *, as_json: bool) -> None:
    table = [["run", "topics", "passages", "file"]]
    for name, about in runs.items():
        numbers = [f"{about['topics']:,}", f"{about['passages']:,}"]
        table.append([name, *numbers, about["file"] or "not written"])
    objects = ({"run_id": name, **about} for name, about in runs.items())
    print_table(objects, table, as_json=as_json)


def _report(manifest: dict[str, Any]) -> None:
    """Print on stderr how the run ended, and which topics lack passages."""
    lines = []
    for name, about in manifest["runs"].items():
        if empty := about["topics_without_passages"]:
            lines.append(f"{name}: {_topics(empty, 'found nothing')}")
        if empty := about["topics_cut_to_nothing"]:
            lines.append(f"{name}: {_topics(empty, 'lost all passages in a cut')}")
        if lost := about["failed_topics"]:
            lines.append(f"{name}: {_topics(list(lost), 'have no context and are unjudged')}")
    lines += [f"{n:,} {what}" for what, n in manifest["counts"].items()]
    for what, n in manifest["failed"].items():
        n_calls = manifest["asked"][what]
        lines.append(f"{n:,} of {n_calls:,} calls for {what} failed; the order was kept")
    runs = manifest["runs"].values()
    n = sum(about["topics"] for about in runs)
    n_missing = sum(len(about["failed_topics"]) for about in runs)
    report_end(
        manifest,
        done=f"{n:,} rankings, {n_missing:,} missing",
        partial=f"no run was written, and earlier files are unchanged.\n{KEPT}",
        notes=lines,
    )


def _topics(topics: list[str], what: str) -> str:
    more = ", ..." * (len(topics) > SHOWN)
    return f"{len(topics):,} topics {what}: {', '.join(topics[:SHOWN])}{more}"
