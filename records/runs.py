"""Retrieval runs in the TREC layout: `topic Q0 document rank score tag`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TextIO

from .judgements import Reason
from .reading.fields import as_int
from .reading.lines import text_lines
from .reading.problems import Problems
from .rows import Ranking
from .writing.files import write_file

HIGHEST_SCORE = 3e38  # in files we write: 32-bit floats end a little above
# The one document of a topic whose ranking could not be made, before the reason. For every other
# tool it is a document that is not relevant.
NOT_MADE = "not-made:"


class _Entry(NamedTuple):
    passage_id: str
    rank: int
    score: float


def read_trec_run(path: Path, problems: Problems) -> dict[str, Ranking]:
    """Read the ranking of each topic, best score first, equal scores by rank.

    Differs: trec_eval breaks ties of the score by document id and never looks at the rank.

    A topic with the one document `not-made:REASON` has no ranking, by no doing of the system.

    Errors reported: other than 6 columns, a rank or score that is no number, a document twice in
    a topic, more than one tag in the file. A topic whose ranks contradict its scores is kept
    in the order of the scores and mentioned.
    """
    entries: dict[str, dict[str, _Entry]] = {}
    first_line: dict[str, int] = {}
    tag = None
    for number, line in text_lines(path):
        columns = line.split()
        if len(columns) != 6:
            what = f"{len(columns)} columns, wanted 6: topic Q0 document rank score tag"
            problems.error(path, number, "bad_run", what)
            continue
        topic_id, _, passage_id, written_rank, written_score, line_tag = columns
        rank, score = as_int(written_rank), _finite(written_score)
        if rank is None or score is None:
            what = f"rank {written_rank[:20]!r} and score {written_score[:20]!r}, wanted numbers"
            problems.error(path, number, "bad_run", what)
            continue
        tag = tag or line_tag
        if tag != line_tag:
            what = f"tag {line_tag!r} in a file of {tag!r}, wanted one run per file"
            problems.error(path, number, "mixed_runs", what)
            continue
        first_line.setdefault(topic_id, number)
        ranked = entries.setdefault(topic_id, {})
        if passage_id in ranked:
            what = f"{passage_id!r} occurs twice in topic {topic_id!r}, wanted it once"
            problems.error(path, number, "duplicate_candidate", what)
            continue
        ranked[passage_id] = _Entry(passage_id, rank, score)

    rankings = {}
    for topic_id, ranked in entries.items():
        if marks := [name for name in ranked if name.startswith(NOT_MADE)]:
            why = marks[0].removeprefix(NOT_MADE)
            if len(ranked) > 1 or why not in list(Reason):
                what = f"{marks[0]!r} in topic {topic_id!r}, wanted it alone and one of"
                known = ", ".join(NOT_MADE + reason for reason in Reason)
                problems.error(path, first_line[topic_id], "bad_run", f"{what} {known}")
                continue
            rankings[topic_id] = Ranking(
                run_id=tag or "", topic_id=topic_id, passage_ids=(), not_made=Reason(why)
            )
            continue
        best_first = sorted(ranked.values(), key=lambda entry: (-entry.score, entry.rank))
        if any(a.rank > b.rank for a, b in pairwise(best_first)):
            what = f"ranks of topic {topic_id!r} contradict its scores; ordered by score"
            problems.keep(path, first_line[topic_id], "rank_order", what)
        rankings[topic_id] = Ranking(
            run_id=tag or "",
            topic_id=topic_id,
            passage_ids=tuple(entry.passage_id for entry in best_first),
            scores=tuple(entry.score for entry in best_first),
        )
    return rankings


def write_trec_run(to: Path | TextIO, rankings: Iterable[Ranking]) -> None:
    """Write the rankings of one run, ranks from 1, in the order of every tool that reads them.

    Scores are written as 32-bit floats, which is how trec_eval keeps them, and strictly fall: an
    equal one, or one that these cannot tell from the one before, becomes the next number below
    that. A ranking without scores has 1, 1/2, 1/3, ... A topic without passages leaves no line,
    unless its ranking was not made: then it has the line that `read_trec_run` reads as that.

    Raises: ValueError, before anything is written, for an id or tag that is empty or has white
        space, more than one tag, a topic twice, a passage twice in a topic, and scores that rise,
        are not within +-3e38 or are not one per passage; it names topic and rank.
    """
    text = "".join(_run_lines(rankings))
    if isinstance(to, Path):
        write_file(to, text)
    else:
        to.write(text)


def _run_lines(rankings: Iterable[Ranking]) -> Iterator[str]:
    tag, topics = None, set()
    for ranking in rankings:
        tag, where = tag or ranking.run_id, f"topic {ranking.topic_id!r}"
        if ranking.run_id != tag:
            raise ValueError(f"{where}: tag {ranking.run_id!r} in a run of {tag!r}")
        if ranking.topic_id in topics:
            raise ValueError(f"{where} occurs twice, wanted one ranking")
        topics.add(ranking.topic_id)
        if ranking.not_made is not None:
            name = f"{NOT_MADE}{ranking.not_made}"
            ranking = ranking.model_copy(update={"passage_ids": (name,), "scores": ()})
        scores = _falling(ranking, where)
        seen: set[str] = set()
        for rank, (name, score) in enumerate(zip(ranking.passage_ids, scores, strict=True), 1):
            for each in (ranking.topic_id, name, tag):
                if each.split() != [each]:
                    raise ValueError(f"{where}, rank {rank}: {each!r} is empty or has white space")
            if name in seen:
                raise ValueError(f"{where}, rank {rank}: passage {name!r} occurs twice")
            seen.add(name)
            yield f"{ranking.topic_id} Q0 {name} {rank} {score} {tag}\n"


def _falling(ranking: Ranking, where: str) -> list[str]:
    """The scores as text, no two of them the same 32-bit float."""
    import numpy as np

    n = len(ranking.passage_ids)
    scores: Sequence[float] = ranking.scores or [1 / rank for rank in range(1, n + 1)]
    if len(scores) != n:
        raise ValueError(f"{where}: {len(scores)} scores of {n} passages")
    single, tiny = np.float32, np.finfo(np.float32).tiny  # nearer to 0, some tools read 0
    written: list[str] = []
    before, above = math.inf, single(math.inf)
    for rank, score in enumerate(scores, 1):
        if not abs(score) < HIGHEST_SCORE:
            what = f"score {score}, wanted a number within +-{HIGHEST_SCORE:g}"
            raise ValueError(f"{where}, rank {rank}: {what}")
        if score > before:
            raise ValueError(f"{where}, rank {rank}: score {score} is above {before} before it")
        lower = single(score)
        if abs(lower) < tiny:
            lower = single(0)
        if lower >= above:
            lower = np.nextafter(above, single(-math.inf))
            if abs(lower) < tiny:
                lower = single(0) if above > 0 else -tiny
        written.append(str(lower))
        before, above = score, lower
    return written


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
