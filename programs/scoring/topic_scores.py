"""Scores of runs by topic from folders and files, and from several sources side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...records.kinds import file_kind
from ...records.nuggets import read_nugget_banks
from ...records.reading.fields import stem
from ...records.reading.problems import InputError, Problems
from ...records.rows import ScoreRow
from ...records.scores import read_scores
from ..inputs import ORACLES
from ..protocols.coverage.topic import COVERAGE_MEASURES
from ..protocols.program import Folder, Program
from ..protocols.table import choose, is_of_answered
from .result import Result


@dataclass(frozen=True)
class TopicScores:
    """Scores by topic of the runs of a source.

    `values[measure][run]` maps topics to a score; None: not judged. `topics[measure]` are the
    topics on which the measure is defined; a run without a value there did not answer and has 0.
    `rows[measure][run]` maps topics, and "all" for the mean, to the rows, also for oracles.
    `by_own_topics` are measures of answered topics, see `is_of_answered`.
    """

    values: Mapping[str, Mapping[str, Mapping[str, float | None]]]
    topics: Mapping[str, Collection[str]]
    rows: Mapping[str, Mapping[str, Mapping[str, ScoreRow]]]
    by_own_topics: Collection[str] = ()

    def is_of_answered(self, measure: str) -> bool:
        """Return whether an unanswered topic has no value in this measure, instead of 0."""
        return measure in self.by_own_topics or is_of_answered(measure)


def topic_scores(path: Path, problems: Problems) -> TopicScores:
    """Read the scores by topic of a results folder, a file of judgements or a file of scores.

    Topics count as in `judge score`: the topics of the folder's run, or else those of any run in
    the file, without topics on which the measure is 0/0 for every run. The oracles of coverage do
    not count as runs.

    Raises: InputError if the file has another kind or no scores by topic.
    """
    topics: list[str] | None = None
    ran: list[Program] = []
    folder = Folder(path, problems)
    rows: list[ScoreRow]
    if path.is_dir():
        rows, topics, ran = Result(path).scores, folder.topics, choose(folder.programs)
    elif file_kind(path) == "scores":
        rows = _with_topics(path, read_scores(path, problems), problems)
    else:
        from .score import score_path

        rows = score_path(path, problems)
    scores = scores_by_topic(rows, folder, topics, ran)
    if not scores.values:
        raise InputError(f"{path}: has no scores by topic, which the tests need")
    return scores


def scores_by_topic(
    rows: Sequence[ScoreRow],
    folder: Folder,
    topics: Sequence[str] | None,
    ran: Sequence[Program] = (),
) -> TopicScores:
    """Return the scores by topic in these rows.

    Args:
        folder: the results of the rows.
        topics: the topics that every run must answer; None: topics of any run.
        ran: tasks of the folder, which know topics on which a measure is undefined.
    """
    by_measure: dict[str, list[ScoreRow]] = {}
    for row in rows:
        by_measure.setdefault(row.measure, []).append(row)
    values: dict[str, dict[str, dict[str, float | None]]] = {}
    must_answer: dict[str, list[str]] = {}
    read: dict[str, dict[str, dict[str, ScoreRow]]] = {}
    for measure, measure_rows in by_measure.items():
        cells = [row for row in measure_rows if row.topic_id != "all"]
        if not cells:
            continue
        defined = {
            r.topic_id for r in cells if r.value is not None or r.high is not None or r.n_unjudged
        }
        undefined = {row.topic_id for row in cells} - defined
        for program in ran:
            undefined |= set(program.excluded(measure, folder))
        every = topics or list(dict.fromkeys(row.topic_id for row in cells))
        if measure.partition("@")[0] in COVERAGE_MEASURES:  # other topics have no sub-questions
            every = list(dict.fromkeys(row.topic_id for row in cells))
        must_answer[measure] = [topic for topic in every if topic not in undefined]
        of_run: dict[str, dict[str, float | None]] = {
            row.run_id: {} for row in measure_rows if row.run_id not in ORACLES
        }
        for row in cells:
            if row.run_id in of_run:
                of_run[row.run_id][row.topic_id] = row.value
        values[measure] = of_run
        read[measure] = {}
        for row in measure_rows:
            read[measure].setdefault(row.run_id, {})[row.topic_id] = row
    by_own = {m for m in values if any(program.is_by_own_topics(m, folder) for program in ran)}
    return TopicScores(values, must_answer, read, by_own)


def merge_sources(sources: Sequence[Path], scores: Sequence[TopicScores]) -> TopicScores:
    """Join the runs of all sources on common measures and topics.

    A run in several sources is named `run@source`.
    """
    if len(scores) == 1:
        return scores[0]
    names = run_names(sources, scores)
    values: dict[str, dict[str, Mapping[str, float | None]]] = {}
    rows: dict[str, dict[str, Mapping[str, ScoreRow]]] = {}
    topics: dict[str, list[str]] = {}
    for measure in scores[0].values:
        if not all(measure in one.values for one in scores):
            continue
        values[measure], rows[measure] = {}, {}
        for name, one in zip(names, scores, strict=True):
            for run in one.rows[measure]:
                rows[measure][name[run]] = one.rows[measure][run]
                if run in one.values[measure]:
                    values[measure][name[run]] = one.values[measure][run]
        others = [set(one.topics[measure]) for one in scores[1:]]
        topics[measure] = [t for t in scores[0].topics[measure] if all(t in of for of in others)]
    if not values or not any(topics.values()):
        all_of_them = " and ".join(map(str, sources))
        raise InputError(f"{all_of_them}: no common measure and topic")
    by_own = {measure for one in scores for measure in one.by_own_topics}
    return TopicScores(values, topics, rows, by_own)


def run_names(sources: Sequence[Path], scores: Sequence[TopicScores]) -> list[dict[str, str]]:
    """Return by source the names of its runs: `run@source` if another source has the run too.

    The same holds for oracles.
    """
    twice = {*runs_in_both(scores), *(ORACLES if len(scores) > 1 else ())}
    tails = list(map(stem, sources))
    if len(set(tails)) < len(tails):
        tails = list(map(str, sources))
    return [
        {run: f"{run}@{tail}" if run in twice else run for of in one.rows.values() for run in of}
        for tail, one in zip(tails, scores, strict=True)
    ]


def runs_in_both(scores: Sequence[TopicScores]) -> set[str]:
    """Return names of runs in more than one source."""
    runs = [{run for by_run in one.values.values() for run in by_run} for one in scores]
    counts = Counter(run for of_source in runs for run in of_source)
    return {run for run, n in counts.items() if n > 1}


def note_other_instruments(sources: Sequence[Path], problems: Problems) -> None:
    """List sources that were measured differently from the first: not only the runs differ."""
    one = sources[0]
    for other in sources[1:]:
        if one.is_dir() and other.is_dir():
            _note_other_instrument(one, other, problems)


def _note_other_instrument(one: Path, other: Path, problems: Problems) -> None:
    manifests = [Result(path).manifest for path in (one, other)]
    if manifests[0].get("judges") != manifests[1].get("judges"):
        what = f"was judged by another judge than {one}, which may explain all differences"
        problems.keep(other, 0, "other_judge", what)
    banks = [path / "nuggets.jsonl" for path in (one, other)]
    if all(path.is_file() for path in banks):
        ids = [
            {topic: [n.id for n in bank.nuggets] for topic, bank in read.items()}
            for read in (read_nugget_banks(path, Problems()) for path in banks)
        ]
        differ = [topic for topic in ids[0] if topic in ids[1] and ids[0][topic] != ids[1][topic]]
        if differ:
            what = f"{len(differ)} topics have other nuggets than in {banks[0]}"
            problems.keep(banks[1], 0, "other_nuggets", f"{what}; judge both with one bank")


def _with_topics(path: Path, rows: Sequence[ScoreRow], problems: Problems) -> list[ScoreRow]:
    """Return rows of runs with scores by topic; a mean alone is not enough."""
    problems.raise_errors()
    known = {(row.run_id, row.measure) for row in rows if row.topic_id != "all"}
    measures = {measure for _, measure in known}
    left = sorted({(r.run_id, r.measure) for r in rows if r.measure in measures} - known)
    for run, measure in left:
        problems.skip(path, 0, "no_topics", f"run {run!r} has no {measure} by topic")
    return [row for row in rows if (row.run_id, row.measure) in known]
