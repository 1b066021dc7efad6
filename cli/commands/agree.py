"""`judge agree`: compare a judge with people, and people with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from ...records.reading.problems import InputError, Problems
from ..flags import ParsedSettings, settings
from ..options import (
    DryRun,
    Level,
    OutputOfMuch,
    Quiet,
    Resamples,
    TableLayout,
    Where,
    read_where,
)
from ..signatures import ExistingPath
from ..stopping import INCOMPLETE, list_problems, report_end, run_until_stopped
from ..tables import write_note
from ..views import list_unjudged, print_plan


@settings(
    "data.topics data.runs data.passages run.out run.max_cost",
    helps={"out": "With --judge: folder for the judge's labels; default: results."},
)
def agree(
    given: ParsedSettings,
    context: typer.Context,
    human: ExistingPath,
    judged: ExistingPath | None = None,
    *,
    judge: str | None = None,
    where: Where = None,
    table: TableLayout,
    kind: str | None = None,
    cut: str | None = None,
    measure: list[str] | None = None,
    resamples: Resamples = 1000,
    level: Level = 0.95,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    output: OutputOfMuch,
) -> None:
    """Measure agreement with human labels or scores, or between annotators.

    Examples: judge agree human.jsonl results/assignments.jsonl --json
    / judge agree labels.xlsx --judge support --model openai/NAME
    / judge agree ratings.jsonl results/crux --cut 3

    Exit: 0 compared, 2 usage or input, 3 some items were not judged, 130 interrupted.

    Args:
        human: Labels or scores that count as correct: a table in any layout, or a folder.
        judged: Labels or scores to compare, or a results folder; default: compare the annotators
            of HUMAN.
        judge: Ask this judge (a name or a YAML file) about the items of HUMAN, then compare.
        kind: What to compare in folders: nuggets, support, relevance, ratings, keypoints, scores.
        cut (LABEL): Make labels binary: this label and better ones are positive; HUMAN,JUDGED
            gives a label for each file.
        measure (HUMAN=JUDGED): Compare these two measures of score files; may be repeated;
            default: measures in both files.
    """
    from ...programs.analysis.agree import agree as compare
    from ...programs.analysis.tables.agreement import make_agreement_view

    problems, cuts = Problems(), [] if cut is None else cut.split(",")
    draws: dict[str, Any] = {"resamples": resamples, "level": level}
    is_complete = True
    if judge is None:
        if not given.is_empty:
            named = next(iter(given.spelled.values()), "models and settings")
            raise InputError(f"{named}: of a judge that is asked, wanted --judge too")
        from ..stopping import open_results

        human, *second = open_results(context, [human] if judged is None else [human, judged])
        judged = second[0] if second else None
        how = (read_where(where or ()), kind, cuts, _pairs(measure or ()), table.options)
        comparison = compare(human, judged, problems, *how, **draws)
    else:
        asked = {"JUDGED": judged, "--kind": kind, "--measure": measure}
        if wrong := [name for name, is_there in asked.items() if is_there]:
            raise InputError(f"--judge {judge} and {wrong[0]}: wanted one of them")
        ask = _Asking(human, judge, given, problems, read_where(where or ()), table, cuts)
        if dry_run:
            ask.print_plan(as_json=output.is_json)
            return
        comparison, is_complete = ask.compare(draws, quiet=quiet)
    output.print([comparison], lambda has_all: make_agreement_view(comparison, has_all=has_all))
    list_problems(problems)
    if not is_complete:
        raise typer.Exit(INCOMPLETE)


class _Asking:
    """A judge that labels the items that people labelled."""

    def __init__(
        self,
        human: Path,
        judge: str,
        given: ParsedSettings,
        problems: Problems,
        where: Mapping[str, list[str]],
        table: TableLayout,
        cuts: Sequence[str],
    ) -> None:
        from ...calibration.asking import prepare_asking

        self._human, self._problems, self._cuts = human, problems, cuts
        self._asking = prepare_asking(
            *(human, judge, given.config(), problems),
            how=table.options,
            where=where,
            cut=cuts[0] if cuts else None,
        )

    def print_plan(self, *, as_json: bool) -> None:
        """Print the estimate of a dry run; ask no model and write no files."""
        from ...programs.run import forecast

        with TemporaryDirectory() as folder:
            config = self._asking.write(Path(folder) / "items.jsonl")
            print_plan(forecast(config).judges, as_json=as_json)

    def compare(self, draws: Mapping[str, Any], *, quiet: bool) -> tuple[dict[str, Any], bool]:
        """Judge the items and compare; return the comparison and whether all were judged."""
        from ...programs.analysis.agree import agree_with_judge
        from ...programs.run import NO_MODEL, judge_collection, names_no_model

        if names_no_model(self._asking.config):
            write_note(f"{NO_MODEL}\n")
        config = self._asking.write()
        result = run_until_stopped(
            lambda: judge_collection(config, quiet=quiet), "What was judged is kept", config.run.out
        )
        notes = list_unjudged(result.folder, result.manifest) if result.n_unjudged else []
        report_end(result.manifest, partial="the comparison is partial", notes=notes)
        write_note(f"Results: {result.folder}\n")
        labels = self._asking.labels
        compared = agree_with_judge(
            *(labels, self._human, result.folder, self._problems, self._cuts), **draws
        )
        return compared, result.is_complete


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    """Map measures of JUDGED to measures of HUMAN. Raises: InputError."""

    pairs = {}
    for text in texts:
        human, _, judged = text.rpartition("=")
        if not human or not judged or judged in pairs:
            raise InputError(f"--measure {text}: wanted HUMAN=JUDGED, each JUDGED measure once")
        pairs[judged] = human
    return pairs
