"""Texts of topics: candidate segments for nuggets, documents, reports, summaries."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from .kinds import file_kind
from .questions import TOPIC_FIELDS
from .reading.fields import A_GRADE, Line, as_grade, as_id, read_lines, show, stem
from .reading.lines import is_json
from .reading.problems import Problems
from .relevance import read_trec_run
from .rows import Passage, Ranking, Row, Topic
from .topics import PASSAGE_ID_FIELDS, TEXT_FIELDS, add_passage, read_passage


@dataclass(frozen=True)
class CandidatePool:
    """The content of a candidate file: rankings and, if its layout has them, texts and grades.

    Attributes:
        rankings: the ranking of each topic.
        passages: the texts of the candidates, by id; {} if the file has none.
        topics: the topics by id; {} if the file has none.
        qrels: grades by topic and passage, only for candidates with a grade.
    """

    rankings: dict[str, Ranking]
    passages: dict[str, Passage] = field(default_factory=dict)
    topics: dict[str, Topic] = field(default_factory=dict)
    qrels: dict[str, dict[str, int]] = field(default_factory=dict)


def read_candidates(path: Path, problems: Problems) -> CandidatePool:
    """Read `{topic_id, docids}` JSONL, castorini requests (`query`, `candidates`) or a TREC run.

    JSON candidates keep the order of the file, whatever their scores. Rankings of JSON files
    get their name from `run_id`, otherwise from the file.

    Errors reported: no topic id, no candidates, a topic twice, a passage id with two texts. A
    candidate that is listed twice for a topic, or has no id, is skipped.

    Args:
        path: the file with the candidates.
        problems: collects the faults of the file, by line.

    Returns:
        The rankings of the file, with the texts and grades that it holds.

    Raises: InputError if the file cannot be read.
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
        problems.error(path, 1, "empty_file", "no candidates, wanted at least one topic")
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
        line.error("duplicate_topic", f"topic {topic_id!r} already has candidates, wanted one list")
        return
    scores: dict[str, float | None] = {}
    for index, (docid, score) in enumerate(named):
        if docid is None:
            line.skip("bad_candidate", f"candidate {index} of topic {topic_id!r} has no usable id")
        elif docid in scores:
            what = f"candidate {index} of topic {topic_id!r}: {docid!r} is already in the list"
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
    if holder is not None and (passage := read_passage(holder, docid)) is not None:
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


DOCUMENT_TOPIC_FIELDS = ("topic_id", "qid", "query_id", "example_id")  # `id` names the document
REPORT_FIELDS = ("report", "summary", "reference_summary")
DOCUMENT_TEXT_FIELDS = ("text", "contents")  # fields of a summarised document
_TOPIC_ID = re.compile(r"[^\s:#]+")  # a passage is `<topic>:<document>#<passage>`
_TAKEN = "all"  # the topic of means

TopicDocuments = dict[str, dict[str, Passage]]  # topic -> document id -> document


class Summary(Row):
    """The documents of a topic and their summary, which becomes its reference report.

    Attributes:
        id: the topic.
        documents: the texts of the documents, in order.
        summary: the text of the summary.
    """

    id: str
    documents: tuple[str, ...]
    summary: str


def read_topic_documents(path: Path, problems: Problems) -> TopicDocuments:
    """Read the documents of each topic, in file order.

    Accepts JSONL with one document per line (`topic_id` or `qid`, `docid` and `text`, like
    passage files), and castorini requests with the texts of their candidates, which keep their
    order. A candidate without text is skipped; so is a document with an empty text.

    Errors reported: no topic, no id, no text field, an id with two texts in a topic, a file
    without documents. A document that occurs twice in a topic is mentioned.

    Args:
        path: the file with the documents.
        problems: collects the faults of the file, by line.

    Returns:
        The documents of each topic, by their ids.

    Raises: InputError for a file that cannot be read, is empty or is of an unknown kind.
    """
    is_pool = file_kind(path) == "candidates"
    by_topic = _of_pool(path, problems) if is_pool else _of_lines(path, problems)
    if not by_topic:
        problems.error(path, 1, "empty_file", "no documents, wanted at least one topic")
    return by_topic


