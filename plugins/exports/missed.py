"""Reference items that answers miss, as items that `judge run items` can label."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...programs.analysis.answers.views import label_standings, read_answer_views
from ...programs.engine.manifest import read_manifest
from ...programs.protocols.table import choose
from ...records.kinds import find_kind
from ...records.reading.problems import InputError, Problems
from ...records.writing import write_lines


def write_missed(folder: Path, out: Path, problems: Problems) -> int:
    """Write a row for each key point or nugget that an answer does not state in full.

    A row has the ids of the item, its text as `key_point`, and the whole answer as `response`.
    Items that were not judged are left out.

    Returns: the number of rows. Raises: InputError if the folder has no such items or no answers.
    """
    programs = {
        one.name: (one.words.item if one.words else "", kind.key)
        for one in choose(read_manifest(folder)["config"]["program"])
        if one.matrix == "points" and (kind := find_kind(one.kind)) is not None
    }
    if not programs:
        raise InputError(f"{folder}: has no judgements of key points or nuggets")
    n = write_lines(out, _rows(folder, programs, problems))
    if not n:
        out.unlink()
        raise InputError(f"{folder}: no answer misses an item, or the answers are missing")
    return n


def _rows(
    folder: Path, programs: dict[str, tuple[str, tuple[str, ...]]], problems: Problems
) -> Iterator[dict[str, Any]]:
    for view in read_answer_views(folder, problems):
        response = " ".join(sentence.text for sentence in view.sentences)
        if not response.strip():
            continue
        for judged in view.judged:
            unit, key = programs.get(judged.program, ("", ()))
            if judged.unit != unit or judged.label is None:
                continue
            if label_standings(judged.program)[judged.label] != "stated":
                ids = {"topic_id": view.topic_id, "run_id": view.run_id, key[-1]: judged.item}
                yield {**ids, "key_point": judged.text, "response": response}
