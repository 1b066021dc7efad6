"""`judge compare`: two runs, a leaderboard, or two judges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...records.reading.problems import InputError, Problems
from ..options import Kind, Output
from ..signatures import ExistingPath, OptionRules
from ..stopping import list_problems
from ..tables import write_note


def compare(
    context: typer.Context,
    one: ExistingPath,
    others: list[str] | None = None,
    *,
    way: Annotated[str | None, OptionRules("--as")] = None,
    runs: str | None = None,
    measure: list[str] | None = None,
    kind: Kind = None,
    flips: Path | None = None,
    level: float = 0.95,
    output: Output,
) -> None:
    """Test whether runs differ, paired by topic, or show where two judges differ.

    Examples: judge compare results/demo complete thin
    / judge compare results/lexical results/gpt --flips flips.jsonl

    Args:
        one: A results folder, a file of judgements, or a file of scores by topic.
        others (OTHER | RUN RUN): Results of another judge or of other runs; or two runs of ONE;
            default: all runs of ONE.
        way: Force a comparison of runs, or of judges.
        runs: Runs to compare, such as one,two; default: all.
        measure: Measure to compare by; may be repeated.
        level: Confidence level of intervals; p is significant below 1 - level.

    Output:
        flips: JSONL file to write the labels that differ to.
    """
    from ...programs.analysis.compare import compare as compare_files
    from ...programs.analysis.tables.comparisons import make_comparison_view, read_judges
    from ..stopping import open_results

    if flips is not None and flips.exists():
        raise InputError(f"{flips}: exists already; name another file")
    problems = Problems()
    other, chosen = _others(others or [], runs)
    named = [one] if other is None else [one, other]
    one, *second = open_results(context, named)
    comparison = compare_files(
        one,
        second[0] if second else None,
        problems,
        way=way,
        runs=chosen,
        measures=measure or (),
        kind=kind,
        level=level,
    )
    if flips is not None:
        _write_flips(flips, comparison)
    judged_by, file = read_judges([one, *second]), "" if flips is None else str(flips)
    output.print([comparison], lambda _: make_comparison_view(comparison, judged_by, file))
    list_problems(problems)
    for note in _list_notes(comparison, [one, *second], named, kind):
        write_note(f"{note}\n")


def _list_notes(
    comparison: dict[str, Any], paths: list[Path], named: list[Path], kind: str | None
) -> list[str]:
    """List notes on a comparison: systems that saw the judge, and kinds not compared."""
    from ...programs.engine.manifest import note_dependence

    notes = note_dependence(paths, named)
    if comparison["compared"] == "judges" and kind is None:
        notes += _other_kinds(comparison["kind"], paths)
    return notes


def _other_kinds(taken: str, paths: list[Path]) -> list[str]:
    """Return a note on other kinds that both judged, if the user named no kind."""
    from ...programs.protocols.judged_files import kinds_in

    if not all(path.is_dir() for path in paths):
        return []
    there = [kinds_in(path) for path in paths]
    rest = [kind for kind in there[0] if kind != taken and all(kind in each for each in there)]
    return [f"Compared: {taken}. Both also judged {', '.join(rest)} (--kind)."] if rest else []


def _others(args: list[str], runs: str | None) -> tuple[Path | None, list[str]]:
    """Return the other file or folder, and the runs. Raises: InputError if it is neither."""

    names = [name for name in (runs or "").split(",") if name]
    if len(args) == 2 and not names:
        return None, args
    if len(args) > 1:
        raise InputError(f"{' '.join(args)}: wanted one file or folder, or two runs")
    if args and not Path(args[0]).exists():
        what = "no such file or folder; to compare two runs, name both"
        raise InputError(f"{args[0]}: {what}")
    return (Path(args[0]) if args else None), names


def _write_flips(path: Path, comparison: dict[str, Any]) -> None:
    """Write the labels that differ. Raises: InputError if runs were compared."""
    import orjson

    from ...records.writing import write_file

    if comparison["compared"] == "runs":
        raise InputError(f"--flips {path}: runs are compared, wanted two judges")
    rows = comparison["flips"]
    write_file(path, b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