def read_reports(path: Path, problems: Problems) -> dict[str, str]:
    """Read the reference report of each topic, in file order.

    The topic is under `id`, `example_id`, `qid` or `topic_id`, the text under `report`,
    `summary` or `reference_summary`.

    Errors reported: no topic or text, an empty text, a topic with two texts, a file without
    reports. The same text again is mentioned.

    Args:
        path: the file with the reports.
        problems: collects the faults of the file, by line.

    Returns:
        The text of the report of each topic.

    Raises: InputError if the file cannot be read.
    """
    reports: dict[str, str] = {}
    for line in read_lines(path, problems):
        topic_id, text = line.id(*TOPIC_FIELDS), line.text(*REPORT_FIELDS)
        if topic_id is None or text is None:
            continue
        if not text.strip():
            line.error("empty_report", f"the report of topic {topic_id!r} is empty, wanted text")
        elif topic_id not in reports:
            reports[topic_id] = text
        elif reports[topic_id] == text:
            line.keep("duplicate_report", f"the report of topic {topic_id!r} occurs twice")
        else:
            what = f"topic {topic_id!r} has two different reports, wanted one"
            line.error("duplicate_report", what)
    if not reports:
        problems.error(path, 1, "empty_file", "no reports, wanted at least one")
    return reports


def read_summaries(path: Path, problems: Problems) -> list[Summary]:
    """Read `id`, `documents` and `summary`, in file order.

    A document is a text, or an object with `text` (or `contents`) and, before it, `title`.
    An empty one is skipped, and those after it move up.

    Errors reported: an id with white space, `:` or `#`, the id `all`, an id twice; no document
    with text; an empty summary; a file without summaries.

    Args:
        path: the file with the summaries.
        problems: collects the faults of the file, by line.

    Returns:
        The summaries, in file order.

    Raises: InputError if the file cannot be read.
    """
    summaries: dict[str, Summary] = {}
    for line in read_lines(path, problems):
        name, summary = line.id(*TOPIC_FIELDS), line.text("summary")
        documents = _documents(line)
        if name is None or summary is None or documents is None:
            continue
        if name == _TAKEN or not _TOPIC_ID.fullmatch(name):
            wanted = f"wanted an id without white space, ':' and '#', other than {_TAKEN!r}"
            line.error("bad_id", f"the id {name!r} cannot start ids of passages, {wanted}")
        elif name in summaries:
            line.error("duplicate_id", f"the id {name!r} occurs twice, wanted once")
        elif not summary.strip():
            line.error("empty_summary", f"the summary of {name!r} is empty, wanted text")
        elif not documents:
            line.error("no_documents", f"{name!r} has no document with text, wanted at least one")
        else:
            summaries[name] = Summary(id=name, documents=documents, summary=summary)
    if not summaries:
        problems.error(path, 1, "empty_file", "no summaries, wanted at least one")
    return list(summaries.values())


def _of_pool(path: Path, problems: Problems) -> TopicDocuments:
    pool = read_candidates(path, problems)
    by_topic: TopicDocuments = {}
    for topic_id, ranking in pool.rankings.items():
        names = [name for name in ranking.passage_ids if name in pool.passages]
        if n_missing := len(ranking.passage_ids) - len(names):
            what = f"{n_missing} candidates of topic {topic_id!r} have no text"
            problems.skip(path, 1, "candidate_without_text", what)
        if names:
            by_topic[topic_id] = {name: pool.passages[name] for name in names}
    return by_topic


def _of_lines(path: Path, problems: Problems) -> TopicDocuments:
    by_topic: TopicDocuments = {}
    for line in read_lines(path, problems):
        topic_id, name = line.id(*DOCUMENT_TOPIC_FIELDS), line.id(*PASSAGE_ID_FIELDS)
        if topic_id is None or name is None:
            continue
        if (document := read_passage(line, name)) is not None:
            add_passage(by_topic.setdefault(topic_id, {}), document, line)
    return by_topic


def _documents(line: Line) -> tuple[str, ...] | None:
    """The texts of the documents, each after its title; a faulty one becomes a problem."""
    if (items := line.objects("documents", text_as="text")) is None:
        return None
    texts = []
    for item in items:
        text, title = item.text(*DOCUMENT_TEXT_FIELDS), item.optional_text("title").strip()
        if text is None:
            continue
        if text.strip():
            texts.append(f"{title}\n\n{text}" if title else text)
        else:
            item.skip("empty_document", f"{item.name('text')} is empty; those after it move up")
    return tuple(texts)
