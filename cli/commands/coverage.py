"""`judge coverage`: the tables of the CRUX paper from a results folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ...records.reading.problems import InputError, Problems
from ..options import Output
from ..signatures import Folder
from ..stopping import list_problems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...programs.analysis.coverage_tables import RunTau, Variant
    from ...programs.config.sections import CoverageConfig


def coverage(
    context: typer.Context,
    results: Folder,
    *,
    eta: str = "1-5",
    k: str | None = None,
    output: Output,
) -> None:
    """Show which measures of contexts order runs as their reports do, by eta and context size.

    Example: judge coverage results/demo --k 1,3,10

    Args:
        results: A folder of `judge run coverage`.
        eta: Ratings from which a text answers, as 1-5 or 2,3,4.
        k: Passages in a context; else 5, 10, 20 and that of the run.
    """
    from ...programs.analysis.coverage_tables import by_eta, by_k, make_coverage_view, measure_taus
    from ...programs.protocols.coverage.files import read_coverage
    from ...programs.protocols.program import Folder
    from ..stopping import open_results

    etas, problems = read_numbers("eta", eta, most=5), Problems()
    data, settings = read_coverage(Folder(open_results(context, [results])[0], problems))
    ks = _sizes(k, settings.k)
    taus = measure_taus(data, settings)
    of_eta, of_k = by_eta(data, settings, etas), by_k(data, settings, ks)
    results_by = (settings, taus, of_eta, of_k)
    output.print([_as_object(*results_by)], lambda _: make_coverage_view(*results_by))
    list_problems(problems)


def _sizes(text: str | None, own: int | str) -> list[int]:
    """The context sizes asked for, or some common ones and that of the run."""
    if text is not None:
        return read_numbers("k", text)
    return sorted({5, 10, 20, *([own] if isinstance(own, int) else [])})


def read_numbers(name: str, text: str, most: int = 1000) -> list[int]:
    """`1-5` or `5,10,20` as numbers, in order, each once. Raises: InputError for another text."""

    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = (bound.strip() for bound in part.partition("-"))
        ends = [int(end[:9]) if end.isdecimal() else 0 for end in (first, last if dash else first)]
        if not 1 <= ends[0] <= ends[1] <= most:
            wanted = f"wanted numbers from 1 to {most:,}, as 1-3 or 1,2,3"
            raise InputError(f"--{name} {text}: {wanted}")
        numbers += range(ends[0], ends[1] + 1)
    return list(dict.fromkeys(numbers))


def _as_object(
    settings: CoverageConfig,
    taus: Mapping[str, RunTau],
    of_eta: Sequence[Variant],
    of_k: Sequence[Variant],
) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "settings": settings.model_dump(mode="json"),
        "to_report_coverage": {name: asdict(tau) for name, tau in taus.items()},
        "by_eta": [_variant(variant) for variant in of_eta],
        "by_k": [_variant(variant) for variant in of_k],
    }


def _variant(variant: Variant) -> dict[str, Any]:
    from dataclasses import asdict

    from ...records.scores import score_row

    sides = {"contexts": variant.contexts, "reports": variant.reports}
    means = {
        side: {run: score_row(row) for run, row in rows.items()} for side, rows in sides.items()
    }
    taus = {"to_reports": asdict(variant.to_reports), "to_base": asdict(variant.to_base)}
    return {"eta": variant.settings.eta, "k": variant.settings.k, **means, **taus}
