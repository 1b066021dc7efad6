"""`judge calibrate --agent`: what fitting the judges of an agent found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..options import Output, planned
from ..stopping import INCOMPLETE, list_problems
from ..tables import write_note
from .fits import made_and_printed

if TYPE_CHECKING:
    from ...calibration.settings import Settings
    from ...programs.config.sections import Config

_SEARCH = "A search is counted at the most that it may ask, with every judge in turn.\n"


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
    output: Output,
) -> None:
    """Fit the judges of an agent and print what came of it, or what it would ask."""
    from ...calibration.agents.session import calibrate_agent, plan_agent
    from ...programs.analysis.tables.calibration import agent_view
    from ...records.reading.problems import Problems

    problems = Problems()
    options: dict[str, Any] = {"judges": judges, "limit": limit, "problems": problems}
    if dry_run:
        planned(
            plan_agent(labels, agent, config, settings, **options), _SEARCH, as_json=output.as_json
        )
        return
    fit = made_and_printed(
        lambda: calibrate_agent(
            labels, agent, config, settings, out=out, prompt_model=prompt_model, **options
        ),
        lambda fit, _: agent_view(fit.report, fit.files),
        output,
        diff=diff,
        unchanged="The prompts are as they were.\n",
    )
    if out is not None:
        for name in fit.files:
            write_note(f"Judge file: {out / f'{name}.json'}\n")
    list_problems(problems)
    if any(fit.report["unjudged"].values()):
        raise typer.Exit(INCOMPLETE)
