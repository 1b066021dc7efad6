"""Texts of topics longer than a passage: documents to answer from, reports, summaries."""

from __future__ import annotations

import re
from pathlib import Path

from .candidates import read_candidates
from .labels.kinds import file_kind
from .passages import ID_FIELDS, add_passage, passage_of
from .questions import TOPIC_FIELDS
from .reading.fields import Line, read_lines
from .reading.problems import Problems
from .rows import Passage, Row

DOCUMENT_TOPIC_FIELDS = ("topic_id", "qid", "query_id", "example_id")  # `id` names the document
REPORT_FIELDS = ("report", "summary", "reference_summary")
TEXT_FIELDS = ("text", "contents")  # of a summarised document
_TOPIC_ID = re.compile(r"[^\s:#]+")  # a passage is `<topic>:<document>#<passage>`
_TAKEN = "all"  # the topic of means

TopicDocuments = dict[str, dict[str, Passage]]  # topic -> document id -> document


class Summary(Row):
    """The documents of a topic and their summary, which becomes its reference report."""

    id: str
    documents: tuple[str, ...]
    summary: str


def read_topic_documents(path: Path, problems: Problems) -> TopicDocuments:
    """Read the documents of each topic, in file order.

    Takes JSONL with a line per document, of `topic_id` (or `qid`), `docid` and `text` as in
    passage files, and castorini requests with the texts of their candidates, which keep their
    order. A candidate without text is skipped; so is a document with an empty text.

    Raises: InputError for an empty file, or one of no known kind.
    Errors reported: no topic, no id, no text field, an id with two texts in a topic, a file
    without documents. The same document twice in a topic is mentioned.
    """
    is_pool = file_kind(path) == "candidates"
    by_topic = _of_pool(path, problems) if is_pool else _of_lines(path, problems)
    if not by_topic:
        problems.error(path, 1, "empty_file", "no documents, wanted those of at least one topic")
    return by_topic


def read_reports(path: Path, problems: Problems) -> dict[str, str]:
    """Read the reference report of each topic, in file order.

    The topic stands under `id`, `example_id`, `qid` or `topic_id`, the text under `report`,
    `summary` or `reference_summary`.

    Errors reported: no topic or text, an empty text, a topic with two texts, a file without
    reports. The same text again is mentioned.
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
            what = f"topic {topic_id!r} has another report than before, wanted one"
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
    """
    summaries: dict[str, Summary] = {}
    for line in read_lines(path, problems):
        name, summary = line.id(*TOPIC_FIELDS), line.text("summary")
        documents = _documents(line)
        if name is None or summary is None or documents is None:
            continue
        if name == _TAKEN or not _TOPIC_ID.fullmatch(name):
            wanted = f"wanted one without white space, ':' and '#' that is not {_TAKEN!r}"
            line.error("bad_id", f"the id {name!r} cannot begin the ids of passages, {wanted}")
        elif name in summaries:
            line.error("duplicate_id", f"the id {name!r} occurs twice, wanted it once")
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
        topic_id, name = line.id(*DOCUMENT_TOPIC_FIELDS), line.id(*ID_FIELDS)
        if topic_id is None or name is None:
            continue
        if (document := passage_of(line, name)) is not None:
            add_passage(by_topic.setdefault(topic_id, {}), document, line)
    return by_topic


def _documents(line: Line) -> tuple[str, ...] | None:
    """The texts of the documents, each after its title; what is wrong with one is a problem."""
    if (items := line.objects("documents", text_as="text")) is None:
        return None
    texts = []
    for item in items:
        text, title = item.text(*TEXT_FIELDS), item.optional_text("title").strip()
        if text is None:
            continue
        if text.strip():
            texts.append(f"{title}\n\n{text}" if title else text)
        else:
            item.skip("empty_document", f"{item.name('text')} is empty; those after it move up")
    return tuple(texts)
