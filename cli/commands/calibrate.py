"""`judge calibrate`: fit a judge to human labels, and test the effect on other topics."""

from __future__ import annotations

import sys
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..flags import ParsedSettings, settings
from ..options import (
    DryRun,
    OutputOfMuch,
    TableLayout,
    Where,
    read_where,
)
from ..signatures import File, OptionRules, Positive
from ..stopping import INCOMPLETE, list_problems
from ..tables import escape, write_note
from ..views import print_plan

if TYPE_CHECKING:
    from ...calibration.fitting import Calibration
    from ...calibration.session import Fitting
    from ...programs.config.sections import Config
    from ...records.columns import TableOptions


@dataclass(frozen=True)
class FitOptions:
    """How to fit a judge, and to which labels.

    Args:
        judge: Judge to fit: assigner, support, relevance, answerability, entailment, importance, or
            a YAML file; for lists: nuggetizer, subquestions, keypoint_extractor, claim_extractor.
        method: Fit cuts or scores with threshold, topic, platt, ordinal or isotonic; improve
            prompts with few-shot, bootstrap, mipro, simba or gepa; train a small network with
            train.
        objective: Agreement to maximise: kappa, linear, quadratic, macro_f1, accuracy or
            one_vs_rest:LABEL; default: linear, or kappa for 2 labels.
        folds: Cross-validate with this many folds of topics; the file is fitted to all labels.
        match: Who decides what two lists share: lexical, or a judge such as entailment.
        sample: Use only this many labels, spread evenly over topics.
        option (NAME=VALUE): Change an option of the fit: topic_labels, weigh_words, seed,
            resamples (bootstrap samples), level (of intervals, such as 0.95), or one of the prompt
            method; of train: epochs. May be repeated.
    """

    _: KW_ONLY
    judge: str
    method: str
    where: Where = None
    objective: str | None = None
    folds: Annotated[int | None, OptionRules(min=2)] = None
    match: str = "lexical"
    sample: Positive | None = None
    option: list[str] | None = None

    def prepare(self, labels: Path, config: Config, table: TableOptions) -> Fitting:
        """Prepare the fit to a file of labels. Raises: InputError for an invalid option."""
        from ...calibration.session import Fitting
        from ...calibration.settings import make_settings

        return Fitting(
            labels,
            self.judge,
            config,
            make_settings(
                self.option or (),
                method=self.method,
                objective=self.objective,
                folds=self.folds,
                match=self.match,
                concurrency=config.run.concurrency,
            ),
            fields=table.fields,
            where=read_where(self.where or ()),
            scale=table.scale,
            limit=self.sample,
            missing=table.missing,
            sheet=table.sheet,
        )


@settings("data.topics data.runs data.passages run.max_cost")
def calibrate(
    given: ParsedSettings,
    labels: File,
    *,
    options: FitOptions,
    table: TableLayout,
    out: Path | None = None,
    prompt_model: str | None = None,
    dry_run: DryRun = False,
    output: OutputOfMuch,
) -> None:
    """Fit a judge to human labels on some topics, and test the effect on other topics.

    Example: judge calibrate labels.jsonl --judge support --model lexical --method threshold
    --passages passages.jsonl --out fitted/support.json

    Exit: 0 fitted, 2 usage or input, 3 some items not judged or no budget for a new prompt, 130
    interrupted.

    Args:
        labels: Human labels: a table, nugget or support assignments, qrels, or lists.

    Output:
        out: Judge file to write; use it as judges.NAME.state. For train: folder to write; use
            it as --model trained/OUT.

    Models:
        prompt_model: Model that writes instructions, a name under models:.
    """
    from ...backends.errors import JudgeError
    from ...records.judgements import Reason

    fitting = options.prepare(labels, given.config(), table.options)
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
    _print_fit(fit, options.method, output)
    if out is not None and fit.save is not None:
        write_note(
            f"Trained judge: {out}. Use it with --model trained/{out}. Before you share it, see "
            "whether the licences of its labels and texts allow that.\n"
        )
    elif out is not None:
        write_note(f"Judge file: {out}\n")
    list_problems(fitting.problems)
    if fit.report["n_unjudged"] or fit.report.get("n_unmatched"):
        raise typer.Exit(INCOMPLETE)


def _print_fit(fit: Calibration, method: str, output: OutputOfMuch) -> None:
    """Print the report of a fit, and with --all how the prompt changed."""
    from ...calibration.fits import FIT_METHODS
    from ...judges.verdicts import NO_PROBABILITIES
    from ...programs.analysis.tables.fits import make_calibration_view

    output.print(
        [fit.report],
        lambda has_all: make_calibration_view(
            fit.report, has_all=has_all, may_fold=method in FIT_METHODS, missing=NO_PROBABILITIES
        ),
    )
    if fit.diff and output.has_all and not output.is_json:
        sys.stdout.write("\n" + escape(fit.diff))
