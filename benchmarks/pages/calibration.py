"""What `judge calibrate` makes of the lexical judge: a table of docs/benchmarks/fits.md.

    python -m benchmarks.pages.calibration DATA

DATA holds folders of judged data (docs/benchmarks/data.md); those that are missing are
left out. Each row is one call of `nuggetjudge.calibrate`; kappa is Cohen's, unweighted, on topics
that the fit never saw, its interval over drawn topics.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import nuggetjudge as nj

# People of CRUX said yes or no, the judge grades 0-5: grades from 3 on (eta) are a yes.
ANSWERED = {"0": "0", "1": "0", "2": "0", "3": "5", "4": "5", "5": "5"}


class Fit(NamedTuple):
    """A method; folds None: one split of the topics into train, dev and test."""

    method: str
    folds: int | None = None
    topic_labels: int = 10


@dataclass(frozen=True)
class Labels:
    """Labels of people, and how `judge calibrate` reads them.

    `prepare(folder, scratch)` yields file, judge and settings.
    """

    folder: str
    question: str
    prepare: Callable[[Path, Path], tuple[Path, str, dict[str, Any]]]
    fits: Sequence[Fit] = field(default=())


def measure(labels: Labels, data: Path, fit: Fit, **settings: Any) -> dict[str, Any] | None:
    """The report of one fit, chosen by kappa; None where its data is absent."""
    folder = data / labels.folder
    if not folder.is_dir():
        return None
    with tempfile.TemporaryDirectory() as scratch:
        path, judge, how = labels.prepare(folder, Path(scratch))
        options = {"objective": "kappa", **fit._asdict(), **how, **settings}
        return nj.calibrate(path, judge, options.pop("method"), **options).report


def _nuggets(folder: Path, scratch: Path) -> tuple[Path, str, dict[str, Any]]:
    return folder / "nugget_assignments.jsonl", "assigner", {}


def _support(folder: Path, scratch: Path) -> tuple[Path, str, dict[str, Any]]:
    texts = {"passages": [folder / "passages.jsonl"], "where": {"condition": ["from_scratch"]}}
    return folder / "pairs.jsonl", "support", texts


def _full_support(folder: Path, scratch: Path) -> tuple[Path, str, dict[str, Any]]:
    path, judge, how = _support(folder, scratch)
    return path, judge, {**how, "scale": {"0": "none", "1": "none", "2": "full"}}


def _answers(folder: Path, scratch: Path) -> tuple[Path, str, dict[str, Any]]:
    reports = {row["report_id"]: row["text"] for row in _lines(folder / "reports.jsonl")}
    path = scratch / "labels.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for row in _lines(folder / "human_t1.jsonl"):
            names = {"topic_id": row["qid"], "passage_id": row["report_id"]}
            names |= {"question_id": row["question_idx"], "question": row["question"]}
            label = 5 if row["majority"] else 0
            item = {**names, "context": reports[row["report_id"]], "label": label}
            stream.write(json.dumps(item) + "\n")
    return path, "answerability", {"scale": ANSWERED}


def _claims(folder: Path, scratch: Path) -> tuple[Path, str, dict[str, Any]]:
    fields = {"topic_id": "question", "passage_id": "id", "sentence": "claim"}
    how = {"fields": {**fields, "passage": "references"}, "scale": {"0": "none", "1": "full"}}
    return folder / "claims.jsonl", "support", how


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


SPLIT = Fit("threshold")
TABLE = (
    Labels(
        "rag24_nuggets",
        "support, partial_support, not_support",
        _nuggets,
        (SPLIT, Fit("threshold", 12), Fit("topic", 12)),
    ),
    Labels(
        "rag24_support",
        "full, partial, none",
        _support,
        (SPLIT, Fit("threshold", 12), Fit("topic", 12)),
    ),
    Labels(
        "rag24_support",
        "full or not",
        _full_support,
        (SPLIT, Fit("threshold", 12), Fit("topic", 12), Fit("topic", 12, 40)),
    ),
    Labels("crux_duc", "answered by the report or not", _answers, (SPLIT, Fit("threshold", 6))),
    Labels("attributionbench", "attributable or not", _claims, (SPLIT, Fit("threshold", 10))),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    data = parser.parse_args(arguments).data
    print("| data | method | tested on | topics | before | after | difference |")
    print("|---|---|---:|---:|---|---|---|")
    for labels in TABLE:
        for fit in labels.fits:
            report = measure(labels, data, fit)
            if report is None:
                print(f"{labels.folder}: not found in {data}", file=sys.stderr)
                break
            kappa = report["figures"]["kappa"]
            cells = [f"{labels.folder}: {labels.question}", _named(fit)]
            cells += [f"{report['n_test']:,} of {report['n_labels']:,}"]
            cells += [f"{report['n_test_topics']:,}"]
            cells += [_shown(kappa[side]) for side in ("before", "after", "difference")]
            print("| " + " | ".join(cells) + " |")


def _named(fit: Fit) -> str:
    name = f"{fit.method}, {fit.topic_labels} labels" if fit.method == "topic" else fit.method
    return f"{name}, {fit.folds} folds" if fit.folds else f"{name}, one split"


def _shown(figure: dict[str, Any]) -> str:
    return f"{figure['value']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}]"


if __name__ == "__main__":
    main()
