"""`judge calibrate --agent`: what fitting the judges of an agent found; at most 100 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..options import planned
from ..stopping import INCOMPLETE, list_problems
from ..tables import aligned, estimate, figure
from .fits import made_and_printed

if TYPE_CHECKING:
    from ...calibration.settings import Settings
    from ...programs.config.sections import Config

_SEARCH = "A search is counted at the most that it may ask, with every judge in turn.\n"
_FIGURES = {"accuracy": "share of right outcomes", "calls": "calls of an item"}
_VERDICTS = {
    "better": "It helped: more outcomes are right on topics that the fit never saw.",
    "worse": "It did not help: fewer outcomes are right on topics that the fit never saw.",
    "unclear": "It is not clear that it helped: the interval of the difference holds 0.",
}


def fit_agent(
    labels: Path,
    agent: str,
    config: Config,
    settings: Settings,
    *,
    judges: Sequence[str],
    out: Path | None,
    prompt_model: str | None,
    limit: int | None,
    dry_run: bool,
    diff: bool,
    as_json: bool,
) -> None:
    """Fit the judges of an agent and print what came of it, or what it would ask."""
    from ...calibration.agents.session import calibrate_agent, plan_agent
    from ...records.reading.problems import Problems

    problems = Problems()
    options: dict[str, Any] = {"judges": judges, "limit": limit, "problems": problems}
    if dry_run:
        planned(plan_agent(labels, agent, config, settings, **options), _SEARCH, as_json=as_json)
        return
    fit = made_and_printed(
        lambda: calibrate_agent(
            labels, agent, config, settings, out=out, prompt_model=prompt_model, **options
        ),
        lambda fit: report_text(fit.report, fit.files, out),
        as_json=as_json,
        diff=diff,
        unchanged="The prompts are as they were.\n",
    )
    list_problems(problems)
    if any(fit.report["unjudged"].values()):
        raise typer.Exit(INCOMPLETE)


def report_text(report: Mapping[str, Any], files: Mapping[str, Any], out: Path | None) -> str:
    """What was fitted, on what, and whether it helped."""
    [split] = report["topics"]
    parts = ", ".join(f"{name} {len(split[name])}" for name in ("train", "dev", "test"))
    lines = [
        f"agent {report['agent']}, method {report['method']}, a call costs "
        f"{report['call_price']:g} of a right outcome",
        f"{report['n_examples']:,} items; tested on {report['n_test']:,} of "
        f"{report['n_test_topics']} topics (topics: {parts})",
        "",
    ]
    table = [["test", "before", "after", "difference"]]
    for name, row in report["figures"].items():
        table.append([_FIGURES[name], *(estimate(row[side]) for side in table[0][1:])])
    lines += [*aligned(table).splitlines(), ""]
    table = [["judge", "items", "candidates", "calls", "gain on dev", "not judged", "prompt"]]
    for name, of in report["judges"].items():
        if not of["n_train"]:
            table.append([name, "0", "-", "-", "-", "-", "never asked"])
            continue
        gains = " -> ".join(map(figure, (of["dev_gain_before"], of["dev_gain_after"])))
        counts = (f"{of[key]:,}" for key in ("n_train", "n_candidates", "calls"))
        failed = " -> ".join(str(of[key]) for key in ("n_failed_before", "n_failed_after"))
        is_new = "new" if name in files else "as it was"
        stopped = f", stopped by the {of['stopped_by']}" if of["stopped_by"] else ""
        table.append([name, *counts, gains, failed, is_new + stopped])
    lines += [*aligned(table).splitlines(), "", _VERDICTS[report["verdict"]]]
    for side, reasons in report["unjudged"].items():
        if reasons:
            why = ", ".join(f"{reason} {n:,}" for reason, n in reasons.items())
            n = sum(reasons.values())
            lines.append(f"{n:,} items had no outcome {side} and are left out: {why}.")
    if out is not None:
        lines += [f"Judge file: {out / f'{name}.json'}" for name in files]
    return "\n".join(line.rstrip() for line in lines) + "\n"
