"""RAG runs: the answers of each system, sentence by sentence, with their citations."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from .reading.fields import Line, as_id, as_int, read_lines, show, stem
from .reading.problems import Problems
from .rows import Answer, Passage
from .topics import add_passage, read_passage

MAX_WORDS = 12  # a longer line makes a statement, however it begins
MARKERS = ("type", "kind", "role")  # fields in which an answer object may call itself a heading

_HASHES = re.compile(r"#{1,6}\s+\S.*")
_BOLD = re.compile(r"(\*\*|__)(?:(?!\1).)+\1:?")
_TABLE_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?")


@dataclass(frozen=True)
class References:
    """The ids that citations of one answer may use.

    `listed`: the ids that integer citations index, None where an id could not be read;
    `named`: all ids that a citation may use; `is_open`: there is no list, so every id is accepted;
    `not_given`: names of items that the system cited but never received.
    """

    listed: tuple[str | None, ...]
    named: Collection[str]
    is_open: bool
    not_given: tuple[str, ...] = ()


def read_references(line: Line) -> References:
    """Read the `references` of an answer, and the ids of its `documents`.

    Reported: an id that is listed twice (both indexes count, so that positions hold), an item that
    is not an id (its index is kept).
    """
    references = line.array("references") if line.row.get("references") is not None else None
    listed = tuple(map(as_id, references or ()))
    inline = set(inline_documents(line))
    written = line.array("not_given") if line.row.get("not_given") is not None else None
    not_given = tuple(filter(None, map(as_id, written or ())))
    named = inline | {name for name in (*listed, *not_given) if name is not None}
    if None in listed or len(set(listed)) < len(listed):
        _note_odd_references(line, references or [], listed)
    return References(listed, named, references is None and not inline, not_given)


def _note_odd_references(
    line: Line, references: Sequence[object], listed: Sequence[str | None]
) -> None:
    for index, (item, name) in enumerate(zip(references, listed, strict=True)):
        if name is None:
            line.skip("bad_reference", f"references[{index}] is {show(item)}, wanted an id")
        elif (first := listed.index(name)) < index:
            what = f"references[{index}] is {name!r}, as references[{first}] is; wanted each once"
            line.keep("duplicate_reference", what)


def inline_documents(line: Line) -> dict[str, dict[str, Any]]:
    """The `documents` of a report, by id, from a map or a list; empty for other layouts."""
    documents = line.row.get("documents")
    if isinstance(documents, list):
        items = [item for item in documents if isinstance(item, dict)]
        pairs = [(as_id(item.get("id", item.get("docid"))), item) for item in items]
    elif isinstance(documents, dict):
        pairs = [(as_id(name), item) for name, item in documents.items()]
    else:
        pairs = []
    return {name: item for name, item in pairs if name is not None}


def plain_citations(written: object, references: References) -> dict[str, None] | None:
    """Like `read_citations` for a list of different indexes of the references; otherwise None."""
    if not isinstance(written, list):
        return None
    citations: dict[str, None] = {}
    for index in written:
        if type(index) is not int or not 0 <= index < len(references.listed):
            return None
        if (name := references.listed[index]) is None or name in citations:
            return None
        citations[name] = None
    return citations


def read_citations(item: Line, references: References) -> dict[str, float | None]:
    """Read the passages that a sentence cites, each with the confidence of the run, if any.

    They are in the order of the file, or by descending confidence.

    Accepts a list of 0-based indexes in `references`, a list of ids, or a map from id to
    confidence. A number written as text is an id if the references list it, otherwise an index. An
    id that the references do not list is kept, because it names a passage, and reported. An index
    out of range, a value of another type and a repeated passage are skipped and reported.
    """
    citations: dict[str, float | None] = {}
    for written, weight in _read_citations(item):
        passage_id = _resolve(item, written, references)
        if passage_id is None:
            continue
        if passage_id in citations:
            what = f"{item.name('citations')} has {passage_id!r} twice, wanted it once"
            item.skip("duplicate_citation", what)
            continue
        citations[passage_id] = weight
    return citations


def heading_sign(item: Line, text: str, *, is_cited: bool) -> str | None:
    """Return the sign that an answer object is a heading, in words; None if it is a sentence.

    A heading says so itself (`"type": "heading"`, also under `kind` or `role`, or
    `"heading": true`), or is an uncited single line of at most 12 words that does not end like a
    sentence and is written like a Markdown heading: after 1-6 `#`, or entirely in bold.
    The line under a table's head (`|---|---|`) counts too; other table rows are sentences. A
    cited unit without such a field is never a heading, because its run supports it with a source.

    Source: our reading of the TREC RAG 2026 guidelines, which allow headings but define no mark.
    """
    for marker in MARKERS:
        value = item.row.get(marker)
        if isinstance(value, str) and value.strip().lower() in ("heading", "header"):
            return f"{marker} is {value!r}"
    for marker in ("heading", "is_heading"):
        if item.row.get(marker) is True:
            return f"{marker} is true"
    line = text.strip()
    if is_cited or not line or "\n" in line:
        return None
    if _TABLE_RULE.fullmatch(line):
        return "rule of a table"
    bare = line.strip("#*_: ")
    if len(line.split()) > MAX_WORDS or bare.endswith((".", "!", ";")):
        return None
    if _HASHES.fullmatch(line):
        return "Markdown heading"
    return "line in bold" if _BOLD.fullmatch(line) else None


def is_table_row(text: str) -> bool:
    """Whether the text is a Markdown table row: one line between bars.

    >>> is_table_row("| tide | 3 m |"), is_table_row("|---|---|"), is_table_row("a | b")
    (True, False, False)
    """
    line = text.strip()
    is_between = len(line) > 2 and line[0] == line[-1] == "|" and "\n" not in line
    return is_between and not _TABLE_RULE.fullmatch(line)


def _read_citations(item: Line) -> list[tuple[object, float | None]]:
    value = item.row.get("citations")
    if value is None:
        return []
    if isinstance(value, list):
        return [(written, None) for written in value]
    if isinstance(value, dict):
        weighted = [(name, _confidence(item, name, weight)) for name, weight in value.items()]
        return sorted(weighted, key=lambda pair: math.inf if pair[1] is None else -pair[1])
    what = f"{item.name('citations')} is {show(value)}, wanted a list or a map; read as a list"
    item.keep("bad_citations", what)
    return [(value, None)]


def _confidence(item: Line, name: str, weight: object) -> float | None:
    if isinstance(weight, int | float) and not isinstance(weight, bool) and math.isfinite(weight):
        return float(weight)
    what = f"{item.name('citations')} gives {name!r} the confidence {show(weight)}, wanted a number"
    item.keep("bad_confidence", f"{what}; placed last")
    return None


def _resolve(item: Line, written: object, references: References) -> str | None:
    if isinstance(written, str):
        name = as_id(written)
        if name is not None and (name in references.named or references.is_open):
            return name
        index = as_int(written)
        if index is None or not references.listed:
            return _check_listed(item, name, written)
        item.keep("citation_as_text", f"{item.name('citations')} has {written!r}, read as an index")
    else:
        index = as_int(written)
    return _at(item, index, written, references.listed)


def _check_listed(item: Line, name: str | None, written: object) -> str | None:
    if name is None:
        _bad(item, written)
        return None
    what = f"{item.name('citations')} has {name!r}, which is not in the references; kept"
    item.keep("unknown_citation", what)
    return name


def _at(item: Line, index: int | None, written: object, listed: Sequence[str | None]) -> str | None:
    if index is None:
        _bad(item, written)
        return None
    if not 0 <= index < len(listed):
        wanted = f"0 to {len(listed) - 1}" if listed else "no index: there are no references"
        what = f"{item.name('citations')} has {show(written)}, wanted {wanted}"
        item.skip("citation_out_of_range", what)
        return None
    if listed[index] is None:
        what = f"{item.name('citations')} has {index}, whose reference is not an id"
        item.skip("citation_of_bad_reference", what)
    return listed[index]


def _bad(item: Line, written: object) -> None:
    what = f"{item.name('citations')} has {show(written)}, wanted an id or an index in references"
    item.skip("bad_citation", what)


@dataclass(frozen=True)
class AnswerFormat:
    """The limits of a track; exceeding one is reported, and the answer kept whole."""

    name: str
    max_references: int | None = None
    max_words: int | None = None
    max_citations: int | None = None  # in one sentence
    has_headings: bool = False


RAG_2024 = AnswerFormat("TREC RAG 2024", max_references=20, max_words=400)
RAG_2025 = AnswerFormat("TREC RAG 2025", max_references=100)
RAG_2026 = AnswerFormat("TREC RAG 2026", 100, 1024, 3, has_headings=True)
REPORT = AnswerFormat("auto-judge report")
_IS_2026 = re.compile(r"rag(20)?26", re.IGNORECASE)

Seen = dict[tuple[str, str], str]  # the `file:line` of the answer to (run, topic)


def read_answers(path: Path, problems: Problems, *, seen: Seen | None = None) -> Iterator[Answer]:
    """Read a run lazily, one answer per line, in file order.

    Accepts TREC RAG 2024, TREC RAG 2025 (citations as indexes or as ids), TREC RAG 2026 (recognised
    by a `narrative_id` that begins with `rag2026` or `rag26`; the only one with headings) and
    auto-judge or RAGTIME reports (`responses`). Sentence ids are positions: a sentence without
    text stays, with the text "", and so do headings. The text is kept as written. An object with
    `failed` has no answer, only the reason; its other fields are not read.

    Errors reported: no topic or sentences, a field of the wrong type, a second answer of a run to
    a topic; such a record is not yielded. Kept and listed: a run named after its file
    (`run_id_from_file`), `empty_sentence`, `empty_answer`, each `heading` and its sign,
    a declared length that differs from the counted one (`response_length`), and violations of the
    track's limits. Citations: see `read_citations`.

    Args:
        path: the file of the run.
        problems: collects the faults of the file, by line.
        seen: the lines of the answers read so far, by (run, topic); share one between the files
            of a job, so that an answer in two files is noticed.

    Returns:
        An iterator over the answers.

    Raises: InputError if the file cannot be read.
    """
    for _, answer in answers_with_lines(read_lines(path, problems), seen=seen):
        yield answer


def answers_with_lines(
    lines: Iterable[Line], *, seen: Seen | None = None, is_checked: bool = False
) -> Iterator[tuple[Line, Answer]]:
    """The answers in these objects of run files, as in `read_answers`, each with its object.

    Args:
        is_checked: they were read before, so their words need not be counted again.
    """
    seen = {} if seen is None else seen
    is_named_by_file = False
    for line in lines:
        if line.number == 1 and _is_passage(line):
            line.error("not_answers", "holds passages (data.passages), wanted a run's answers")
            return
        if line.number == 1 and _is_sample(line):
            what = "holds samples (a question, an answer), for nj.evaluate in Python"
            line.error("not_answers", f"{what}; wanted a run's answers (docs/formats.md)")
            return
        holder = line.child("metadata") or line
        run_id, topic_id = holder.optional_id("run_id"), _topic_id(line, holder)
        if run_id is None:
            run_id = stem(line.path)
            if not is_named_by_file:
                is_named_by_file = True
                what = (
                    f"{holder.name('run_id')!r} is missing; the run gets its file's name: {run_id}"
                )
                line.keep("run_id_from_file", what)
        why = line.read_failure()
        items = line.array("answer", "responses") if why is None else []
        if topic_id is None or items is None:
            continue
        if (first := seen.get((run_id, topic_id))) is not None:
            what = f"run {run_id!r} already answered topic {topic_id!r} at {first}, wanted once"
            line.error("duplicate_answer", what)
            continue
        seen[run_id, topic_id] = f"{line.path}:{line.number}"
        if why is not None:
            references = tuple(dict.fromkeys(filter(None, read_references(line).listed)))
            yield (
                line,
                Answer(
                    run_id=run_id,
                    topic_id=topic_id,
                    sentences=(),
                    references=references,
                    failed=why,
                ),
            )
        elif (answer := _answer(line, run_id, topic_id, items, is_checked)) is not None:
            yield line, answer


def read_documents(path: Path, problems: Problems) -> dict[str, Passage]:
    """Read the passages in the `documents` of auto-judge reports.

    Errors reported: a document without a text field, one id with two texts in the file (reports
    of two systems may cut the same document differently: read each run by itself).

    Args:
        path: the file of a run.
        problems: collects the faults of the file, by line.

    Returns:
        The passages by id; {} for runs in other layouts.

    Raises: InputError if the file cannot be read.
    """
    passages: dict[str, Passage] = {}
    for line in read_lines(path, problems):
        for passage in own_documents(line).values():
            add_passage(passages, passage, line, once=False)
    return passages


def own_documents(line: Line) -> dict[str, Passage]:
    """Like `read_documents`, for one report."""
    passages: dict[str, Passage] = {}
    for name, document in inline_documents(line).items():
        prefix = f"{line.prefix}documents[{name!r}]."
        row = document if isinstance(document, dict) else {"text": document}
        if (passage := read_passage(replace(line, row=row, prefix=prefix), name)) is not None:
            passages[name] = passage
    return passages


def count_words(text: str) -> int:
    """Count words as the TREC RAG track does: between white space, after NFKC.

    Args:
        text: the text, such as an answer.

    Returns:
        The number of words, from 0.
    """
    if not text.isascii():  # NFKC does not change ASCII
        text = unicodedata.normalize("NFKC", text)
    return len(text.split())


def is_of_2026(topic_id: str) -> bool:
    """Whether a topic belongs to TREC RAG 2026, whose answers have their own limits."""
    return _IS_2026.match(topic_id) is not None


def _is_passage(line: Line) -> bool:
    """Whether it has the fields of a passage, and none of an answer."""
    wanted = ("metadata", "topic_id", "narrative_id", "request_id", "answer", "responses")
    return line.first("docid", "id") is not None and line.first(*wanted) is None


def _is_sample(line: Line) -> bool:
    """Whether it is a sample for nj.evaluate: a question and a text that answers it."""
    is_of_run = line.first("metadata", "topic_id", "narrative_id", "request_id") is not None
    return not is_of_run and "question" in line.row and isinstance(line.row.get("answer"), str)


def _topic_id(line: Line, holder: Line) -> str | None:
    fields = ("topic_id", "narrative_id", "request_id")
    if holder.first(*fields) is None and line.first(*fields) is not None:
        return line.id(*fields)
    return holder.id(*fields)


def _format(line: Line) -> AnswerFormat:
    metadata = line.row.get("metadata")
    if not isinstance(metadata, dict):
        return RAG_2024 if "answer" in line.row else REPORT
    narrative = as_id(metadata.get("narrative_id"))
    if "answer" not in line.row or narrative is None:
        return REPORT
    return RAG_2026 if is_of_2026(narrative) else RAG_2025


def _answer(
    line: Line, run_id: str, topic_id: str, items: list[object], is_checked: bool
) -> Answer | None:
    form, references = _format(line), read_references(line)
    field = "answer" if line.row.get("answer") is not None else "responses"
    sentences: list[dict[str, Any]] = []  # the fields of each
    for position, item in enumerate(items):
        if (plain := _plain_sentence(item, position, references, form)) is not None:
            sentences.append(plain)
            continue
        prefix = f"{line.name(field)}[{position}]."
        if isinstance(item, str):
            line.keep("plain_sentence", f"{prefix[:-1]} is text, wanted an object; no citations")
            item = {"text": item}
        if not isinstance(item, dict):
            line.bad(f"{field}[{position}]", item, "an object with text and citations")
            return None
        unit = replace(line, row=item, prefix=prefix)
        if (fields := _sentence(unit, position, references, form)) is None:
            return None
        sentences.append(fields)
    if form.has_headings:
        _heads_of_tables(line, field, sentences)
    if not sentences:
        line.keep("empty_answer", f"run {run_id!r} has no text for topic {topic_id!r}")
    cited = [citation["passage_id"] for s in sentences for citation in s["citations"]]
    named = dict.fromkeys((*references.listed, *cited))
    for name in (None, *references.not_given):  # None: a reference that is not an id
        named.pop(name, None)
    # One validation of all rows takes half the time of one validation for each row.
    answer = Answer.model_validate(
        {
            "run_id": run_id,
            "topic_id": topic_id,
            "sentences": sentences,
            "references": tuple(named),
            "not_given": references.not_given,
        }
    )
    for name in () if is_checked else references.not_given:
        what = f"{line.name(field)} cites {name}, which its system did not receive; no support"
        line.keep("citation_not_given", what)
    if not is_checked:
        _check_limits(line, answer, form, len(references.listed))
    return answer


def _plain_sentence(
    item: object, position: int, references: References, form: AnswerFormat
) -> dict[str, Any] | None:
    """Like `_sentence` if there is nothing to report; None: look closer.

    Nearly all sentences of a large collection pass here, in a quarter of the time.
    """
    if form.has_headings or form.max_citations is not None or not isinstance(item, dict):
        return None
    text, citations = item.get("text"), plain_citations(item.get("citations"), references)
    if citations is None or not isinstance(text, str) or not text.strip():
        return None
    return {"id": position, "text": text, "citations": [{"passage_id": c} for c in citations]}


def _sentence(
    unit: Line, position: int, references: References, form: AnswerFormat
) -> dict[str, Any] | None:
    text = unit.row.get("text")
    if text is not None and not isinstance(text, str):
        unit.bad("text", text, "text")
        return None
    if not text or not text.strip():
        unit.keep("empty_sentence", f"{unit.name('text')} is {show(text)}, wanted a sentence")
        text = ""
    citations = read_citations(unit, references)
    sign = heading_sign(unit, text, is_cited=bool(citations)) if form.has_headings else None
    if sign:
        unit.keep("heading", f"{unit.prefix[:-1]} counts as a heading ({sign})")
    elif form is RAG_2024 and unit.row.get("citations") is None:
        unit.keep("no_citations_field", f"{unit.name('citations')} is missing; read as no citation")
    if form.max_citations is not None and len(citations) > form.max_citations:
        what = f"{unit.prefix[:-1]} has {len(citations)} citations, wanted {form.max_citations}"
        unit.keep("too_many_citations", f"{what} at most ({form.name})")
    return {
        "id": position,
        "text": text,
        "citations": [{"passage_id": name, "weight": w} for name, w in citations.items()],
        "is_heading": bool(sign),
    }


def _heads_of_tables(line: Line, field: str, sentences: list[dict[str, Any]]) -> None:
    """Mark the uncited row above the line under a table's head as a heading: it names columns."""
    for at, (above, below) in enumerate(pairwise(sentences)):
        is_head = is_table_row(above["text"]) and _TABLE_RULE.fullmatch(below["text"].strip())
        if is_head and not above["citations"] and not above["is_heading"]:
            above["is_heading"] = True
            line.keep("heading", f"{line.name(field)}[{at}] counts as a heading (head of a table)")


def _check_limits(line: Line, answer: Answer, form: AnswerFormat, n_references: int) -> None:
    if form.max_references is not None and n_references > form.max_references:
        what = f"{n_references} references, wanted {form.max_references} at most ({form.name})"
        line.keep("too_many_references", what)
    n_words = count_words(answer.text)
    if form.max_words is not None and n_words > form.max_words:
        what = f"{n_words} words, wanted {form.max_words} at most ({form.name})"
        line.keep("too_many_words", what)
    declared = line.row.get("response_length")
    if declared is not None and as_int(declared) != n_words:
        what = f"response_length is {show(declared)}, the answer has {n_words} words"
        line.keep("response_length", f"{what}; counted again")
