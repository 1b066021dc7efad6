"""Topics, the parts of long narratives, and passages, which answers cite."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from pathlib import Path

from .reading.fields import Line, read_lines, show
from .reading.lines import is_json, text_lines
from .reading.problems import Problems
from .rows import Passage, Topic

TOPIC_ID_FIELDS = ("id", "request_id", "qid", "topic_id", "query_id", "example_id", "narrative_id")
TITLE_FIELDS = ("title", "request", "query", "topic", "text")
NEED_FIELDS = ("narrative", "problem_statement")


def read_topics(path: Path, problems: Problems) -> dict[str, Topic]:
    """Read topics by id, in file order.

    Accepts TREC RAG 2024 TSV (`id<TAB>text`), TREC RAG 2025 JSONL (`id` with `title` or
    `narrative`), auto-judge requests (`request_id`, `title`, `problem_statement`, `background`)
    and CRUX topics (`id`, `request`); recognised by content. If a record has both a title
    and a longer statement, the text is `title: statement`. JSON topics may have a `domain` and
    a `category`, by which measures can be averaged; a value that is not text is listed and ignored.
    `sub_narratives` (also `subnarratives`) is a list of texts, or of objects with a `text`.

    Errors reported: a line without id or text, one id with two texts, a file without topics.

    Args:
        path: the file with the topics.
        problems: collects the faults of the file, by line.

    Returns:
        The topics by id.

    Raises: InputError if the file cannot be read.
    """
    topics: dict[str, Topic] = {}
    for number, topic in _from_json(path, problems) if is_json(path) else _from_tsv(path, problems):
        earlier = topics.setdefault(topic.id, topic)
        if earlier is topic:
            continue
        if earlier == topic:
            problems.keep(path, number, "duplicate_topic", f"topic {topic.id!r} occurs twice")
        else:
            which = "text" if earlier.text != topic.text else "background, domain or category"
            if earlier.sub_narratives != topic.sub_narratives:
                which = "list of sub-narratives"
            what = f"topic {topic.id!r} has two different versions of its {which}, wanted one"
            problems.error(path, number, "duplicate_topic", what)
    if not topics:
        problems.error(path, 1, "empty_file", "no topics, wanted at least one")
    return topics


def _from_tsv(path: Path, problems: Problems) -> list[tuple[int, Topic]]:
    topics = []
    for number, line in text_lines(path):
        name, _, text = (part.strip() for part in line.partition("\t"))
        if not name or not text:
            what = f"{line[:60]!r} is not a topic; wanted id, one tab, text"
            problems.error(path, number, "bad_topic", what)
            continue
        if "\t" in text:
            problems.keep(
                path, number, "extra_column", "more than one tab; the text starts after the first"
            )
        topics.append((number, Topic(id=name, text=" ".join(text.split("\t")))))
    return topics


def _from_json(path: Path, problems: Problems) -> list[tuple[int, Topic]]:
    topics = []
    for line in read_lines(path, problems):
        name, text = line.id(*TOPIC_ID_FIELDS), _text(line)
        if name is None or text is None:
            continue
        topic = Topic(
            id=name,
            text=text,
            background=line.optional_text("background", "original_background"),
            domain=_group(line, "domain"),
            category=_group(line, "category"),
            sub_narratives=sub_narratives_of_topic(line),
        )
        topics.append((line.number, topic))
    return topics


def _group(line: Line, field: str) -> str:
    written = line.row.get(field)
    if written is None or isinstance(written, str):
        return (written or "").strip()
    line.keep("bad_group", f"{line.name(field)} is {show(written)}, wanted text; ignored")
    return ""


def _text(line: Line) -> str | None:
    if line.first(*NEED_FIELDS) is None:
        text = line.text(*TITLE_FIELDS)
    else:
        title, need = line.optional_text(*TITLE_FIELDS).strip(), line.text(*NEED_FIELDS)
        text = need if not title or need in (None, title) else f"{title}: {need}"
    if text is not None and not text.strip():
        line.error("bad_topic", "the text is empty, wanted a question or narrative")
        return None
    return text


PASSAGE_ID_FIELDS = ("docid", "id", "_id", "docno")
TEXT_FIELDS = ("text", "contents", "segment")


def read_passages(
    path: Path, problems: Problems, wanted: Container[str] | None = None
) -> dict[str, Passage]:
    """Read passages by id: JSONL with `docid` (or `id`, `_id`, `docno`) and `text`.

    The text may also be under `contents` or `segment`; `title` is optional.

    Errors reported: no id, no text field, one id with two texts. A passage with an empty or null
    text is skipped: a judge cannot read it, so its citations count as citations without text.

    Args:
        path: the file with the passages.
        problems: collects the faults of the file, by line.
        wanted: the ids to load, so that a corpus need not fit in memory; None: all.

    Returns:
        The passages by id, in file order.

    Raises: InputError if the file cannot be read.
    """
    passages: dict[str, Passage] = {}
    for line in read_lines(path, problems):
        name = line.id(*PASSAGE_ID_FIELDS)
        if name is None or (wanted is not None and name not in wanted):
            continue
        if (passage := read_passage(line, name)) is not None:
            add_passage(passages, passage, line)
    return passages


def natural_order(passage_id: str) -> tuple[list[tuple[str, int, str]], str]:
    """Make a sort key that orders digits in ids as numbers.

    `t:2#9` comes before `t:2#10`, and `t:2#10` before `t:10#1`.

    Args:
        passage_id: the id to sort; any id with digits will do.

    Returns:
        A key for `sorted`.
    """
    parts = re.findall(r"([^0-9]*)0*([0-9]*)", passage_id)
    return [(text, len(digits), digits) for text, digits in parts], passage_id


def read_passage(line: Line, name: str) -> Passage | None:
    """The passage in an object with a text field; None, and a problem, if it has no text."""
    if not any(field in line.row for field in TEXT_FIELDS):
        line.missing(*TEXT_FIELDS)
        return None
    text = line.optional_text(*TEXT_FIELDS)
    if not text.strip():
        line.skip("empty_passage", f"passage {name!r} has no text")
        return None
    return Passage(id=name, text=text, title=line.optional_text("title"))


def add_passage(
    passages: dict[str, Passage], passage: Passage, line: Line, *, once: bool = True
) -> None:
    """Add to `passages`; another text under the same id is an error.

    Args:
        once: mention it if the same passage comes again; pools usually repeat passages.
    """
    earlier = passages.setdefault(passage.id, passage)
    if earlier is passage:
        return
    if earlier.text != passage.text:
        what = f"passage {passage.id!r} has two different texts, wanted one text per id"
        line.error("duplicate_passage", what)
    elif once:
        line.keep("duplicate_passage", f"passage {passage.id!r} occurs twice with the same text")


OF_TOPIC = ("sub_narratives", "subnarratives", "sub-narratives", "subNarratives")
OF_NUGGET = ("mapped_sub_narrative", "sub_narrative", "subnarrative")
_TEXT = ("text", "sub_narrative", "subnarrative", "narrative", "title")
_QUOTES = "\"'“”"


def sub_narratives_of_topic(line: Line) -> tuple[str, ...]:
    """Read the sub-narratives of a topic: a list of texts, or of objects with a text; () if none.

    Values that are not text, or repeated, are listed and ignored.
    """
    field, written = line.first(*OF_TOPIC) or ("", [])
    if not isinstance(written, list):
        line.keep("bad_sub_narratives", f"{line.name(field)} is {show(written)}, wanted a list")
        return ()
    texts: dict[str, None] = {}
    for item in written:
        is_object = isinstance(item, dict)
        raw = next((item[name] for name in _TEXT if name in item), None) if is_object else item
        text = plain(raw) if isinstance(raw, str) else ""
        if not text or text in texts:
            what = f"{line.name(field)} has {show(item)}{' twice' if text else ', wanted text'}"
            line.keep("bad_sub_narratives", f"{what}; ignored")
        else:
            texts[text] = None
    return tuple(texts)


def sub_narrative_of_nugget(item: Line) -> str:
    """Read the sub-narrative of a nugget; "" if it names none. Other values are listed and ignored.

    The quotation marks around it in the nuggets of TREC RAG 2025 are removed.
    """
    field, written = item.first(*OF_NUGGET) or ("", "")
    if isinstance(written, str):
        return plain(written)
    item.keep("bad_sub_narrative", f"{item.name(field)} is {show(written)}, wanted text; ignored")
    return ""


def plain(text: str) -> str:
    """A sub-narrative in one line, without surrounding quotation marks.

    >>> plain(' "Key advantages\\n of tides" ')
    'Key advantages of tides'
    """
    text = " ".join(text.split())
    while len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        text = text[1:-1].strip()
    return text


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """The sub-narratives in nuggets, each once, in order."""
    return tuple(dict.fromkeys(name for name in names if name))


def number_texts(texts: Sequence[str]) -> str:
    """Join the texts for a judge, one per line, numbered.

    >>> number_texts(["what it costs", "how it works"])
    '1. what it costs\\n2. how it works'
    """
    return "\n".join(f"{i}. {' '.join(text.split())}" for i, text in enumerate(texts, 1))
