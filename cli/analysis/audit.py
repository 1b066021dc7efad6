"""`judge audit`: would another judge order the runs in the same way?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..flags import Given, settings
from ..options import DryRun, Output, Seed, planned
from ..signatures import Folder, Takes
from ..stopping import INCOMPLETE, is_whole, list_problems, unless_stopped
from ..tables import spent_line, write_note

Several = Annotated[int, Takes(min=2)]


@settings("data.passages run.max_cost run.out")
def audit(
    given: Given,
    results: Folder,
    *,
    sample: Several | None = None,
    seed: Seed = 0,
    dry_run: DryRun = False,
    output: Output,
) -> None:
    """Judge a sample again by a judge of another family, and show where the order of runs changes.

    Example: judge audit results/demo --model preset:qwen3-8b --sample 30

    Exit: 0 complete, 2 usage or input, 3 some not judged.

    Args:
        results: A results folder of several runs.
        sample: Topics that are drawn and judged again; else all.
    """
    from ...metrics.bootstrap import LEVEL
    from ...programs.analysis.audit.audit import audit as audit_results
    from ...programs.analysis.audit.audit import families, family_warning
    from ...programs.analysis.audit.sample import audit_sections
    from ...programs.analysis.tables.audit import audit_view
    from ...programs.engine.manifest import read_manifest
    from ...programs.run import forecast, judge_collection, models_asked
    from ...records.reading.problems import InputError, Problems

    if given.model is None and given.path is None:
        raise InputError("name the other judge (--model, or --config with models:)")
    out = Path(given.flags.get("run.out") or f"{results}-audit")
    if out.resolve() == results.resolve():
        raise InputError(f"{out}: is the results folder; name another --out")
    sections = audit_sections(results, out, sample, seed)
    own = {name: value for name, value in sections.items() if name != "run"}
    own |= {f"run.{name}": value for name, value in sections["run"].items()}
    config = given.config(under=own)
    before, now = families(results, [model.model for _, model in models_asked(config)])
    warning = family_warning(before, now)
    if warning:
        write_note(f"Warning: {warning}.\n")
    if dry_run:
        planned(forecast(config).judges, as_json=output.as_json)
        return
    unless_stopped(lambda: judge_collection(config), "What was judged is kept", out)
    problems = Problems()
    audited = audit_results(results, out, problems, seed=seed)
    manifest = read_manifest(out)
    about = {"families": [before, now], "warning": warning, "level": LEVEL}
    n_of = len(read_manifest(results)["data"]["topic_ids"])
    rows = ({**about, **row} for row in audited)
    output.print(rows, lambda _: audit_view(audited, (before, now), n_of, LEVEL))
    list_problems(problems)
    missing = sum(manifest["unjudged"].values())
    lost = f"{missing:,} judgements are missing; they are not counted\n" if missing else ""
    write_note(f"{lost}{spent_line(manifest['this_time'])}\nResults: {out}\n")
    if not is_whole(manifest, config.run.allow_missing):
        raise typer.Exit(INCOMPLETE)
