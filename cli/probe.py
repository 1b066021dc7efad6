"""`judge probe`: what the instrument itself moves."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .flags import Given, settings
from .options import AsJson, DryRun, Fields, Quiet, Seed, fields_of
from .signatures import Hidden, Positive, There


@settings(
    "data.passages data.index run.max_cost run.max_calls run.max_tokens run.offline run.cache"
)
def probe(
    given: Given,
    source: There,
    *,
    judge: str | None = None,
    faults: bool = False,
    injection: bool = False,
    conditions: str | None = None,
    sample: Positive | None = None,
    limit: Hidden = None,
    repeats: Positive = 3,
    seed: Seed = 0,
    fields: Fields = None,
    dry_run: DryRun = False,
    out: Path | None = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Judge the same items again with one thing about the judge changed, and show what moves.

    With --faults: plant faults in judged answers, and show which the judge sees.

    With --injection: plant texts that talk to the judge, and show which labels they decide; of an
    agent (a YAML file with tools), in the --passages that it finds.

    Example: judge probe results/demo --judge assigner --conditions batch,replicates

    Exit: 0 complete, 2 usage or input, 3 some not judged.

    Args:
        source: A results folder, nugget assignments, or rows (JSONL, CSV) of items with texts.
        judge: assigner, support, relevance, answerability, entailment, or a YAML file; with
            --faults all of a results folder by default.
        faults: Plant faults instead, and show which are seen.
        injection: Plant texts that talk to the judge, and show what they decide.
        conditions: Of batch,order,labels,input,replicates,schema,passages,length,citation,name;
            else all.
        sample: Items at most, or cases of each fault, by topic; default: 200, 30, and with
            --injection as many items as 30 calls hold.
        repeats: Orders of items, orders of labels, and replicates; calls that each text of
            --injection is planted in.

    Output:
        out: Folder for the rows, and for the labels by condition.
    """
    from ..programs.protocols.agent_items import is_agent
    from ..records.reading.problems import InputError
    from .probing.agents import agent_injection as of_agent
    from .probing.conditions import conditions as of_conditions
    from .probing.faults import faults as of_faults
    from .probing.faults import judges_of
    from .probing.injection import injection as of_injection
    from .probing.kind import Wanted, carry_out

    if conditions is not None and (faults or injection):
        what, flag = ("faults", "--faults") if faults else ("texts", "--injection")
        raise InputError(f"--conditions: {what} are planted under one; wanted it without {flag}")
    if faults and injection:
        raise InputError("--injection: wanted it without --faults")
    if judge is None and not faults:
        raise InputError("name the judge that is probed (--judge), or plant faults (--faults)")
    wanted = Wanted(
        *(source, judge, sample or limit, repeats, seed, fields_of(fields or ()), out),
        dry_run=dry_run,
        quiet=quiet,
        as_json=as_json,
    )
    resolved = _config(given, source, [judge] if judge is not None else judges_of(wanted))
    if faults:
        kind = of_faults(wanted, resolved)
    elif injection:
        of_kind = of_agent if is_agent(resolved.changed("items", judge=judge)) else of_injection
        kind = of_kind(wanted, str(judge), resolved)
    else:
        kind = of_conditions(wanted, str(judge), resolved, conditions)
        if not dry_run and "default" not in resolved.models and not resolved.judges:
            sys.stderr.write("No model named: the lexical judge answers (word overlap, no LLM).\n")
    carry_out(kind, wanted)


def _config(given: Given, source: Path, judges: Sequence[str]) -> Any:
    """The config file, or what a results folder was judged with, under the flags."""
    from ..judges.table import item_judges
    from ..programs.engine.folders.inputs import inputs_of

    names: Any = {judge if judge in item_judges() else "item" for judge in judges}
    under = {}
    if given.path is None and source.is_dir():
        known = inputs_of(source).config.model_dump(mode="json", by_alias=True)
        own = {name: known["judges"][name] for name in names & known["judges"].keys()}
        under = {"models": known["models"], "judges": own}
    resolved = given.config(under=under)
    for name in names & resolved.judges.keys() if given.model is not None else ():
        section = resolved.judges[name].model_copy(update={"model": "default"})  # named just now
        sections = {**resolved.judges, name: section}
        resolved = resolved.model_copy(update={"judges": sections})
    return resolved
