"""`judge run`: evaluate runs end to end."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...judges.verdicts import NO_PROBABILITIES, WRONG_QUOTES
from ...programs.config.base import program_names
from ...records.reading.problems import Problems, did_you_mean
from ...views.numbers import format_money
from ...views.printing import Format, print_view
from ...views.table import View
from ..flags import ParsedSettings, settings
from ..options import DryRun, Quiet, Verbose
from ..stopping import INPUT, exit_unless, list_details, report_end, run_until_stopped
from ..tables import cell, fit_hint, list_agent_work, write_note, write_objects
from ..views import (
    ALL,
    LeaderboardOutput,
    list_unjudged,
    make_agents_table,
    print_leaderboards,
    print_plan,
)

if TYPE_CHECKING:
    from ...gates.checks import Bound
    from ...programs.config.sections import Config
    from ...programs.engine.spending import Forecast

QUOTE_CHARS = 60  # shown of a judge's quote
WARNED = (NO_PROBABILITIES, WRONG_QUOTES)  # counts that are also shown without --verbose
SHOWN_TOPICS = 3  # problems with topics, on stderr
REASON_CHARS = 300  # shown of the detail of a missing judgement, on stderr


@settings(
    "data.topics data.runs data.passages data.candidates data.qrels data.nuggets data.items "
    "items.judge run.limit run.max_cost run.offline run.allow_missing run.out run.force"
)
def run(
    given: ParsedSettings,
    what: Annotated[
        str | None,
        typer.Argument(
            help=f"A config file, or tasks: {', '.join(program_names())}.", show_default=False
        ),
    ] = None,
    *,
    dry_run: DryRun = False,
    fail_under: list[str] | None = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    printed: LeaderboardOutput,
) -> None:
    """Judge runs and print a leaderboard. The same command continues a stopped run.

    Example: judge run nuggets,support --topics topics.tsv --candidates candidates.jsonl
    --qrels qrels.txt --passages passages.jsonl --runs runs/ --model lexical --out results

    Exit: 0 complete, 1 a gate failed, 2 usage or input, 3 some not judged, 130 interrupted,
    143 terminated, 70 an error of this program.

    Terms: docs/learn/glossary.md.

    Output:
        fail_under (MEASURE=VALUE): Exit with 1 if a run's mean is lower; for one run:
            RUN:MEASURE=VALUE.
    """
    from ...programs.run import judge_collection

    way = printed.way
    config = given.read_config(what)
    wanted = [(name, "--measures") for name in printed.names if name != ALL]
    wanted += [(printed.sort, "--sort")] if printed.sort is not None else []
    gates = _read_gates(fail_under or (), wanted, config)
    if dry_run:
        _print_dry_run(config, as_json=printed.as_json)
        return
    expected = _note_before(config)
    result = run_until_stopped(
        lambda: judge_collection(config, quiet=quiet, expected=expected),
        "What was judged is kept",
        config.run.out,
    )
    measures = _existing(printed.names, result.scores)
    sort = _existing([printed.sort] if printed.sort else [], result.scores)
    _report(result, is_verbose=verbose)
    if way is not Format.TABLE:
        write_note(f"Results: {result.folder}\n")
    print_leaderboards(
        result.scores, result.folder, way, measures=measures, sort=next(iter(sort), None)
    )
    exit_unless(result.is_complete)
    if len(wanted) > len({*measures} - {ALL}) + len(sort):
        raise typer.Exit(INPUT)
    if gates:
        from ...gates.verdict import make_verdict
        from .gate import report_verdict

        report_verdict(make_verdict(result.folder, gates, allow_missing=config.run.allow_missing))


def _read_gates(
    fail_under: Sequence[str], wanted: Sequence[tuple[str, str]], config: Config
) -> list[Bound]:
    """Read the bounds of `--fail-under`.

    Args:
        wanted: measures to show or to sort by, each with its option.

    Raises: InputError for a bound or a measure that the run cannot have.
    """
    if not fail_under and not wanted:
        return []
    from ...gates.checks import check_beforehand, check_measures_beforehand, read_bounds

    gates = read_bounds(fail_under, "--fail-under")
    check_beforehand(gates, config)
    check_measures_beforehand(wanted, config)
    return gates


def _print_dry_run(config: Config, *, as_json: bool) -> None:
    """Print the estimate of a run, and on stderr the limits that it would reach."""
    from ...programs.run import forecast

    estimate = forecast(config)
    print_plan(estimate.judges, as_json=as_json)
    if as_json:
        write_objects(estimate.rows())
    elif rows := estimate.rows():
        sys.stdout.write("\n")
        print_view(View(tables=[make_agents_table(rows)]))
    for line in estimate.list_short_limits(config):
        write_note(f"{line}.\n")
    _note_uncounted(config)


def _note_before(config: Config) -> Forecast | None:
    """Print notes on stderr before the run; return the estimate if the run has a limit.

    Returns: the estimate of the run; None without a limit.
    """
    from ...backends.budget import notes_on
    from ...programs.run import NO_MODEL, forecast_if_limited, models_asked, names_no_model

    if names_no_model(config):
        write_note(f"{NO_MODEL}\n")
    for line in () if config.run.offline else notes_on(models_asked(config)):
        write_note(f"{line}\n")
    expected = forecast_if_limited(config)
    for line in expected.list_short_limits(config) if expected is not None else ():
        write_note(f"{line}.\n")
    return expected


def _existing(measures: list[str], rows: Any) -> list[str]:
    """Return the measures that the results have; report the others on stderr."""
    there = dict.fromkeys(row.measure for row in rows)
    for name in measures:
        if name not in (*there, ALL):
            known = f"{', '.join(there)}{did_you_mean(name, there)}"
            write_note(f"judge: no measure {name!r} in the results; measures: {known}\n")
    return [name for name in measures if name in (*there, ALL)]


def _note_uncounted(config: Any) -> None:
    if config.retrieve or config.pipelines:
        from ...programs.pipelines.retrieve import NOT_COUNTED, asks_by_itself

        if asks_by_itself(config):
            write_note(NOT_COUNTED)


def _report(result: Any, *, is_verbose: bool) -> None:
    """Print how the run ended; `is_verbose`: also counts and sample quotes."""
    from ...programs.engine.manifest import constant_judges

    manifest, details = result.manifest, []
    if is_verbose:
        from ...programs.protocols.nugget_search import summarize_searches

        details = [*_quotes(result.folder), *summarize_searches(result.folder)]
        details += [*list_agent_work(manifest), *list_details(manifest)]
    notes = [f"No topic has {what}, so they are not scored" for what in result.missing_points]
    notes += [*constant_judges(manifest), *_other_topics(result)]
    notes += [f"{n:,} {name}" for name, n in manifest["counts"].items() if name in WARNED]
    if result.n_unjudged:
        if not result.n_judged and (first := _first_reason(result.folder)):
            notes.append(f"First of them: {first}")
        notes += list_unjudged(result.folder, manifest)
    in_all = _in_all(result.folder, manifest["this_time"])
    report_end(
        manifest, in_all=in_all, details=details, partial="the results are partial", notes=notes
    )


def _in_all(folder: Path, spent: Mapping[str, Any]) -> str:
    """Return the cost of all starts of this folder; "" if this is the first with requests."""
    from ...programs.engine.spending import cost_in_all, read_spending

    rows = read_spending(folder)
    if len({row["start"] for row in rows}) + (not (spent["requests"] or spent["cache_hits"])) < 2:
        return ""
    cost = cost_in_all(rows)
    return "" if cost is None else f" ({format_money(cost)} in all starts)"


def _other_topics(result: Any) -> list[str]:
    """List the first problems with topics that are not judged, such as misspelled ids."""
    from ...records.reading.lines import json_lines

    kinds = {"unknown_topic", "other_topics"}
    n = sum(result.manifest["problems"].get(kind, 0) for kind in kinds)
    if not n:
        return []
    rows = (row for _, row in json_lines(result.folder / "problems.jsonl", Problems()))
    messages = dict.fromkeys(row["what"] for row in rows if row["kind"] in kinds)
    lines = [cell(what) for what in islice(messages, SHOWN_TOPICS)]
    more = len(messages) - len(lines)
    return [*lines, *([f"... and {more:,} more of this kind in problems.jsonl"] if more else [])]


def _quotes(folder: Path) -> Iterator[str]:
    """Yield one quote of a judge per task."""
    from ...programs.scoring.result import find_first_quoted

    for name, each in find_first_quoted(folder):
        ids = ", ".join(one for one in (name, each.run_id, each.topic_id, each.item) if one)
        yield f'{ids}: {each.label}, for "{cell(each.quoted[0].quote, QUOTE_CHARS)}"'


def _first_reason(folder: Path) -> str:
    """Return why the first missing judgement that was requested failed; "" if none was."""
    from ...records.reading.lines import json_lines

    for _, row in json_lines(folder / "unjudged.jsonl", Problems()):
        if row["reason"] not in ("no_passage", "budget"):
            detail = " ".join(row["detail"].split())
            return cell(f"{row['reason']}: {fit_hint(detail)[:REASON_CHARS]}")
    return ""
