"""`judge probe`: what moves a judge's labels besides what it judges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .flags import Given, settings
from .options import OutputOfMuch
from .probing.conditions import conditions
from .probing.faults import faults, judges_of
from .probing.injection import injection
from .probing.kind import Wanted, carry_out
from .tables import write_note


@settings("data.passages run.max_cost")
def probe(
    given: Given,
    wanted: Wanted,
    output: OutputOfMuch,
) -> None:
    """Judge the same items again with one thing about the judge changed, and show what moves.

    With --faults: plant faults in judged answers, and show which the judge sees.

    With --injection: plant texts that talk to the judge, and show which labels they decide.

    Example: judge probe results/demo --judge assigner --conditions batch,replicates

    Exit: 0 complete, 2 usage or input, 3 some not judged.
    """
    from ..records.reading.problems import InputError

    if wanted.conditions is not None and (wanted.faults or wanted.injection):
        what, flag = ("faults", "--faults") if wanted.faults else ("texts", "--injection")
        raise InputError(f"--conditions: {what} are planted under one; wanted it without {flag}")
    if wanted.faults and wanted.injection:
        raise InputError("--injection: wanted it without --faults")
    if (judge := wanted.judge) is None and not wanted.faults:
        raise InputError("name the judge that is probed (--judge), or plant faults (--faults)")
    config = _config(given, wanted.source, [judge] if judge is not None else judges_of(wanted))
    if wanted.faults:
        kind = faults(wanted, config)
    elif wanted.injection:
        kind = injection(wanted, str(judge), config)
    else:
        kind = conditions(wanted, str(judge), config)
        if not wanted.dry_run and "default" not in config.models and not config.judges:
            write_note("No model named: the lexical judge answers (word overlap, no LLM).\n")
    carry_out(kind, wanted, output)


def _config(given: Given, source: Path, judges: Sequence[str]) -> Any:
    """The config file, or what a results folder was judged with, under the flags."""
    from ..judges.table import item_judges
    from ..programs.engine.folders.inputs import inputs_of

    names: Any = {judge if judge in item_judges() else "item" for judge in judges}
    under = {}
    if given.path is None and source.is_dir():
        run_config = inputs_of(source).config.model_dump(mode="json", by_alias=True)
        own = {name: run_config["judges"][name] for name in names & run_config["judges"].keys()}
        under = {"models": run_config["models"], "judges": own}
    resolved = given.config(under=under)
    for name in names & resolved.judges.keys() if given.model is not None else ():
        section = resolved.judges[name].model_copy(update={"model": "default"})  # named just now
        sections = {**resolved.judges, name: section}
        resolved = resolved.model_copy(update={"judges": sections})
    return resolved
