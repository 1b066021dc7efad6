"""`judge coverage`: the tables of the CRUX paper from a results folder, and a map of a topic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..records.reading.problems import InputError, Problems
from .options import AsJson, Resamples, Seed, print_result
from .signatures import Folder, NewFile, Takes
from .stopping import list_problems
from .tables import aligned, figure, interval, shown, write_note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..programs.analysis.coverage_tables import RunTau, Variant
    from ..programs.config.sections import CoverageConfig
    from ..programs.protocols.coverage.topic import CoverageData
    from ..records.rows import ScoreRow


def coverage(
    context: typer.Context,
    results: Folder,
    *,
    eta: str = "1-5",
    k: str | None = None,
    topic: str | None = None,
    map_file: Annotated[NewFile | None, Takes("--map")] = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Which measures of contexts order runs as their reports do, by eta and by context size.

    Examples: judge coverage results/demo --k 1,3,10
    / judge coverage results/demo --topic 12 --map topic12.svg

    Args:
        results: A folder of `judge run coverage`.
        eta: Ratings from which a text answers, as 1-5 or 2,3,4.
        k: Passages in a context; else 5, 10, 20 and that of the run.
        topic: The topic to draw with --map.

    Output:
        map_file: Draw the ratings of --topic: .png, .svg, .pdf.
    """
    from ..programs.analysis.coverage_tables import by_eta, by_k, measure_taus
    from ..programs.protocols.coverage.files import read_coverage
    from ..programs.protocols.program import Folder
    from .views.partial import opened

    if (topic is None) != (map_file is None):
        raise InputError("--topic and --map are used together: which topic, drawn where")
    etas, problems = numbers_of("eta", eta, most=5), Problems()
    data, settings = read_coverage(Folder(opened(context, [results])[0], problems))
    ks = _sizes(k, settings.k)
    if map_file is not None and topic is not None:
        _draw(data, settings, topic, map_file)
    else:
        taus = measure_taus(data, settings, resamples=resamples, seed=seed)
        of_eta, of_k = by_eta(data, settings, etas), by_k(data, settings, ks)
        results_by = (settings, taus, of_eta, of_k)
        print_result([_as_object(*results_by)], lambda: shown(_text(*results_by)), as_json=as_json)
    list_problems(problems)


def _sizes(text: str | None, own: int | str) -> list[int]:
    """The context sizes asked for, or some common ones and that of the run."""
    if text is not None:
        return numbers_of("k", text)
    return sorted({5, 10, 20, *([own] if isinstance(own, int) else [])})


def numbers_of(name: str, text: str, most: int = 1000) -> list[int]:
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


def _draw(data: CoverageData, settings: CoverageConfig, topic: str, path: Path) -> None:
    from ..programs.analysis.figures.coverage_map import write_map
    from ..programs.protocols.coverage.topic import TopicView

    if topic not in data.questions:
        topics = ", ".join(list(data.questions)[:5])
        raise InputError(f"--topic {topic}: no questions of it here, wanted one such as {topics}")
    write_map(TopicView(data, topic, settings), path)
    write_note(f"{path}\n")


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

    from ..records.scores import score_row

    sides = {"contexts": variant.contexts, "reports": variant.reports}
    means = {
        side: {run: score_row(row) for run, row in rows.items()} for side, rows in sides.items()
    }
    taus = {"to_reports": asdict(variant.to_reports), "to_base": asdict(variant.to_base)}
    return {"eta": variant.settings.eta, "k": variant.settings.k, **means, **taus}


def _text(
    settings: CoverageConfig,
    taus: Mapping[str, RunTau],
    of_eta: Sequence[Variant],
    of_k: Sequence[Variant],
) -> str:
    etas = [(f"eta {variant.settings.eta}", variant) for variant in of_eta]
    ks = [(f"k {variant.settings.k}", variant) for variant in of_k]
    return "\n".join(
        [
            _taus_text(taus),
            _variants_text("Coverage of contexts by eta (Table 2)", etas, "eta 3"),
            _variants_text("Coverage of contexts by size (Table 3)", ks, f"k {settings.k}"),
        ]
    )


def _taus_text(taus: Mapping[str, RunTau]) -> str:
    from ..programs.analysis.coverage_tables import LEAST_RUNS

    title = "Kendall tau-b of runs, measures of contexts against report_coverage (Figure 5)\n"
    n_runs = max((tau.n_runs for tau in taus.values()), default=0)
    if n_runs < LEAST_RUNS:
        return f"{title}none: {_few(n_runs)} a context and a report, wanted {LEAST_RUNS}\n"
    rows = [
        [
            name,
            _tau(tau),
            interval(tau.tau.low, tau.tau.high),
            f"{tau.n_runs}",
            f"{tau.n_unjudged:,}",
        ]
        for name, tau in taus.items()
    ]
    return title + aligned([["measure", "tau-b", "95% by topic", "runs", "unjudged"], *rows])


def _variants_text(title: str, variants: Sequence[tuple[str, Variant]], base: str) -> str:
    from ..programs.analysis.coverage_tables import LEAST_RUNS

    first = variants[0][1].contexts
    if not first:
        return f"{title}\nnone: no run has contexts\n"
    runs = sorted(first, key=lambda run: (-(first[run].value or 0.0), run))
    rows = [[run, *(_mean(variant.contexts[run]) for _, variant in variants)] for run in runs]
    notes = []
    for name, taus in (
        (f"tau-b to {base}", [variant.to_base for _, variant in variants]),
        ("tau-b to report_coverage", [variant.to_reports for _, variant in variants]),
    ):
        n_runs = max(tau.n_runs for tau in taus)
        if n_runs < LEAST_RUNS:
            notes.append(f"No {name}: {_few(n_runs)} both values, wanted {LEAST_RUNS}\n")
        else:
            rows.append([name, *map(_tau, taus)])
    header = ["run", *(name for name, _ in variants)]
    return f"{title}\n" + aligned([header, *rows]) + "".join(notes)


def _few(n_runs: int) -> str:
    return f"{n_runs} run{' has' if n_runs == 1 else 's have'}"


def _mean(row: ScoreRow) -> str:
    bounds = interval(row.low, row.high, 4, none="[- -]") if row.n_unjudged else ""
    return f"{figure(row.value, 4)} {bounds}".rstrip()


def _tau(tau: RunTau) -> str:
    return figure(tau.tau.value)
