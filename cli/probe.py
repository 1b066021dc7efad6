"""`judge probe`: what the instrument itself moves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .flags import Given, settings
from .options import AsJson, DryRun, Fields, Quiet, Seed, fields_of, planned
from .stopping import INCOMPLETE, list_problems
from .tables import cell, figure, interval, shown, spent_line, write_objects


@settings("run.max_cost run.max_calls run.max_tokens run.offline run.cache")
def probe(
    given: Given,
    source: Annotated[
        Path,
        typer.Argument(
            exists=True,
            help="A results folder, nugget assignments, or rows (JSONL, CSV) of items with texts.",
        ),
    ],
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            help="assigner, support, relevance, answerability, entailment, or a YAML file.",
        ),
    ],
    conditions: Annotated[
        str | None,
        typer.Option(help="Of batch,order,labels,input,replicates,schema; else all."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Items at most, drawn by topic; default: 200.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, hidden=True)] = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="Orders of items, orders of labels, and replicates.")
    ] = 3,
    seed: Seed = 0,
    fields: Fields = None,
    dry_run: DryRun = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the rows, and for the labels by condition.", rich_help_panel="Output"
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Judge the same items again with one thing about the judge changed, and show what moves.

    Example: judge probe results/demo --judge assigner --conditions batch,replicates

    Exit: 0 complete, 2 usage or input, 3 some not judged.
    """
    from ..programs.analysis.probe.files import check_probe_folder, probe_lines, write_probe
    from ..programs.analysis.probe.probe import LIMIT, Options, plan_probe
    from ..programs.analysis.probe.probe import probe as ask
    from ..programs.engine.writing import check_writable, writing
    from ..records.reading.problems import Problems

    resolved = _config(given, source, judge)
    most = sample or limit or LIMIT
    options = Options(
        kinds=_kinds(conditions),
        limit=most,
        seed=seed,
        repeats=repeats,
        fields=fields_of(fields or ()),
    )
    problems = Problems()
    if dry_run:
        estimates, skipped = plan_probe(source, judge, resolved, problems, options)
        planned(estimates, _skipped_text(skipped), as_json=as_json)
        list_problems(problems)
        return
    if out is not None:
        check_writable(out)
        check_probe_folder(out)
    if "default" not in resolved.models and not resolved.judges:
        sys.stderr.write("No model named: the lexical judge answers (word overlap, no LLM).\n")

    def report(line: str) -> None:
        if not quiet:
            sys.stderr.write(shown(f"{line}\n"))

    found = ask(source, judge, resolved, problems, options, report=report)
    if out is not None:
        asked = {"source": str(source), "conditions": options.kinds, "limit": most}
        with writing(out):
            write_probe(out, found, asked | {"seed": seed, "repeats": repeats})
    if as_json:
        write_objects(probe_lines(found))
    else:
        sys.stdout.write(probe_text(found))
    list_problems(problems)
    sys.stderr.write(shown(_spent_text(found, out)))
    if found.n_unjudged:
        raise typer.Exit(INCOMPLETE)


def _config(given: Given, source: Path, judge: str) -> Any:
    """The config file, or what a results folder was judged with, under the flags."""
    from ..judges.table import item_judges
    from ..programs.engine.manifest import config_of

    name: Any = judge if judge in item_judges() else "item"
    under = {}
    if given.path is None and source.is_dir():
        known = config_of(source).model_dump(mode="json", by_alias=True)
        own = {name: known["judges"][name]} if name in known["judges"] else {}
        under = {"models": known["models"], "judges": own}
    resolved = given.config(under=under)
    if given.model is not None and name in resolved.judges:  # the one that is named now answers
        section = resolved.judges[name].model_copy(update={"model": "default"})
        judges = {**resolved.judges, name: section}
        resolved = resolved.model_copy(update={"judges": judges})
    return resolved


def _kinds(text: str | None) -> Any:
    from ..programs.analysis.probe.conditions import KINDS
    from ..records.reading.problems import InputError

    if text is None:
        return KINDS
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in KINDS]:
        raise InputError(f"--conditions {unknown[0]!r}: wanted some of {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in names)


def probe_text(found: Any) -> str:
    """What a probe found as a table of 100 columns; `--json` has all figures."""
    base = found.rows[0]
    who = f"{found.judge['judge']}, {found.judge['model']['model']}"
    best = cell(found.judge["scale"][-1])
    level = f"{base['share_best']:.1%} {best}, " if base["share_best"] is not None else ""
    gain = f"mean gain {base['mean_gain']:.3f}" if base["mean_gain"] is not None else ""
    lines = [
        f"{cell(who)}: {len(found.items):,} items; base: {base['what']}",
        f"base: {base['n_judged']:,} judged, {base['n_unjudged']:,} unjudged; {level}{gain}",
        "",
        f"{'condition':<16}{'n':>5}{'lost':>5}{'changed':>8}{'kappa':>7}{'interval':>15}"
        f"{'linear':>7}{'best':>8}{'interval':>16}{'runs':>7}{'tau-b':>6}",
    ]
    for row in found.rows[1:]:
        kappa, runs = row["kappa"], row["runs"] or {}
        agreed, linear, shift = kappa["unweighted"], kappa.get("linear", {}), row["best"] or {}
        lines.append(
            f"{cell(row['condition'], 16):<16}{row['n']:>5}{row['n_unjudged']:>5}"
            f"{figure(row['changed']['value']):>8}{figure(agreed['value']):>7}{_bounds(agreed):>15}"
            f"{figure(linear.get('value')):>7}{figure(shift.get('value'), sign='+'):>8}"
            f"{_bounds(shift, '+'):>16}{figure(runs.get('largest')):>7}"
            f"{figure(runs.get('tau_b'), 2):>6}"
        )
    lines += ["", f"{'condition':<16}{'calls':>8}{'x base':>8}{'tokens':>12}{'x base':>8}  what"]
    for row in found.rows:
        if cost := row["cost"]:
            lines.append(
                f"{cell(row['condition'], 16):<16}{cost['calls']:>8,}"
                f"{cost['calls_of_base']:>8.2f}{cost['tokens']:>12,}"
                f"{cost['tokens_of_base']:>8.2f}  {cell(row['what'], 46)}"
            )
    return shown("\n".join(lines) + "\n") + _skipped_text(found.skipped)


def _skipped_text(skipped: Any) -> str:
    return "".join(f"skipped {cell(each.name)}: {cell(each.reason)}\n" for each in skipped)


def _spent_text(found: Any, out: Path | None) -> str:
    usages = found.spent.values()
    spent: dict[str, Any] = {
        name: sum(getattr(usage, name) for usage in usages)
        for name in ("requests", "cache_hits", "tokens")
    }
    costs = [usage.known_cost for usage in usages]
    lines = [spent_line({**spent, "cost": None if None in costs else sum(costs)})]
    if found.limit_reached:
        lines.append(f"Stopped at {found.limit_reached}: the figures are partial.")
    if found.n_unjudged:
        where = f"listed in {out}/unjudged.jsonl" if out is not None else "--out lists them"
        lines.append(f"{found.n_unjudged:,} labels are missing, never compared; {where}.")
    return "\n".join(lines) + "\n"


def _bounds(row: dict[str, Any], sign: str = "") -> str:
    return interval(row.get("low"), row.get("high"), sign=sign)
