"""Readers of folders of other tools; an entry point names each reader.

`theirs` is the ToolFiles of `plugins/exports`, which finds such folders and loads these functions.
"""

from __future__ import annotations

from typing import Any

from ...records.reading.fields import read_lines
from ...records.reading.problems import Problems
from .arena.kind import read_battles
from .arena.standings import FILE as BATTLES
from .rubric.rubrics import Rubric, collect_rubrics, read_rubrics, rubric_row, verdict_row
from .rubric.verdicts import RUBRICS, VERDICTS, read_verdicts


def take_battles(theirs: Any) -> None:
    """Write battles, each in the order or orders in which it was judged."""
    with theirs.results.open(BATTLES) as rows:
        for path in theirs.files("battles"):
            for battle in read_battles(path, theirs.problems):
                both = {"run_id": battle.run_id, "opponent_id": battle.opponent_id}
                for run_id in both.values():
                    theirs.cell(run_id, battle.topic_id)
                rows.write(battle.as_row())
                for verdict in filter(None, (battle.first, battle.second)):
                    ids = {"topic_id": battle.topic_id, **both}
                    theirs.count("battles", ids, verdict.label)


def take_verdicts(theirs: Any) -> None:
    """Write the verdicts on criteria, and the rubric of each topic without one in a rubric file."""
    rubrics: dict[str, Rubric] = {}
    for path in theirs.files("rubrics"):
        rubrics |= read_rubrics(path, theirs.problems)
    for path in theirs.files("verdicts"):
        for line in read_lines(path, Problems()):
            topic, run = line.optional_id("qid", "topic_id"), line.optional_id("run_id")
            if topic is None or run is None or "criteria" not in line.row:
                continue
            theirs.cell(run, topic, line.optional_text("query"))
            theirs.answer(run, topic, line.optional_text("answer_text"))
            if topic not in rubrics:
                rubrics |= collect_rubrics([line], linted=False)
    with theirs.results.open(VERDICTS) as rows:
        for row in theirs.once("verdicts", read_verdicts):
            theirs.cell(row.run_id, row.topic_id)
            rows.write(verdict_row(row))
            ids = {"topic_id": row.topic_id, "run_id": row.run_id}
            theirs.count("criteria", {**ids, "criteria": [row.criterion_id]}, row.label)
    if rubrics:
        theirs.results.write(RUBRICS, map(rubric_row, rubrics.values()))
