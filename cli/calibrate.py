"""`judge calibrate`: fit a judge to human labels, and see on other topics whether it helped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .analysis.fits import made_and_printed
from .flags import Given, settings
from .options import (
    DryRun,
    Fields,
    OutputOfMuch,
    Resamples,
    Seed,
    Where,
    fields_of,
    planned,
    where_of,
)
from .signatures import File, Hidden, Positive, Takes
from .stopping import INCOMPLETE, list_problems
from .tables import write_note


@settings(
    "data.topics data.runs data.passages data.nuggets data.rubrics data.candidates data.qrels "
    "data.reference data.documents run.max_cost run.max_calls run.max_tokens run.offline"
)
def calibrate(
    given: Given,
    labels: File,
    *,
    judge: str,
    method: str,
    out: Path | None = None,
    field: Fields = None,
    where: Where = None,
    scale: str | None = None,
    objective: str | None = None,
    folds: Annotated[int | None, Takes(min=2)] = None,
    topic_labels: Annotated[int, Takes(min=0)] = 10,
    weigh_words: bool = True,
    match: str = "lexical",
    sample: Positive | None = None,
    limit: Hidden = None,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    level: float = 0.95,
    option: list[str] | None = None,
    prompt_model: str | None = None,
    dry_run: DryRun = False,
    diff: bool = False,
    output: OutputOfMuch,
) -> None:
    """Fit a judge to human labels on some topics and measure on others whether it helped.

    Example: judge calibrate labels.jsonl --judge support --model lexical --method threshold
    --passages passages.jsonl --out fitted/support.json

    Exit: 0 fitted, 2 usage or input, 3 some items were not judged or the budget allowed no new
    prompt, 130 interrupted.

    Args:
        labels: Human labels: rows, assignments, support, qrels; or lists.
        judge: assigner, support, relevance, answerability, entailment, importance, or your YAML
            file; lists: nuggetizer, subquestions, keypoint_extractor, claim_extractor.
        method: threshold, topic, platt, ordinal, isotonic; few-shot, bootstrap, mipro, simba, gepa
            (prompts).
        scale: Labels of people, worst to best, e.g. 0=none,1=none,2=full.
        objective: kappa, linear, quadratic, macro_f1, accuracy or one_vs_rest:LABEL; default:
            linear, or kappa for 2 labels.
        folds: Test every topic once; the file is fitted to all labels.
        topic_labels: Labels of each test topic that method topic may use.
        weigh_words: Weigh the lexical score's words by how rare they are.
        match: Who says what two lists share: lexical, or a judge such as entailment.
        sample: Use so many labels, even over topics.
        level: Of the intervals.
        option (NAME=VALUE): Of the prompt method.

    Output:
        out: Judge file to write, for judges.NAME.state.
        diff: Show the new prompt against the default.

    Models:
        prompt_model: Entry of models: that writes instructions.
    """
    from ..calibration.fits import FIT_METHODS
    from ..calibration.session import Fitting, options_of, scale_of
    from ..calibration.settings import Settings
    from ..judges.verdicts import NO_PROBABILITIES
    from ..programs.analysis.tables.calibration import fit_view

    config = given.config()
    how = Settings(
        method=method,
        objective=objective,
        folds=folds,
        topic_labels=topic_labels,
        weigh_words=weigh_words,
        match=match,
        seed=seed,
        resamples=resamples,
        level=level,
        concurrency=config.run.concurrency,
        options=options_of(option or ()),
    )
    fitting = Fitting(
        *(labels, judge, config, how),
        fields=fields_of(field or ()),
        where=where_of(where or ()),
        scale=scale_of(scale.split(",") if scale is not None else ()),
        limit=sample or limit,
    )
    if dry_run:
        planned(fitting.plan(out), "", as_json=output.as_json)
        return
    fit = made_and_printed(
        lambda: fitting.fit(out, prompt_model),
        lambda fit, has_all: fit_view(
            fit.report,
            has_all=has_all,
            may_fold=how.method in FIT_METHODS,
            missing=NO_PROBABILITIES,
        ),
        output,
        diff=diff,
        unchanged="The prompt is as it was.\n",
    )
    if out is not None:
        write_note(f"Judge file: {out}\n")
    list_problems(fitting.problems)
    if fit.report["n_unjudged"] or fit.report.get("n_unmatched"):
        raise typer.Exit(INCOMPLETE)
