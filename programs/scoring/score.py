"""Scores from stored judgements, without a model: a results folder, or a file of any tool."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...metrics import NUGGET_MEASURES, count_words
from ...records.assignments import read_assignments
from ...records.candidates import read_candidates
from ...records.labels.kinds import file_kind
from ...records.reading.problems import InputError, Problems
from ...records.relevance import read_relevance
from ...records.rows import ScoreRow
from ...records.support import read_support
from ...records.topics import read_topics
from ..engine.judged_files import ITEMS, JUDGED_FILES
from ..engine.manifest import read_manifest
from ..protocols.coverage.files import POOLS, read_coverage_folder
from ..protocols.coverage.scores import coverage_rows
from ..protocols.expected import (
    EXPECTED_NUGGET_MEASURES,
    NOT_JUDGED,
    add_expected_nuggets,
    add_expected_support,
    has_probabilities,
)
from ..protocols.item_scores import ItemScale, ItemScores, read_labelled
from ..protocols.keypoints.scores import score_key_points
from ..protocols.ranking import ranking_rows
from ..protocols.scoreboard import Scoreboard, nugget_values, support_values


def score_path(
    path: Path, problems: Problems, *, topics: Path | None = None, all_citations: bool = True
) -> list[ScoreRow]:
    """Score rows of a file of judgements or of a results folder.

    Args:
        path: nugget assignments (nuggetizer's layout), support labels (RAGDoll's layout or ours),
            or a folder that `judge run` wrote. Where a judge gave probabilities of its labels,
            each measure is there a second time as `MEASURE_expected`, taken from those.
        topics: file of the topics that every run must answer; else, for a folder the topics of
            its run, for a file those that any run in it answers.
        all_citations: give the `_all` support measures too.

    Raises: InputError if the file is broken or holds no judgements.
    """
    wanted = list(read_topics(topics, problems)) if topics is not None else None
    if path.is_dir():
        return _score_folder(path, problems, wanted)
    board = Scoreboard(wanted)
    kind = file_kind(path)
    if kind not in _READERS:
        raise InputError(f"{path}: holds {kind}, wanted nugget assignments or support labels")
    _READERS[kind](path, problems, board, all_citations)
    problems.raise_errors()
    return list(board.rows())


def _score_folder(folder: Path, problems: Problems, topics: list[str] | None) -> list[ScoreRow]:
    manifest = read_manifest(folder)
    if topics is None:
        topics = manifest["data"]["topic_ids"]
    board = Scoreboard(topics)
    board.ensure_runs(manifest["data"]["run_ids"])
    ranking: list[ScoreRow] = []
    found = False
    if about := manifest.get(ITEMS):
        return _item_rows(folder / JUDGED_FILES[ITEMS], ItemScale(**about), topics, problems)
    if (path := folder / "relevance.jsonl").is_file():
        if "relevance" in manifest["config"]["program"]:
            ranking = _ranking(path, Path(manifest["config"]["data"]["candidates"]), problems)
        found = True
    if (path := folder / "assignments.jsonl").is_file():
        measures: tuple[str, ...] = NUGGET_MEASURES
        if _add_assignments(path, problems, board, True):
            measures += EXPECTED_NUGGET_MEASURES
        board.leave_out(measures, manifest["topics_without_nuggets"])
        for run_id, topic_id in manifest["cells_without_bank"]:
            board.add(run_id, topic_id, dict.fromkeys(measures, NOT_JUDGED))
        found = True
    if (path := folder / "support.jsonl").is_file():
        every = manifest["config"]["support"]["citations"] != "first"
        _add_support(path, problems, board, every)
        found = True
    if (folder / "entailments.jsonl").is_file():
        score_key_points(folder, board, problems)
        found = True
    if (folder / POOLS).is_file():
        data, settings = read_coverage_folder(folder, problems)
        ranking += coverage_rows(data, settings, topics)
        found = True
    problems.raise_errors()
    if not found:
        raise InputError(f"{folder}: has none of the files that a run leaves")
    return [*ranking, *board.rows()]


def _item_rows(
    path: Path, scale: ItemScale, topics: list[str], problems: Problems
) -> list[ScoreRow]:
    scores = ItemScores(scale)
    for item in read_labelled(path, scale, problems):
        scores.add(item)
    problems.raise_errors()
    return list(scores.rows(topics))


def _ranking(path: Path, candidates: Path, problems: Problems) -> list[ScoreRow]:
    """The ranking measures, which need the candidates once more, for their order."""
    grades: dict[str, dict[str, int | None]] = {}
    for row in read_relevance(path, problems):
        grades.setdefault(row.topic_id, {})[row.passage_id] = row.grade
    if not candidates.is_file():
        what = f"{candidates} is not there, so the ranking measures are left out"
        problems.skip(path, 1, "no_candidates_file", what)
        return []
    return ranking_rows(grades, read_candidates(candidates, problems).rankings)


def _add_assignments(
    path: Path, problems: Problems, board: Scoreboard, all_citations: bool
) -> bool:
    """Add the values of every answer; whether there are expected ones among them."""
    is_expected = False
    for row in read_assignments(path, problems):
        is_expected |= has_probabilities(row)
        labels = [assigned.label for assigned in row.nuggets]
        importances = [assigned.nugget.importance for assigned in row.nuggets]
        length = count_words(row.answer_text) if row.answer_text else row.response_length
        board.add(row.run_id, row.topic_id, nugget_values(labels, importances, length))
    if is_expected:
        add_expected_nuggets(path, board)
    return is_expected


def _add_support(path: Path, problems: Problems, board: Scoreboard, all_citations: bool) -> bool:
    """Add the values of every answer; whether there are expected ones among them."""
    is_expected = False
    for row in read_support(path, problems):
        is_expected |= has_probabilities(row)
        board.add(row.run_id, row.topic_id, support_values(row, all_citations=all_citations))
    if is_expected:
        add_expected_support(path, board, all_citations=all_citations)
    return is_expected


_READERS: dict[str, Callable[[Path, Problems, Scoreboard, bool], bool]] = {
    "assignments": _add_assignments,
    "support": _add_support,
}
