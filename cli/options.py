"""Options that several commands take, and what they come to."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

Out = Annotated[
    Path | None, typer.Option(help="Folder of the collection; default: run.out of the config.")
]
Model = Annotated[str | None, typer.Option(help="What answers, as in judge run; default: lexical.")]
ConfigFile = Annotated[
    Path | None,
    typer.Option(exists=True, dir_okay=False, help="Config file: models, judges, run."),
]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", help="NAME=VALUE for any setting, e.g. judges.answerability.window=15."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Take the first topics only.")]
MaxCost = Annotated[float | None, typer.Option(help="Dollars to spend at most.")]
MaxCalls = Annotated[int | None, typer.Option(help="Requests to send at most.")]
MaxTokens = Annotated[int | None, typer.Option(help="Tokens to use at most.")]
Offline = Annotated[bool, typer.Option("--offline", help="Answer from the reply cache alone.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print calls, tokens and cost; ask nothing.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
AsJson = Annotated[bool, typer.Option("--json", help="The statistics as one JSON object.")]


def run_flags(
    *,
    max_cost: float | None,
    max_calls: int | None,
    max_tokens: int | None,
    offline: bool,
    limit: int | None = None,
    out: Path | None = None,
) -> dict[str, Any]:
    """The settings of `run` that these flags name; None where one was not given."""
    return {
        "run.out": out,
        "run.limit": limit,
        "run.max_cost": max_cost,
        "run.max_calls": max_calls,
        "run.max_tokens": max_tokens,
        "run.offline": offline or None,
    }


def config_with(
    config: Path | None, flags: Mapping[str, Any], sets: Sequence[str] | None, model: str | None
) -> Any:
    """The config under the flags that were given, the others being None. Raises: InputError."""
    from ..programs.config.reading import load_config

    given = {name: value for name, value in flags.items() if value is not None}
    return load_config(config, given, sets or (), model)


def planned(plan: Iterable[Any], assumed: str, *, dry_run: bool, as_json: bool) -> bool:
    """Tell what the command will take; whether that was all that is wanted."""
    from .tables import plan_table, write_objects

    estimates = list(plan)
    if dry_run and as_json:
        write_objects(vars(estimate) for estimate in estimates)
        return True
    told = sys.stdout if dry_run else sys.stderr
    told.write(plan_table(estimates) + assumed)
    return dry_run
