"""`judge agree`: a judge against people."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .terminal import shown


def agree(
    human: Annotated[
        Path,
        typer.Argument(exists=True, help="Labels (or scores) taken as the truth, or a folder."),
    ],
    judged: Annotated[
        Path,
        typer.Argument(exists=True, help="Labels (or scores) to compare, or a results folder."),
    ],
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="FIELD=VALUE that rows of HUMAN must have; of one field repeated, either."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="What to compare of folders: nuggets, support, relevance, scores."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Compare two files of labels cell by cell, or two files of scores by Kendall's tau.

    Example: judge agree human.jsonl results/assignments.jsonl --json
    """
    from ..programs.agree import agree as compare
    from ..records.problems import InputError, Problems
    from .score import list_problems

    wanted: dict[str, list[str]] = {}
    for text in where or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--where {text}: wanted FIELD=VALUE")
        wanted.setdefault(name, []).append(value)
    problems = Problems()
    found = compare(human, judged, problems, wanted, kind)
    if as_json:
        from .tables import write_objects

        write_objects([found])
    elif found["kind"] == "scores":
        sys.stdout.write(shown(_taus_text(found)))
    else:
        sys.stdout.write(shown(_labels_text(found)))
    list_problems(problems)


def _labels_text(found: dict[str, Any]) -> str:
    scale = found["scale"]
    width = max(*map(len, scale), 9) + 2
    lines = [
        f"n {found['n']:,}  (only human {found['n_human_only']:,}, "
        f"only judged {found['n_judged_only']:,}, "
        f"unjudged {found['n_judged_unlabelled']:,})",
        "Cohen kappa  " + "  ".join(f"{k} {_f(v)}" for k, v in found["cohen_kappa"].items()),
        f"accuracy {_f(found['accuracy'])}  macro F1 {_f(found['macro_f1'])}",
        "",
        "human \\ judged".ljust(width + 6) + "".join(label.rjust(width) for label in scale),
    ]
    for label, row in zip(scale, found["confusion"], strict=True):
        lines.append(label.ljust(width + 6) + "".join(f"{n:,}".rjust(width) for n in row))
    lines += ["", "label".ljust(width + 6) + "precision  recall  kappa against the rest"]
    for label in scale:
        figures = (found["precision"][label], found["recall"][label], found["one_vs_rest"][label])
        one, two, three = map(_f, figures)
        lines.append(f"{label.ljust(width + 6)}{one:>9}{two:>8}{three:>8}")
    return "\n".join([*lines, *_aliases(found)]) + "\n"


def _taus_text(found: dict[str, Any]) -> str:
    lines = ["Kendall tau-b".ljust(26) + "   runs (n)   per topic (n)    all cells (n)"]
    for measure, t in found["measures"].items():
        runs = f"{_f(t['run_level'])} ({t['n_runs']})"
        topics = f"{_f(t['topic_mean'])} ({t['n_topics']})"
        cells = f"{_f(t['pooled'])} ({t['n_cells']})"
        lines.append(f"{measure.ljust(26)}{runs:>11}{topics:>16}{cells:>17}")
    return "\n".join([*lines, *_aliases(found)]) + "\n"


def _aliases(found: dict[str, Any]) -> list[str]:
    n = len(found["run_aliases"])
    return ["", f"{n} run names were matched without their team prefix."] if n else []


def _f(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
