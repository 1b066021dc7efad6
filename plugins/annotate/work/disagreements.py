"""Draw items on which a judge and people differ, for third judges who see no label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from ....programs.analysis.cell_texts import choose_texts, list_needed
from ....programs.analysis.compare import compare_judges
from ....programs.analysis.tables.leaderboards import name_judges
from ....programs.engine.label_sheet import write_sheet
from ....programs.protocols.judged_files import find_judged_file
from ....programs.scoring.result import Result
from ....records.kinds import Cell
from ....records.labels import read_labels
from ....records.reading.problems import InputError, Problems
from ....records.writing import write_file, write_lines
from .drawing import generator

N = 15  # of a topic: arXiv:2504.15205, section 5
SHEET, DRAWN, STUDY = "sheet.jsonl", "drawn.jsonl", "study.json"
OURS = (SHEET, DRAWN)


@dataclass(frozen=True)
class Study:
    """How items were drawn.

    Attributes:
        kind: kind of the labels. scale: labels, worst to best. key_names: names of an item's ids.
        judge: the judge that is compared with people.
        n: most items of a topic. seed: seed of the draw.
        n_compared, n_differ: items that both labelled, and those with different labels.
        n_topics, n_short: topics with such items, and topics with fewer than `n` of them.
    """

    kind: str
    scale: tuple[str, ...]
    key_names: tuple[str, ...]
    judge: str
    n: int
    seed: int
    n_compared: int
    n_differ: int
    n_topics: int
    n_short: int


def draw_disagreements(
    human: Path,
    judged: Path,
    out: Path,
    problems: Problems,
    *,
    n: int = N,
    seed: int = 0,
    kind: str | None = None,
) -> Study:
    """Draw items of each topic on which two label files differ, and write them to a folder.

    `sheet.jsonl` has ids and texts, but no label: people label it in `judge annotate`, a model in
    `judge run items`. `drawn.jsonl` has both labels, and the condition of the person's label.

    Args:
        human, judged: label files or results folders; the first is from people.
        n: items of each topic; a topic with fewer gives all.
        seed: a topic's draw depends only on the seed and the topic.
        kind: which judgements to compare, for two folders.

    Raises: InputError if the labels never differ, an item lacks a text that judging needs, or `out`
        holds another study.
    """
    if (out / DRAWN).exists():
        raise InputError(f"{out}: already has a study; choose another --out")
    found = Problems()
    compared = compare_judges(human, judged, found, kind, resamples=0)
    problems.rows += [row for row in found.rows if row.kind != "mixed_conditions"]  # kept apart
    agreed, flips = compared["agreement"], compared["flips"]
    if not flips:
        raise InputError(f"{human} and {judged}: all {agreed['n']:,} labels are equal")
    file = read_labels(find_judged_file(human, compared["kind"]), Problems())
    by_topic: dict[str, list[dict[str, Any]]] = {}
    for row in flips:
        by_topic.setdefault(str(row.get("topic_id", "")), []).append(row)
    drawn = [row for topic, rows in sorted(by_topic.items()) for row in _draw(rows, topic, n, seed)]
    known = choose_texts(judged, file.kind, drawn)
    texts = [name for name in known if any(row.get(name) for row in drawn)]
    needed = list_needed(judged, file.kind) or ("text",)
    for row in drawn:
        if lost := [name for name in needed if not row.get(name)]:
            item = " ".join(row[name] for name in file.key_names)
            what = f"item {item} has no {lost[0]}, which judging needs"
            raise InputError(f"{judged}: {what}; give results whose input files still exist")
    judge = name_judges(Result(judged).judged_by) if judged.is_dir() else judged.stem
    study = Study(
        *(compared["kind"], tuple(agreed["scale"]), file.key_names, judge, n, seed),
        n_compared=agreed["n"],
        n_differ=len(flips),
        n_topics=len(by_topic),
        n_short=sum(len(rows) < n for rows in by_topic.values()),
    )
    conditions = _read_conditions(human, compared["conditions"], compared["kind"])
    keys = [{name: row[name] for name in file.key_names} for row in drawn]
    sheet = [
        {**key, **{name: row.get(name, "") for name in texts}, "label": None}
        for key, row in zip(keys, drawn, strict=True)
    ]
    write_sheet(out / SHEET, sheet, problems)
    lines = [
        {**key, "people": row["label"], "judge": row["other_label"],
         "condition": conditions.get(tuple(key.values()), "")}
        for key, row in zip(keys, drawn, strict=True)
    ]  # fmt: skip
    write_lines(out / DRAWN, lines)
    write_file(out / STUDY, orjson.dumps(asdict(study), option=orjson.OPT_INDENT_2))
    return study


def _draw(rows: list[dict[str, Any]], topic: str, n: int, seed: int) -> list[dict[str, Any]]:
    """At most n rows of a topic, in random order."""
    rows = sorted(rows, key=lambda row: [str(value) for value in row.values()])
    order = generator(seed, "disagreements", topic).permutation(len(rows))
    return [rows[i] for i in order[:n]]


def _read_conditions(path: Path, conditions: Mapping[str, int], kind: str) -> dict[Cell, str]:
    """The condition under which each item was labelled; {} if the file does not say."""
    of_cells: dict[Cell, str] = {}
    for name in filter(None, conditions):
        found = read_labels(find_judged_file(path, kind), Problems(), {"condition": [name]})
        of_cells |= dict.fromkeys(found.cells, name)
    return of_cells
