"""Candidates: the segments of each topic that nuggets are made from, with what came along."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from .passages import TEXT_FIELDS, add_passage, passage_of
from .reading.fields import A_GRADE, Line, as_grade, as_id, read_lines, show, stem
from .reading.lines import is_json
from .reading.problems import Problems
from .rows import Passage, Ranking, Topic
from .runs import read_trec_run


@dataclass(frozen=True)
class CandidatePool:
    """What a candidate file holds: always rankings, and the rest as far as its layout has it.

    `qrels` are grades by topic and passage, only of the candidates that carry one.
    """

    rankings: dict[str, Ranking]
    passages: dict[str, Passage] = field(default_factory=dict)
    topics: dict[str, Topic] = field(default_factory=dict)
    qrels: dict[str, dict[str, int]] = field(default_factory=dict)


def read_candidates(path: Path, problems: Problems) -> CandidatePool:
    """Read `{topic_id, docids}` JSONL, castorini requests (`query`, `candidates`) or a TREC run.

    JSON candidates keep the order of the file, whatever their scores. Rankings of JSON files
    are named by `run_id`, or else by the file.

    Errors reported: no topic id, no candidates, a topic twice, a passage id with two texts. A
    candidate named twice in a topic, or without an id, is skipped.
    """
    if not is_json(path):
        pool = CandidatePool(read_trec_run(path, problems))
    else:
        pool = CandidatePool({})
        for line in read_lines(path, problems):
            if line.first("docids") is not None:
                _add_list(pool, line)
            else:
                _add_request(pool, line)
    if not pool.rankings:
        problems.error(path, 1, "empty_file", "no candidates, wanted those of at least one topic")
    return pool


def _add_list(pool: CandidatePool, line: Line) -> None:
    topic_id, docids = line.id("topic_id", "qid", "id"), line.array("docids")
    if topic_id is None or docids is None:
        return
    _add_ranking(pool, line, topic_id, [(as_id(docid), None) for docid in docids])


def _add_request(pool: CandidatePool, line: Line) -> None:
    if line.first("candidates") is None:
        line.missing("candidates", "docids")
        return
    query = line.child("query") if isinstance(line.row.get("query"), dict) else line
    candidates = line.objects("candidates")
    topic_id = query.id("qid", "topic_id") if query else None
    if query is None or candidates is None or topic_id is None:
        return
    text = query.optional_text("text", "query")
    if not text.strip():
        line.keep("no_query", f"topic {topic_id!r} has no query text; give a topics file")
    elif topic_id not in pool.topics:
        pool.topics[topic_id] = Topic(id=topic_id, text=text)
    scored = []
    for candidate in candidates:
        docid = candidate.optional_id("docid", "id")
        scored.append((docid, _score(candidate)))
        if docid is not None:
            _add_document(pool, candidate, docid)
            _add_grade(pool, candidate, topic_id, docid)
    _add_ranking(pool, line, topic_id, scored)


def _add_ranking(
    pool: CandidatePool, line: Line, topic_id: str, named: list[tuple[str | None, float | None]]
) -> None:
    if topic_id in pool.rankings:
        line.error("duplicate_topic", f"topic {topic_id!r} has candidates already, wanted one list")
        return
    scores: dict[str, float | None] = {}
    for index, (docid, score) in enumerate(named):
        if docid is None:
            line.skip("bad_candidate", f"candidate {index} of topic {topic_id!r} has no usable id")
        elif docid in scores:
            what = f"candidate {index} of topic {topic_id!r}: {docid!r} is in the list already"
            line.skip("duplicate_candidate", what)
        else:
            scores[docid] = score
    known = [score for score in scores.values() if score is not None]
    pool.rankings[topic_id] = Ranking(
        run_id=line.optional_id("run_id") or stem(line.path),
        topic_id=topic_id,
        passage_ids=tuple(scores),
        scores=tuple(known) if len(known) == len(scores) else (),
    )


def _add_document(pool: CandidatePool, candidate: Line, docid: str) -> None:
    doc = candidate.row.get("doc")
    if isinstance(doc, str):
        holder: Line | None = Line(
            candidate.path, candidate.number, {"text": doc}, candidate.problems, candidate.prefix
        )
    elif doc is None and any(name in candidate.row for name in TEXT_FIELDS):
        holder = candidate
    else:
        holder = candidate.child("doc")
    if holder is not None and (passage := passage_of(holder, docid)) is not None:
        add_passage(pool.passages, passage, candidate, once=False)


def _add_grade(pool: CandidatePool, candidate: Line, topic_id: str, docid: str) -> None:
    written = candidate.row.get("judgment")
    if written is None:
        return
    if (grade := as_grade(written)) is None:
        what = f"{candidate.name('judgment')} is {show(written)}, wanted {A_GRADE}"
        candidate.skip("bad_grade", what)
    elif (earlier := pool.qrels.setdefault(topic_id, {}).setdefault(docid, grade)) != grade:
        what = f"{candidate.name('judgment')} is {grade} and was {earlier} before, wanted one grade"
        candidate.error("duplicate_grade", what)


def _score(candidate: Line) -> float | None:
    score = candidate.row.get("score")
    if score is None:
        return None
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        candidate.keep("bad_score", f"{candidate.name('score')} is {show(score)}, wanted a number")
        return None
    return float(score)
