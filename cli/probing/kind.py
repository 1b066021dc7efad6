"""What all kinds of `judge probe` do alike: forecast, ask, write, print, end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..options import DryRun, Fields, Output, Seed, fields_of, planned
from ..signatures import Positive, There
from ..stopping import INCOMPLETE, list_problems
from ..tables import cell, spent_line, write_note

if TYPE_CHECKING:
    from ...programs.analysis.probe.asking import Options, Probing
    from ...programs.analysis.probe.result import ProbeResult
    from ...views.table import View


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for, besides what the config says.

    Args:
        source: A results folder, nugget assignments, or rows (JSONL, CSV) of items with texts.
        judge: assigner, support, relevance, answerability, entailment, or a YAML file; with
            --faults all of a results folder by default.
        faults: Plant faults instead, and show which are seen.
        injection: Plant texts that talk to the judge, and show what they decide.
        conditions: Of batch, order, labels, input, replicates, schema, passages, length, citation,
            name; else all.
        sample: Items at most, or cases of each fault, by topic; default: 200, 30, and with
            --injection as many items as 30 calls hold.
        repeats: Orders of items, orders of labels, and replicates; calls that each text of
            --injection is planted in.

    Output:
        out: Folder for the rows, and for the labels by condition.
    """

    source: There
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

    def options(self, **more: Any) -> Options:
        """The options that every kind of probe takes."""
        from ...programs.analysis.probe.asking import Options

        names = fields_of(self.fields or ())
        return Options(self.sample, self.repeats, self.seed, names, **more)

    def about(self, *names: str, **more: Any) -> dict[str, Any]:
        """The source and these, for the manifest."""
        return {"source": str(self.source), **{n: getattr(self, n) for n in names}, **more}


@dataclass(frozen=True)
class Kind:
    """One kind of probe, with what is wanted of it filled in.

    Attributes:
        probing: what asks, or plans to. result: the type of what it finds.
        about: what was wanted of it, for the manifest.
        view: its tables; takes whether all of them are wanted.
        missing: what is reported of labels that did not arrive.
    """

    probing: Probing[Any]
    result: type[ProbeResult]
    about: Mapping[str, Any]
    view: Callable[[Any, bool], View]
    missing: str


def carry_out(kind: Kind, wanted: Wanted, output: Output) -> None:
    """Ask, or print what would be asked. Exit: 0 complete, 3 some labels are missing."""
    from ...programs.analysis.probe.files import check_probe_folder, write_probe
    from ...programs.engine.writing import check_writable

    problems = kind.probing.problems
    if wanted.dry_run:
        estimates, skipped = kind.probing.plan()
        notes = "".join(f"{line}\n" for line in _list_skipped(skipped))
        planned(estimates, notes, as_json=output.as_json)
        list_problems(problems)
        return
    if wanted.out is not None:
        check_writable(wanted.out)
        check_probe_folder(wanted.out, kind.result)

    def report(line: str) -> None:
        write_note(f"{line}\n")

    result = kind.probing.ask(report)
    if wanted.out is not None:
        write_probe(wanted.out, result, dict(kind.about))

    def view(has_all: bool) -> View:
        made = kind.view(result, has_all)
        return replace(made, notes=[*made.notes, *_list_skipped(result.skipped)])

    output.print(result.lines(), view)
    list_problems(problems)
    write_note(_end(kind, result, wanted.out))
    if result.n_unjudged or result.limit_reached:
        raise typer.Exit(INCOMPLETE)


def _list_skipped(skipped: Sequence[Any]) -> list[str]:
    """All that was not asked, with its reason."""
    return [f"skipped {cell(each.name)}: {cell(each.reason)}" for each in skipped]


def _end(kind: Kind, result: ProbeResult, out: Path | None) -> str:
    from ...programs.analysis.probe.result import CASES

    usages = result.spent.values()
    costs = [usage.known_cost for usage in usages]
    spent: dict[str, Any] = {
        name: sum(getattr(usage, name) for usage in usages)
        for name in ("requests", "cache_hits", "tokens")
    }
    lines = [spent_line({**spent, "cost": None if None in costs else sum(costs)})]
    if result.limit_reached:
        lines.append(f"Stopped at {result.limit_reached}: the figures are partial.")
    if result.n_unjudged:
        where = f"listed in {out}/unjudged.jsonl" if out is not None else "--out lists them"
        lines.append(f"{result.n_unjudged:,} labels are missing, {kind.missing}; {where}.")
    has_cases = CASES in result.names
    if has_cases and out is None:
        lines.append("--out DIR writes each planted text, to check some by eye.")
    elif has_cases:
        lines.append(f"Each planted text: {out}/cases.jsonl")
    return "\n".join(lines) + "\n"
