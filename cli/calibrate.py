"""`judge calibrate`: fit a judge to human labels, and see on other topics whether it helped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .analysis.fits import made_and_printed
from .analysis.fitted_agents import fit_agent
from .flags import Given, settings
from .options import (
    AsJson,
    DryRun,
    Fields,
    Resamples,
    Seed,
    Where,
    fields_of,
    planned,
    where_of,
)
from .signatures import File, Hidden, Positive, Takes
from .stopping import INCOMPLETE, list_problems
from .tables import estimate, figure

FEW_TOPICS = 5  # below which draws of topics are too much alike
_DROPPED = (
    "The correction of the judge's state is dropped: it was fitted to scores of the old prompt.\n"
    "Fit another to those of the new one, with this file as state."
)
NAMES = {
    "kappa": "Cohen kappa",
    "linear": "linear kappa",
    "quadratic": "quadratic kappa",
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
}


@settings(
    "data.topics data.runs data.passages data.nuggets data.rubrics data.candidates data.qrels "
    "data.reference data.documents run.max_cost run.max_calls run.max_tokens run.offline"
)
def calibrate(
    given: Given,
    labels: File,
    *,
    judge: str | None = None,
    method: str | None = None,
    agent: str | None = None,
    call_price: Annotated[float, Takes(min=0)] = 0.005,
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
    as_json: AsJson = False,
) -> None:
    """Fit a judge to human labels on some topics and measure on others whether it helped.

    Example: judge calibrate labels.jsonl --judge support --model lexical --method threshold
    --passages passages.jsonl --out fitted/support.json
    / judge calibrate outcomes.jsonl --agent evidence --passages passages.jsonl --out fitted

    Exit: 0 fitted, 2 usage or input, 3 some items were not judged or the budget allowed no new
    prompt, 130 interrupted.

    Args:
        labels: Human labels: rows, assignments, support, qrels; or lists.
        judge: assigner, support, relevance, answerability, entailment, importance, or your YAML
            file; lists: nuggetizer, subquestions, keypoint_extractor, claim_extractor.
        method: threshold, topic, platt, ordinal, isotonic; few-shot, bootstrap, mipro, simba, gepa
            (prompts).
        agent: Fit the judges of this program's agent, or of them --judge, by its outcomes.
        call_price: With --agent: what a call takes from a right outcome, 1.
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
        out: Judge file to write, for judges.NAME.state; with --agent a folder for them.
        diff: Show the new prompt against the default.

    Models:
        prompt_model: Entry of models: that writes instructions.
    """
    from ..calibration.session import Fitting, options_of, scale_of
    from ..calibration.settings import Settings
    from ..records.reading.problems import InputError

    config = given.config()
    if judge is None and agent is None:
        raise InputError("Missing option '--judge', or --agent to fit those of an agent")
    if method is None and agent is None:
        raise InputError("Missing option '--method', such as threshold")
    how = Settings(
        method=method or "gepa",
        call_price=call_price,
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
    if agent is not None:
        if field or where or scale:
            raise InputError("--field, --where and --scale are about labels of a judge")
        fit_agent(
            labels,
            agent,
            config,
            how,
            judges=judge.split(",") if judge else (),
            out=out,
            prompt_model=prompt_model,
            limit=sample or limit,
            dry_run=dry_run,
            diff=diff,
            as_json=as_json,
        )
        return
    assert judge is not None
    fitting = Fitting(
        *(labels, judge, config, how),
        fields=fields_of(field or ()),
        where=where_of(where or ()),
        scale=scale_of(scale.split(",") if scale is not None else ()),
        limit=sample or limit,
    )
    if dry_run:
        planned(fitting.plan(out), "", as_json=as_json)
        return
    fit = made_and_printed(
        lambda: fitting.fit(out, prompt_model),
        lambda fit: _report_text(fit.report, out),
        as_json=as_json,
        diff=diff,
        unchanged="The prompt is as it was.\n",
    )
    list_problems(fitting.problems)
    if fit.report["n_unjudged"] or fit.report.get("n_unmatched"):
        raise typer.Exit(INCOMPLETE)


def _report_text(report: Mapping[str, Any], out: Path | None) -> str:
    """What was fitted, on what, and whether it helped."""
    from ..calibration.fits import FIT_METHODS
    from ..judges.verdicts import NO_PROBABILITIES

    lines = [
        f"{report['judge']} by {report['model'] or 'DSPy'}, method {report['method']}, "
        f"chosen by {report['objective']}" + _matched(report),
        _topics(report),
        "",
        "test".ljust(24) + "before".rjust(24) + "after".rjust(24) + "difference".rjust(24),
    ]
    names = dict(NAMES)
    if "scale" in report:
        names["best_vs_rest"] = f"kappa {report['scale'][-1]} or not"
    for name, row in report["figures"].items():
        lines.append(_row(names[name], row))
    if "without_topic_labels" in report:
        n = report["topic_labels"]
        lines += ["", f"without the labels of the test topics, {n} of each at most"]
        for name, row in report["without_topic_labels"].items():
            lines.append(_row(names[name], row))
    for side, scores in report.get("probabilities", {}).items():
        lines += ["", _chances(side, scores)]
    if "optimiser" in report:
        lines += ["", _optimiser(report["optimiser"])]
    lines += ["", _verdict(report, names)]
    has_intervals = report["figures"][report["main_figure"]]["after"]["low"] is not None
    if has_intervals and report["n_test_topics"] < FEW_TOPICS:
        n, n_all = report["n_test_topics"], len(_topics_of(report))
        has_folds = report["method"] in FIT_METHODS
        more = f"; --folds {n_all} tests all {n_all}" if n < n_all and has_folds else ""
        lines.append(f"With {n} test topics the intervals are a rough guide{more}.")
    if report["n_unjudged"]:
        why = ", ".join(f"{reason} {n:,}" for reason, n in report["unjudged"].items())
        what = "lists were not made" if "match" in report else "items were not judged"
        lines.append(f"{report['n_unjudged']:,} {what} and are left out: {why}.")
    if n := report.get("n_without_probabilities"):
        lines.append(f"{n:,} {NO_PROBABILITIES}: judge doctor tells whether the model gives any.")
    if n := report.get("n_unmatched"):
        why = ", ".join(f"{reason} {n:,}" for reason, n in report["unmatched"].items())
        lines.append(f"{n:,} items of lists were not matched and are left out: {why}.")
    if out is not None:
        lines.append(f"Judge file: {out}")
    return "\n".join(lines) + "\n"


def _matched(report: Mapping[str, Any]) -> str:
    return f", matched by {report['match']}" if "match" in report else ""


def _topics(report: Mapping[str, Any]) -> str:
    splits = report["topics"]
    what = f"{report['n_lists']:,} lists" if "match" in report else f"{report['n_labels']:,} labels"
    n = f"{what}; tested on {report['n_test']:,} of "
    n += f"{report['n_test_topics']} topics"
    if len(splits) > 1:
        return f"{n}, each topic by a fit to the other {len(splits) - 1} of {len(splits)} folds"
    parts = ", ".join(f"{name} {len(splits[0][name])}" for name in ("train", "dev", "test"))
    return f"{n} (topics: {parts})"


def _topics_of(report: Mapping[str, Any]) -> set[str]:
    return {topic for part in report["topics"][0].values() for topic in part}


def _row(name: str, row: Mapping[str, Any]) -> str:
    columns = (estimate(row[side]) for side in ("before", "after", "difference"))
    return f"  {name}".ljust(24) + "".join(column.rjust(24) for column in columns)


def _chances(side: str, scores: Mapping[str, Any]) -> str:
    width = max(22, *(len(row["label"]) for row in scores["reliability"])) + 2
    lines = [
        f"probabilities {side}: Brier {scores['brier']:.3f}, log loss {scores['log_loss']:.3f}, "
        f"ECE {scores['ece']:.3f} (n {scores['n']:,})",
        "  label".ljust(width) + "foretold".rjust(10) + "share".rjust(10) + "n".rjust(8),
    ]
    for row in scores["reliability"]:
        shown, share = f"{row['mean_probability']:.3f}", f"{row['share']:.3f}"
        lines.append(f"  {row['label']}".ljust(width) + f"{shown:>10}{share:>10}{row['n']:>8,}")
    return "\n".join(lines)


def _optimiser(optimised: Mapping[str, Any]) -> str:
    text = (
        f"{optimised['n_candidates']} candidates, {optimised['calls']:,} calls; mean gain on dev "
    )
    gains = (optimised["dev_gain_before"], optimised["dev_gain_after"])
    text += " -> ".join(map(figure, gains))
    if optimised["stopped_by"]:
        text += f"; stopped by the {optimised['stopped_by']}"
    if optimised["correction_dropped"]:
        text += f"\n{_DROPPED}"
    return text


def _verdict(report: Mapping[str, Any], names: Mapping[str, str]) -> str:
    name = names[report["main_figure"]]
    main = report["figures"][report["main_figure"]]
    if main["before"] is None:
        return f"The judge's own labels are of another scale, so {name} has nothing before it."
    if (main["difference"] or {}).get("low") is None:
        return f"There is no telling whether it helped: {name} has no interval on these topics."
    return {
        "better": f"It helped: {name} is higher on topics that the fit never saw.",
        "worse": f"It did not help: {name} is lower on topics that the fit never saw.",
        "unclear": f"It is not clear that it helped: the interval of the difference in {name} "
        "holds 0.",
    }[report["verdict"]]
