"""`judge calibrate`: fit a judge to human labels, and see on other topics whether it helped."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from .conditions import fields_of, where_of
from .exits import INCOMPLETE
from .options import DryRun, MaxCalls, MaxCost, MaxTokens, Model, Offline, config_with, run_flags
from .terminal import shown

File = Path | None


def calibrate(
    labels: Annotated[
        Path,
        typer.Argument(
            exists=True, dir_okay=False, help="Human labels: rows, assignments, support, qrels."
        ),
    ],
    judge: Annotated[
        str,
        typer.Option(
            help="assigner, support, relevance, answerability, entailment, or your YAML file."
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            help="threshold, topic, platt, ordinal, isotonic; "
            "few-shot, bootstrap, mipro, simba, gepa (prompts)."
        ),
    ],
    model: Model = None,
    out: Annotated[File, typer.Option(help="Judge file to write, for judges.NAME.state.")] = None,
    config: Annotated[
        File, typer.Option(exists=True, help="Config file with models: and judges:.")
    ] = None,
    topics: Annotated[File, typer.Option(help="Topics, if the labels lack questions.")] = None,
    runs: Annotated[
        list[str] | None, typer.Option(help="Run files, if the labels lack answers.")
    ] = None,
    passages: Annotated[
        list[Path] | None, typer.Option(help="Passage texts, if the labels lack them.")
    ] = None,
    nuggets: Annotated[File, typer.Option(help="A nugget bank, if the labels lack them.")] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(help="OURS=THEIRS: another name for a field, e.g. sentence=claim."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="FIELD=VALUE that rows must have; of one field repeated, either."),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(help="Labels of people, worst to best, e.g. 0=none,1=none,2=full."),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            help="kappa, linear, quadratic, macro_f1, accuracy or one_vs_rest:LABEL; "
            "default: linear, or kappa for 2 labels."
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="Test every topic once; the file is fitted to all labels."),
    ] = None,
    topic_labels: Annotated[
        int, typer.Option(min=0, help="Labels of each test topic that method topic may use.")
    ] = 10,
    weigh_words: Annotated[
        bool, typer.Option(help="Weigh the lexical score's words by how rare they are.")
    ] = True,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use so many labels, even over topics.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the split, and of all that draws.")] = 0,
    resamples: Annotated[int, typer.Option(min=0, help="Draws of topics for intervals.")] = 1000,
    level: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE for the prompt method.")
    ] = None,
    prompt_model: Annotated[
        str | None, typer.Option(help="Entry of models: that writes instructions.")
    ] = None,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    offline: Offline = False,
    dry_run: DryRun = False,
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE for any setting.")
    ] = None,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show the new prompt against the default.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The report as one JSON object.")] = False,
) -> None:
    """Fit a judge to human labels on some topics and measure on others whether it helped.

    Example: judge calibrate labels.jsonl --judge support --model lexical --method threshold
    --passages passages.jsonl --out fitted/support.json

    Exit: 0 fitted, 2 usage or input, 3 some items were not judged or the budget allowed no new
    prompt, 130 interrupted.
    """
    from ..backends.errors import JudgeError
    from ..calibration.session import calibrate_file, options_of, plan_file, scale_of
    from ..calibration.settings import Settings
    from ..records.judgements import Reason
    from ..records.reading.problems import Problems
    from .calibrate_text import report_text
    from .score import list_problems
    from .tables import plan_table, write_objects

    flags: dict[str, Any] = {
        "data.topics": topics,
        "data.runs": runs,
        "data.passages": passages,
        "data.nuggets": nuggets,
        **run_flags(max_cost=max_cost, max_calls=max_calls, max_tokens=max_tokens, offline=offline),
    }
    resolved = config_with(config, flags, sets, model)
    problems = Problems()
    settings = Settings(
        method=method,
        objective=objective,
        folds=folds,
        topic_labels=topic_labels,
        weigh_words=weigh_words,
        seed=seed,
        resamples=resamples,
        level=level,
        concurrency=resolved.run.concurrency,
        options=options_of(option or ()),
    )
    source: dict[str, Any] = {
        "fields": fields_of(field or ()),
        "where": where_of(where or ()),
        "scale": scale_of(scale.split(",") if scale is not None else ()),
        "limit": limit,
        "problems": problems,
    }
    if dry_run:
        plan = plan_file(labels, judge, resolved, settings, out=out, **source)
        if as_json:
            write_objects(asdict(estimate) for estimate in plan)
        else:
            sys.stdout.write(plan_table(plan))
        return
    try:
        found = calibrate_file(
            labels, judge, resolved, settings, out=out, prompt_model=prompt_model, **source
        )
    except JudgeError as error:
        if error.reason is not Reason.BUDGET:
            raise
        sys.stderr.write(shown(f"judge: {error}. No judge file is written; raise the limit.\n"))
        raise typer.Exit(INCOMPLETE) from None
    if as_json:
        write_objects([found.report])
    else:
        sys.stdout.write(shown(report_text(found.report, out)))
        if diff:
            sys.stdout.write(shown(found.diff or "The prompt is as it was.\n"))
    list_problems(problems)
    if found.report["n_unjudged"]:
        raise typer.Exit(INCOMPLETE)
