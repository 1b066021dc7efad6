"""Imports the judgements of nuggetizer or RAGDoll as a results folder, in our formats."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from ....programs.config.sections import Config
from ....programs.engine.manifest import find_place
from ....programs.engine.results import Results
from ....programs.partial import OtherFolder
from ....programs.protocols.program import Folder
from ....programs.protocols.scoreboard import Scoreboard
from ....programs.protocols.table import choose, program_files, programs
from ....records.kinds import read_measures
from ....records.reading.lines import hash_file
from ....records.reading.problems import Problems
from ....records.scores import read_scores, write_scores
from .files import INPUTS, ToolFiles
from .folders import ToolFolder, find_takers, find_tool_folder

_ROUNDED = 5e-6  # tools write six digits


def find_folder(path: Path) -> OtherFolder | None:
    """The judgements of nuggetizer or RAGDoll in a folder; None if there are none."""
    if (tool := find_tool_folder(path)) is None:
        return None
    return OtherFolder(path, tool.judged_files, partial(write_results, tool))


def write_results(tool: ToolFolder, made: Path) -> Problems:
    """Write a results folder from another tool's files, with scores and manifest.

    A failed judgement, which these tools count as 0, is unjudged here. The judged texts are written
    next to it as far as the files have them, so that answers can be shown.

    Returns: what the readers left out or doubted, and where the tool's own metrics differ.
    Raises: InputError for an invalid file, with its line.
    """
    problems = Problems()
    with Results(made, program_files([one.name for one in programs()])) as results:
        theirs = ToolFiles(tool, results, problems)
        for at in tool.judged.items():
            find_takers()[at].load()(theirs)
        read = theirs.asked | {"scores"}
        for kind, paths in tool.files.items():
            for path in paths if kind not in read else ():
                problems.skip(
                    path, 0, "other_file", f"{kind}; wanted judgements, nuggets or metrics"
                )
        problems.raise_errors()
        names, data = list(tool.judged), theirs.write_inputs(made)
        settings = {"program": names, "data": data, "support": {"citations": "all"}}
        config = Config.model_validate({**settings, "run": {"out": made}})
        topics = theirs.list_judged_topics()
        of_data = {"topic_ids": topics, "run_ids": list(theirs.runs), "failed": []}
        of_config = config.model_dump(mode="json", by_alias=True)
        taken = [path for kind, paths in tool.files.items() if kind in read for path in paths]
        hashes = {str(path): hash_file(path) for path in taken}
        notes = {name: value for one in choose(names) for name, value in one.notes.items()}
        notes |= {"config": of_config, "data": of_data}
        notes |= {name: note() for name, note in theirs.late_notes.items()}
        notes["judged_elsewhere"] = hashes
        folder = Folder(made, Problems(), notes=notes, is_written=False)
        board = Scoreboard(topics)
        board.ensure_runs(theirs.runs)
        for program in choose(names):
            program.score(folder, board)
        scored = list(board.rows())
        write_scores(results.part("scores.jsonl"), results.part("scores.eval.txt"), scored)
        _hold_against_theirs(tool, scored, problems)
        results.list_problems(problems)
        results.publish(_manifest(results, notes, made, problems))
    return problems


def _hold_against_theirs(tool: ToolFolder, scored: list[Any], problems: Problems) -> None:
    """Report, for each file, how many of the tool's own values differ from ours."""
    ours = {(row.run_id, row.topic_id, row.measure): row.value for row in scored}
    runs = {row.run_id for row in scored}
    for path in tool.files.get("scores", ()):
        read_problems = Problems()
        rows = [row for row in read_scores(path, read_problems) if row.topic_id != "all"]
        read_problems.raise_errors()
        pairs = []
        for row in rows:
            run = row.run_id if row.run_id in runs or len(runs) > 1 else next(iter(runs))
            cell = (run, row.topic_id, read_measures().get(row.measure, row.measure))
            if cell in ours:
                pairs.append((cell, row.value, ours[cell]))
        differ = [pair for pair in pairs if not _is_same(pair[1], pair[2])]
        if differ:
            (run, topic, measure), theirs, here = differ[0]
            what = f"{len(differ):,} of {len(pairs):,} values differ from those of the labels"
            example = (
                f"{measure} of run {run!r}, topic {topic!r} is {theirs} there, {_as_text(here)}"
            )
            problems.keep(path, 0, "other_metrics", f"{what}; {example} here")


def _is_same(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and abs(one - other) <= _ROUNDED)


def _as_text(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def _manifest(
    results: Results, notes: dict[str, Any], made: Path, problems: Problems
) -> dict[str, Any]:
    inputs = {str(path): hash_file(path) for path in sorted((made / INPUTS).iterdir())}
    theirs = notes["judged_elsewhere"]
    digest = hashlib.sha256(orjson.dumps(theirs, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return {
        "fingerprint": digest,
        "versions": {},
        "inputs": inputs,
        "made_in": find_place(made),
        "judges": {},
        "answered_by": [],
        **notes,
        **results.figures(problems),
        "limit_reached": None,
        "tokens": {},
        "this_time": {},
    }
