"""`judge probe`: what changes a judge's labels although the content is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ....cli.flags import ParsedSettings, settings
from ....cli.options import DryRun, Fields, OutputOfMuch, Seed, read_fields
from ....cli.signatures import ExistingPath, Positive
from ....cli.stopping import INCOMPLETE, list_problems
from ....cli.tables import cell, format_spending, write_note
from ....cli.views import print_plan
from ....records.reading.problems import InputError, Problems

if TYPE_CHECKING:
    from .probing import ProbeResult, Probing, Skipped


@dataclass(frozen=True)
class Wanted:
    """The options of the command line besides the settings of the config.

    Args:
        source: A results folder, nugget assignments, or rows (JSONL, CSV) of items with texts.
        judge: assigner, support, relevance, answerability, entailment, or a YAML file. Default
            with --faults: all judges of the results folder.
        faults: Plant errors in answers, and show which ones the judge finds.
        injection: Plant prompt injections in the texts, and show which labels they change.
        conditions: One or more of batch, order, labels, input, replicates, schema, passages,
            length, citation, name; default: all.
        sample: Most items, spread over the topics; default: 200. With --faults, cases of each
            fault; default: 30. With --injection, default: the items of 30 calls.
        repeats: Number of item orders, label orders and replicates. With --injection: calls in
            which each text is planted.

    Output:
        out: Folder for the rows, and for the labels by condition.
    """

    source: ExistingPath
    _: KW_ONLY
    judge: str | None = None
    faults: bool = False
    injection: bool = False
    conditions: str | None = None
    sample: Positive | None = None
    repeats: Positive = 3
    seed: Seed = 0
    fields: Fields = None
    dry_run: DryRun = False
    out: Path | None = None


@settings("data.passages run.max_cost")
def probe(
    given: ParsedSettings,
    wanted: Wanted,
    output: OutputOfMuch,
) -> None:
    """Judge the same items again with one thing about the judge changed, and show what changes.

    With --faults: plant errors in judged answers, and show which ones the judge finds.

    With --injection: plant prompt injections, and show which labels they change.

    Example: judge probe results/demo --judge assigner --conditions batch,replicates

    Exit: 0 complete, 2 usage or input, 3 some not judged.
    """
    from ....programs.engine.folders import check_writable
    from .probing import check_probe_folder, write_probe

    probing = _prepare(given, wanted)
    kind, problems, out = probing.kind, probing.problems, wanted.out
    if wanted.dry_run:
        estimates, skipped = probing.plan()
        notes = "".join(f"{line}\n" for line in _list_skipped(skipped))
        print_plan(estimates, notes, as_json=output.as_json)
        list_problems(problems)
        return
    if out is not None:
        check_writable(out)
        check_probe_folder(out, kind.names)
    result = probing.ask(lambda line: write_note(f"{line}\n"))
    if out is not None:
        write_probe(out, kind.names, result, {"source": str(wanted.source)})

    def view(has_all: bool) -> Any:
        made = kind.view(result, has_all)
        return replace(made, notes=[*made.notes, *_list_skipped(result.skipped)])

    output.print(result.rows, view)
    list_problems(problems)
    write_note(_end(probing, result, out))
    if result.n_unjudged or result.limit_reached:
        raise typer.Exit(INCOMPLETE)


def _prepare(given: ParsedSettings, wanted: Wanted) -> Probing:
    """Prepare the chosen probe. Raises: InputError."""
    from .faults import judges_in, probing_faults
    from .injection import probing_injection
    from .probing import Options
    from .shifts import probing_conditions

    if wanted.conditions is not None and (wanted.faults or wanted.injection):
        flag = "--faults" if wanted.faults else "--injection"
        raise InputError(f"--conditions and {flag} exclude each other; use one of them")
    if wanted.faults and wanted.injection:
        raise InputError("--faults and --injection exclude each other; use one of them")
    if wanted.judge is not None:
        judges = [wanted.judge]
    elif wanted.faults:
        judges = judges_in(wanted.source)
    else:
        raise InputError("name the judge to probe with --judge, or plant errors with --faults")
    config = _config(given, wanted.source, judges)
    names = read_fields(wanted.fields or ())
    kinds = _kinds(wanted.conditions)
    options = Options(wanted.sample, wanted.repeats, wanted.seed, names, kinds)
    make = probing_conditions
    if wanted.faults or wanted.injection:
        make = probing_faults if wanted.faults else probing_injection
    elif not wanted.dry_run and "default" not in config.models and not config.judges:
        write_note("No model named: the lexical judge answers (word overlap, no LLM).\n")
    return make(wanted.source, judges, config, Problems(), options)


def _config(given: ParsedSettings, source: Path, judges: Sequence[str]) -> Any:
    """The config file, or the settings of a results folder, overridden by the flags."""
    from ....judges.table import item_judges
    from ....programs.engine.folders import find_inputs

    names: Any = {judge if judge in item_judges() else "item" for judge in judges}
    under = {}
    if given.path is None and source.is_dir():
        run_config = find_inputs(source).config.model_dump(mode="json", by_alias=True)
        own = {name: run_config["judges"][name] for name in names & run_config["judges"].keys()}
        under = {"models": run_config["models"], "judges": own}
    resolved = given.config(under=under)
    for name in names & resolved.judges.keys() if given.model is not None else ():
        section = resolved.judges[name].model_copy(update={"model": "default"})  # named just now
        sections = {**resolved.judges, name: section}
        resolved = resolved.model_copy(update={"judges": sections})
    return resolved


def _kinds(text: str | None) -> tuple[str, ...] | None:
    from .conditions import KINDS

    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in KINDS]:
        raise InputError(
            f"--conditions {unknown[0]!r}: unknown; wanted one or more of {', '.join(KINDS)}"
        )
    return tuple(kind for kind in KINDS if kind in names)


def _list_skipped(skipped: Sequence[Skipped]) -> list[str]:
    """Everything that was skipped, with the reason."""
    return [f"skipped {cell(each.name)}: {cell(each.reason)}" for each in skipped]


def _end(probing: Probing, result: ProbeResult, out: Path | None) -> str:
    """The lines at the end: cost, missing labels, and where the files are."""
    from .probing import CASES

    usages = result.spent.values()
    costs = [usage.known_cost for usage in usages]
    spent: dict[str, Any] = {
        name: sum(getattr(usage, name) for usage in usages)
        for name in ("requests", "cache_hits", "tokens")
    }
    lines = [format_spending({**spent, "cost": None if None in costs else sum(costs)})]
    if result.limit_reached:
        lines.append(f"Stopped at {result.limit_reached}: the results are partial.")
    if result.n_unjudged:
        where = f"listed in {out}/unjudged.jsonl" if out is not None else "--out lists them"
        missing = probing.kind.missing
        lines.append(f"{result.n_unjudged:,} labels are missing, {missing}; {where}.")
    if CASES in probing.kind.names and out is None:
        lines.append("Add --out DIR to write each planted text and read some of them.")
    elif CASES in probing.kind.names:
        lines.append(f"All planted texts: {out}/cases.jsonl")
    return "\n".join(lines) + "\n"
