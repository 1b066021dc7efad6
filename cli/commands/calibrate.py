"""`judge calibrate`: fit a judge to human labels, and see on other topics whether it helped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..flags import ParsedSettings, settings
from ..options import (
    DryRun,
    Fields,
    OutputOfMuch,
    Where,
    read_fields,
    read_where,
)
from ..signatures import File, OptionRules, Positive
from ..stopping import INCOMPLETE, list_problems
from ..tables import escape, write_note
from ..views import print_plan


@settings("data.topics data.runs data.passages run.max_cost")
def calibrate(
    given: ParsedSettings,
    labels: File,
    *,
    judge: str,
    method: str,
    out: Path | None = None,
    field: Fields = None,
    where: Where = None,
    scale: str | None = None,
    objective: str | None = None,
    folds: Annotated[int | None, OptionRules(min=2)] = None,
    match: str = "lexical",
    sample: Positive | None = None,
    option: list[str] | None = None,
    prompt_model: str | None = None,
    dry_run: DryRun = False,
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
        match: Who says what two lists share: lexical, or a judge such as entailment.
        sample: Use so many labels, even over topics.
        option (NAME=VALUE): topic_labels, weigh_words, seed, resamples, level, or an option of
            the prompt method; may be repeated.

    Output:
        out: Judge file to write, for judges.NAME.state.

    Models:
        prompt_model: Entry of models: that writes instructions.
    """
    from ...backends.errors import JudgeError
    from ...calibration.fits import FIT_METHODS
    from ...calibration.session import Fitting, read_scale
    from ...calibration.settings import make_settings
    from ...judges.verdicts import NO_PROBABILITIES
    from ...programs.analysis.tables.fits import make_calibration_view
    from ...records.judgements import Reason

    config = given.config()
    chosen = {"method": method, "objective": objective, "folds": folds, "match": match}
    how = make_settings(option or (), **chosen, concurrency=config.run.concurrency)
    fitting = Fitting(
        *(labels, judge, config, how),
        fields=read_fields(field or ()),
        where=read_where(where or ()),
        scale=read_scale(scale.split(",") if scale is not None else ()),
        limit=sample,
    )
    if dry_run:
        print_plan(fitting.plan(out), "", as_json=output.as_json)
        return
    try:
        fit = fitting.fit(out, prompt_model)
    except JudgeError as error:
        if error.reason is not Reason.BUDGET:
            raise
        write_note(f"judge: {error}. No judge file is written; raise the limit.\n")
        raise typer.Exit(INCOMPLETE) from None
    may_fold = how.method in FIT_METHODS
    about: dict[str, Any] = {"may_fold": may_fold, "missing": NO_PROBABILITIES}
    output.print(
        [fit.report], lambda has_all: make_calibration_view(fit.report, has_all=has_all, **about)
    )
    if fit.diff and output.has_all and not output.is_json:
        sys.stdout.write("\n" + escape(fit.diff))
    if out is not None:
        write_note(f"Judge file: {out}\n")
    list_problems(fitting.problems)
    if fit.report["n_unjudged"] or fit.report.get("n_unmatched"):
        raise typer.Exit(INCOMPLETE)
