"""`judge audit`, `judge bias`, `judge drift` and `judge evidence`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...cli.flags import ParsedSettings, settings
from ...cli.options import (
    NAMES_OF_MODELS,
    DryRun,
    Kind,
    Output,
    Seed,
    TableLayout,
    Where,
    read_where,
)
from ...cli.signatures import ExistingPath, Folder, OptionRules, Positive
from ...cli.stopping import INCOMPLETE, is_whole, list_problems, open_results, run_until_stopped
from ...cli.tables import format_spending, write_note
from ...cli.views import print_plan
from ...metrics.inference import LEVEL
from ...records.reading.problems import InputError, Problems

Several = Annotated[int, OptionRules(min=2)]


@settings(
    "data.passages run.max_cost run.out",
    helps={
        "model": f"The other model: lexical, {NAMES_OF_MODELS}; required, or give --config.",
        "out": "Folder for the other judge's results; default: RESULTS-audit.",
    },
)
def audit(
    given: ParsedSettings,
    results: Folder,
    *,
    sample: Several | None = None,
    seed: Seed = 0,
    dry_run: DryRun = False,
    output: Output,
) -> None:
    """Judge a sample again with a model of another family, and show where the order changes.

    Example: judge audit results/demo --model preset:qwen3-8b --sample 30

    Exit: 0 complete, 2 usage or input, 3 some not judged.

    Args:
        results: A results folder of several runs.
        sample: Number of topics to judge again; default: all.
    """
    from ...programs.engine.manifest import read_manifest
    from ...programs.run import forecast, judge_collection, models_asked
    from .audit import audit_results, audit_sections, audit_view, families, family_warning

    if given.model is None and given.path is None:
        raise InputError("judge audit needs another judge: --model, or --config with models:")
    out = Path(given.flags.get("run.out") or f"{results}-audit")
    if out.resolve() == results.resolve():
        raise InputError(f"{out}: this is the audited results folder; choose another --out")
    sections = audit_sections(results, out, sample, seed)
    own = {name: value for name, value in sections.items() if name != "run"}
    own |= {f"run.{name}": value for name, value in sections["run"].items()}
    config = given.config(under=own)
    before, now = families(results, [model.model for _, model in models_asked(config)])
    if warning := family_warning(before, now):
        write_note(f"Warning: {warning}.\n")
    if dry_run:
        print_plan(forecast(config).judges, as_json=output.as_json)
        return
    run_until_stopped(lambda: judge_collection(config), "What was judged is kept", out)
    problems = Problems()
    audited = audit_results(results, out, problems, seed=seed)
    manifest = read_manifest(out)
    about = {"families": [before, now], "warning": warning, "level": LEVEL}
    n_of = len(read_manifest(results)["data"]["topic_ids"])
    rows = ({**about, **row} for row in audited)
    output.print(rows, lambda _: audit_view(audited, (before, now), n_of, LEVEL))
    list_problems(problems)
    missing = sum(manifest["unjudged"].values())
    lost = f"{missing:,} judgements failed; they are not counted\n" if missing else ""
    write_note(f"{lost}{format_spending(manifest['this_time'])}\nResults: {out}\n")
    if not is_whole(manifest, config.run.allow_missing):
        raise typer.Exit(INCOMPLETE)


def bias(
    context: typer.Context,
    human: ExistingPath,
    judged: ExistingPath,
    *,
    by: str,
    where: Where = None,
    kind: Kind = None,
    table: TableLayout,
    output: Output,
) -> None:
    """Show what the judge is biased by: where it labels higher or lower than people.

    Example: judge bias human.jsonl results/demo --by length,run

    Args:
        human: Labels of people, or a results folder of them.
        judged: A results folder, or a file of judgements.
        by (NAMES): What the error may depend on; one or more of length (words of the judged
            text), position (of the sentence), rank and citations (of the sentence), run,
            run:PATTERN (runs whose names match).
    """
    from .bias import bias_view, judge_errors

    problems = Problems()
    names, chosen = [name.strip() for name in by.split(",")], read_where(where or ())
    human, judged = open_results(context, [human, judged])
    errors = judge_errors(
        human, judged, names, problems, where=chosen, kind=kind, how=table.options
    )
    output.print([errors], lambda _: bias_view(errors))
    list_problems(problems)


def drift(
    old: ExistingPath,
    new: ExistingPath,
    *,
    labels: ExistingPath | None = None,
    where: Where = None,
    kind: Kind = None,
    measure: list[str] | None = None,
    margin: float = 0.05,
    table: TableLayout,
    output: Output,
) -> None:
    """Find out whether scores changed because of the judge or because of the systems.

    Example: judge drift results/may results/june --labels human.csv

    Args:
        old: The old judgements: a results folder or a file.
        new: The new judgements, or those of another judge.
        labels: Labels of people. Items that people and both judges labelled become the anchors;
            default: all items that both judged.
        measure: Measure whose change is split; may be repeated; default: the main one.
        margin: A change that is certainly smaller than this counts as none.
    """
    from .drift import drift_view, judge_drift

    if labels is None and (given := [*(["--where"] if where else []), *table.list_given()]):
        raise InputError(f"{', '.join(given)}: only for labels of people; give --labels too")
    problems = Problems()
    changes = judge_drift(
        old,
        new,
        problems,
        labels=labels,
        where=read_where(where or ()),
        kind=kind,
        measures=measure or (),
        margin=margin,
        how=table.options,
    )
    output.print(changes, lambda _: drift_view(changes))
    list_problems(problems)


def evidence(
    results: ExistingPath,
    *,
    labels: list[ExistingPath],
    sample: Positive | None = None,
    output: Output,
) -> None:
    """Show how often suggested citations are right, and whether the search finds known good ones.

    For labelled suggestions: the share that supports the sentence, by score. For citations that
    people labelled full support: whether the search finds them again, and whether it repairs a
    sentence whose citation was swapped. The latter asks the judges of the folder.

    Example: judge evidence results/evidence --labels human.jsonl

    Args:
        results: A results folder of judge run evidence.
        labels: Support labels of people, for citations of the runs or for suggestions.
        sample: Most full-support citations to search for; default: all.
    """
    from ...programs.protocols.evidence import FILE
    from ...records.labels import read_labels
    from ...records.support import SUPPORT_KIND
    from .evidence import evidence_view, find_labelled_suggestions, precision_rows, refound

    problems = Problems()
    labels_by_cell: dict[Any, str] = {}
    for path in labels:
        label_file = read_labels(path, problems, is_human=True)
        if label_file.kind != SUPPORT_KIND.name:
            raise InputError(f"{path}: has labels of {label_file.kind}; wanted labels of citations")
        labels_by_cell |= label_file.cells
    problems.raise_errors()
    list_problems(problems)
    if not (results / FILE).is_file():
        raise InputError(f"{results}: has no {FILE}; run `judge run evidence` first")
    read = find_labelled_suggestions(results / FILE, labels_by_cell)
    precision = precision_rows(read) if read else []
    again = refound(results, labels_by_cell, sample=sample)
    has_confirmed = any(row["n"] for row in again.search)
    if not (precision or has_confirmed):
        raise InputError("no label belongs to a suggestion or to a citation of these runs")
    search, swaps = (again.search, again.swaps) if has_confirmed else ([], [])
    objects = [*precision, *search, *swaps]
    output.print(objects, lambda _: evidence_view(precision, search, swaps))
