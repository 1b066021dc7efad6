"""Documents of topics: the texts that the answers to a question were to be written from."""

from __future__ import annotations

from pathlib import Path

from .candidates import read_candidates
from .labels.kinds import file_kind
from .passages import ID_FIELDS, add_passage, passage_of
from .reading.fields import read_lines
from .reading.problems import Problems
from .rows import Passage

TOPIC_FIELDS = ("topic_id", "qid", "query_id", "example_id")

TopicDocuments = dict[str, dict[str, Passage]]  # topic -> document id -> document


def read_topic_documents(path: Path, problems: Problems) -> TopicDocuments:
    """Read the documents of each topic, in file order.

    Takes JSONL with a line per document, of `topic_id` (or `qid`), `docid` and `text` as in
    passage files, and castorini requests with the texts of their candidates, which keep their
    order. A candidate without text is skipped; so is a document with an empty text.

    Raises: InputError for an empty file, or one of no known kind.
    Errors noted: no topic, no id, no text field, an id with two texts in a topic, a file
    without documents. The same document twice in a topic is mentioned.
    """
    is_pool = file_kind(path) == "candidates"
    by_topic = _of_pool(path, problems) if is_pool else _of_lines(path, problems)
    if not by_topic:
        problems.error(path, 1, "empty_file", "no documents, wanted those of at least one topic")
    return by_topic


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
        topic_id, name = line.id(*TOPIC_FIELDS), line.id(*ID_FIELDS)
        if topic_id is None or name is None:
            continue
        if (document := passage_of(line, name)) is not None:
            add_passage(by_topic.setdefault(topic_id, {}), document, line)
    return by_topic
