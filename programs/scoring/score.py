"""Scores from stored judgements, without a model: a results folder, or a file of any tool."""

from __future__ import annotations

from pathlib import Path

from ...records.kinds import file_kind
from ...records.reading.fields import Where
from ...records.reading.problems import InputError, Problems
from ...records.rows import ScoreRow
from ...records.topics import read_topics
from ..protocols.program import Folder, Program
from ..protocols.scoreboard import Scoreboard
from ..protocols.table import chosen, programs


def score_path(
    path: Path, problems: Problems, *, topics: Path | None = None, where: Where | None = None
) -> list[ScoreRow]:
    """Score rows of a file of judgements or of a results folder.

    Args:
        path: nugget assignments (nuggetizer's layout), support labels (RAGDoll's layout or ours),
            or a folder that `judge run` wrote. Where a judge gave probabilities of its labels,
            each measure is there a second time as `MEASURE_expected`, taken from those.
        topics: file of the topics that every run must answer; else, for a folder the topics of
            its run, for a file those that any run in it answers.
        where: of a file, only rows whose top-level fields have one of these values; the topics are
            then those that any run answers in such a row.

    Raises: InputError if the file is broken or holds no judgements, for `where` with a folder, and
        for a field or value of it that no row has.
    """
    check_where(path, where)
    wanted = list(read_topics(topics, problems)) if topics is not None else None
    folder = Folder(path, problems, topics=wanted, where=where)
    board = Scoreboard(folder.topics)
    board.ensure_runs(folder.data.get("run_ids", ()))
    board.leave_unmade(folder.not_made)
    for program in scored(folder):
        program.score(folder, board)
    problems.raise_errors()
    rows = list(board.rows())
    if where and not rows:
        raise InputError(f"{path}: no row has all that --where asks for")
    return rows


def check_where(path: Path, where: Where | None) -> None:
    """Raise InputError where rows of a results folder are to be chosen: its topics are fixed."""
    if where and path.is_dir():
        what = "--where chooses rows of a file, and not of a results folder"
        files = ", ".join(one.judged for one in programs() if one.is_scored_alone)
        raise InputError(f"{path}: {what}; name the file in it ({files})")


def scored(folder: Folder) -> list[Program]:
    """The programs whose judgements are there. Raises: InputError if there are none."""
    if not folder.path.is_dir():
        kind = file_kind(folder.path)
        present = [one for one in programs() if one.is_scored_alone and one.file_kind == kind]
        if not present:
            what = f"holds {kind}, wanted nugget assignments or support labels"
            raise InputError(f"{folder.path}: {what}")
        return present
    present = [one for one in chosen(folder.programs) if folder.file(one.judged) is not None]
    if not present:
        raise InputError(f"{folder.path}: has none of the files that a run leaves")
    return present
