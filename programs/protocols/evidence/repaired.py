"""Answers with the suggested citations in the place of those that failed; the old ones are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from ....records.answers import answers_with_lines, read_references
from ....records.reading.fields import Line, read_lines
from ....records.reading.problems import InputError, Problems
from ....records.support import read_sentence_evidence
from ....records.writing import NewFile, own_folder
from ...engine.folders import inputs_of
from ...inputs import expand_runs
from .program import FILE

SUFFIX = "-repaired"
ORIGINAL, FROM = "original_citations", "repaired_from"


def export_repaired(folder: Path, out: Path) -> dict[str, int]:
    """Write the runs of a results folder with the suggestions that it uses as first citations.

    Each run has its name with `-repaired` behind it, and `repaired_from` says of which run it is.
    A sentence that was changed has `original_citations` beside `citations`; passages that are new
    to `references` stand at its end. Files keep their names, lines without a suggestion too.

    Args:
        out: a folder, made if it is not there, without files of these names.

    Returns: counts of answers, changed answers and sentences.
    Raises: InputError where the runs are not those that were judged, or a file is there already.
    """
    changes: dict[tuple[str, str], dict[int, tuple[str, bool]]] = {}
    problems = Problems()
    evidence = folder / FILE
    if not evidence.is_file():
        raise InputError(f"{folder}: has no {FILE}; run `judge run evidence` first")
    for row in read_sentence_evidence(evidence, problems):
        if (name := row.repaired) is not None:
            of_answer = changes.setdefault((row.run_id, row.topic_id), {})
            of_answer[row.sentence] = (name, row.citation is not None)
    problems.raise_errors()
    inputs = inputs_of(folder)
    paths = expand_runs(inputs.config.data.runs)
    inputs.checked("its answers cannot be repaired", of=paths)
    names = [path.name.removesuffix(".gz") for path in paths]
    for name, n in Counter(names).items():
        if n > 1 or (out / name).exists():
            what = "is there already" if n == 1 else "would be written for two of the runs"
            raise InputError(f"{out / name}: {what}; name another --out")
    own_folder(out)
    counts: Counter[str] = Counter(answers=0, changed_answers=0, changed_sentences=0)
    for path, name in zip(paths, names, strict=True):
        with NewFile(out / name) as file:
            for written in _rows(path, changes, counts):
                file.write(orjson.dumps(written, option=orjson.OPT_APPEND_NEWLINE))
    return dict(counts)


def _rows(
    path: Path,
    changes: Mapping[tuple[str, str], Mapping[int, tuple[str, bool]]],
    counts: Counter[str],
) -> Iterator[dict[str, Any]]:
    for line, answer in answers_with_lines(read_lines(path, Problems()), is_checked=True):
        of_answer = changes.get((answer.run_id, answer.topic_id), {})
        counts["answers"] += 1
        counts["changed_answers"] += bool(of_answer)
        counts["changed_sentences"] += len(of_answer)
        row = _changed(line, of_answer)
        holder = row["metadata"] if isinstance(row.get("metadata"), dict) else row
        holder["run_id"] = answer.run_id + SUFFIX
        yield {**row, FROM: answer.run_id}


def _changed(line: Line, changes: Mapping[int, tuple[str, bool]]) -> dict[str, Any]:
    row: dict[str, Any] = orjson.loads(orjson.dumps(line.row))
    if not changes:
        return row
    field = "answer" if row.get("answer") is not None else "responses"
    listed = list(read_references(line).listed)
    references = list(row.get("references") or ())
    for index, (name, replaces) in changes.items():
        item = row[field][index]
        item = {"text": item} if isinstance(item, str) else item
        before = item.get("citations")
        written = list(before or ())  # of a map: its keys, the strongest need not stand first
        if isinstance(before, dict):
            written = sorted(before, key=lambda key: -_weight(before[key]))
        rest = written[1:] if replaces else written
        by_index = any(type(each) is int for each in written) or not written
        if name not in listed:
            listed.append(name)
            references.append(name)
        first: Any = listed.index(name) if by_index else name
        others = [each for each in rest if each not in (name, first)]
        row[field][index] = {**item, "citations": [first, *others], ORIGINAL: before}
    return {**row, "references": references}


def _weight(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float("-inf")
