"""`judge coverage`: the tables of the CRUX paper from a results folder."""

from __future__ import annotations

import typer

from ....cli.options import OutputOfMuch
from ....cli.signatures import Folder
from ....cli.stopping import list_problems
from ....records.reading.problems import InputError, Problems, did_you_mean


def coverage(
    context: typer.Context,
    results: Folder,
    *,
    eta: str = "1-5",
    k: str | None = None,
    run: str | None = None,
    output: OutputOfMuch,
) -> None:
    """Show contexts and reports with their bounds, and which measures order runs as reports do.

    Examples: judge coverage results/demo --k 1,3,10
    / judge coverage results/demo --run bm25

    Args:
        results: A folder of `judge run coverage`.
        eta: Lowest ratings that count as answered, such as 1-5 or 2,3,4.
        k: Passages in a context; default: 5, 10, 20 and the k of the folder.
        run: List the questions of a run that only its context answers, or only its report.
    """
    from ....cli.stopping import open_results
    from ....programs.analysis.coverage_tables import by_eta, by_k, find_oracles, measure_taus
    from ....programs.protocols.coverage.files import read_coverage
    from ....programs.protocols.program import Folder
    from .readings import (
        correlate_all,
        correlate_by_size,
        mean_by_run,
        score_all,
        spread_by_eta,
    )
    from .tables import Findings, as_object, make_coverage_view, make_uses_view
    from .use import find_uses

    etas, problems = read_numbers("eta", eta, most=5), Problems()
    data, settings = read_coverage(Folder(open_results(context, [results])[0], problems))
    ks = _sizes(k, settings.k)
    uses = list(find_uses(data, settings))
    if run is not None:
        if not (of_run := [use for use in uses if use.run_id == run]):
            known = sorted({use.run_id for use in uses})
            what = f"has no context and report; wanted one of: {', '.join(known) or '(no run has)'}"
            raise InputError(f"--run {run}: {what}{did_you_mean(run, known)}")
        output.print(map(vars, of_run), lambda _: make_uses_view(run, of_run))
        return
    found = Findings(
        settings,
        score_all(data, settings),
        measure_taus(data, settings),
        correlate_all(mean_by_run(data, settings), settings),
        list(spread_by_eta(by_eta(data, settings, etas), find_oracles(data, settings))),
        list(correlate_by_size(data, settings, ks)),
        by_k(data, settings, ks),
        uses,
    )
    output.print([as_object(found)], lambda has_all: make_coverage_view(found, shows_all=has_all))
    list_problems(problems)


def _sizes(text: str | None, own: int | str) -> list[int]:
    """The given context sizes, or common ones with the size of the run."""
    if text is not None:
        return read_numbers("k", text)
    return sorted({5, 10, 20, *([own] if isinstance(own, int) else [])})


def read_numbers(name: str, text: str, most: int = 1000) -> list[int]:
    """Read `1-5` or `5,10,20` as numbers, each once. Raises: InputError for another text."""

    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = (bound.strip() for bound in part.partition("-"))
        ends = [int(end[:9]) if end.isdecimal() else 0 for end in (first, last if dash else first)]
        if not 1 <= ends[0] <= ends[1] <= most:
            wanted = f"wanted numbers from 1 to {most:,}, such as 1-3 or 1,2,3"
            raise InputError(f"--{name} {text}: {wanted}")
        numbers += range(ends[0], ends[1] + 1)
    return list(dict.fromkeys(numbers))
