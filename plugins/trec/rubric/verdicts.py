"""Verdicts on criteria, in any layout: ours, RAGDoll's graded answers, ResearchRubrics' results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ....records.kinds import Kind, Labelled
from ....records.nuggets import TOPIC_FIELDS
from ....records.reading.fields import Line, Where, read_lines, show
from ....records.reading.problems import Problems
from . import ragdoll as ragdoll_rubrics
from . import researchrubrics
from .rubrics import (
    CRITERION_KINDS,
    CRITERION_LABELS,
    CriterionLabel,
    CriterionMatch,
    CriterionVerdict,
    read_weight,
)
from .scores import CRITERION_GAINS

RUBRICS, VERDICTS = "rubrics.jsonl", "verdicts.jsonl"  # files of a results folder


def read_verdicts(
    path: Path, problems: Problems, where: Where | None = None
) -> Iterator[CriterionVerdict]:
    """Read `verdicts.jsonl`, or the verdicts of another tool, lazily.

    A label other than met, partly and not_met becomes None (not judged, never not_met) and is
    listed as `label`; null becomes None, too.

    Errors reported: a missing id, weight or label, a criterion of an answer with two different
    labels. A repeated criterion with the same label is read once and listed.
    """
    for _, verdict in verdicts_with_lines(read_lines(path, problems, where)):
        yield verdict


def verdicts_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, CriterionVerdict]]:
    """Yield the verdicts in these lines as `read_verdicts` does, each with its line."""
    seen: dict[tuple[str, str, str], CriterionLabel | None] = {}
    for line in lines:
        if "criteria" in line.row:
            verdicts = ragdoll_rubrics.read_graded(line)
        elif "rubric_title" in line.row:
            verdicts = researchrubrics.result(line)
        else:
            verdicts = _ours(line)
        for verdict in verdicts:
            cell = (verdict.topic_id, verdict.run_id, verdict.criterion_id)
            if cell not in seen:
                seen[cell] = verdict.label
                yield line, verdict
                continue
            what = f"criterion {cell[2]!r} of run {cell[1]!r}, topic {cell[0]!r}"
            if seen[cell] == verdict.label:
                line.keep("duplicate_verdict", f"{what} occurs twice with one label")
            else:
                got = f"has {show(verdict.label)} here and {show(seen[cell])} before"
                line.error("duplicate_verdict", f"{what} {got}, wanted one label")


def _ours(line: Line) -> Iterator[CriterionVerdict]:
    topic_id, run_id = line.id(*TOPIC_FIELDS), line.id("run_id")
    criterion_id, weight = line.id("criterion_id"), read_weight(line)
    if "label" not in line.row:
        line.missing("label")
    elif not (topic_id is None or run_id is None or criterion_id is None or weight is None):
        kind = next((k for k in CRITERION_KINDS if k == line.row.get("kind")), "three_way")
        yield CriterionVerdict(
            topic_id=topic_id,
            run_id=run_id,
            criterion_id=criterion_id,
            weight=weight,
            label=line.label("label", CRITERION_LABELS),
            kind=kind,
            **line.read_label_scores(),
        )


def _read_labelled(lines: Iterable[Line]) -> Iterator[Labelled]:
    for line, one in verdicts_with_lines(lines):
        yield line, (one.topic_id, one.run_id, one.criterion_id), one.label, one.get_confidence()


def _has_list(row: Mapping[str, Any]) -> bool:
    return any(isinstance(row.get(name), list) for name in ("criteria", "rubrics"))


def _is_verdict(row: Mapping[str, Any]) -> bool:
    if _has_list(row):
        return "run_id" in row
    has = row.keys()
    return has >= {"criterion_id", "label", "weight"} or has >= {"rubric_title", "sample_id"}


CRITERION_KIND = Kind(
    name="rubric",
    key=("topic_id", "run_id", "criterion_id"),
    scale=CriterionMatch,
    gains=CRITERION_GAINS,
    many="criteria",
    length_of=("response", "response"),
    judge="criterion",
    columns={"ternary_score": "rubric", "binary_score": "rubric_strict"},  # RAGDoll's metrics.py
    words=Path(__file__).with_name("words.toml"),
    rows="verdicts",
    read=_read_labelled,
    files={"verdicts": _is_verdict, "rubrics": _has_list},
)
