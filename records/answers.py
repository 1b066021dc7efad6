"""RAG runs: what each system answered, sentence by sentence, with its citations."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from .citations import (
    References,
    heading_sign,
    inline_documents,
    is_table_row,
    is_table_rule,
    plain_citations,
    read_citations,
    read_references,
)
from .passages import add_passage, passage_of
from .reading.fields import Line, as_id, as_int, read_lines, show, stem
from .reading.problems import Problems
from .rows import Answer, Passage


@dataclass(frozen=True)
class AnswerFormat:
    """The limits that a track sets; going over one is reported, and the answer kept whole."""

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
    """Read a run lazily, one answer a line, in file order.

    Takes TREC RAG 2024, TREC RAG 2025 (citations as indexes or as ids), TREC RAG 2026 (known by
    a `narrative_id` that begins with `rag2026` or `rag26`; the only one with headings) and
    auto-judge or RAGTIME reports (`responses`). Sentence ids are positions: a sentence without
    text stays, with the text "", and so do headings. The text is kept as written. An object with a
    `not_made` holds no answer but the reason why there is none, whatever else stands in it.

    Args:
        seen: the lines of the answers read so far, by (run, topic); share one between the files
            of a job, so that an answer in two files is noticed too.

    Errors reported: no topic or sentences, a field of the wrong type, a second answer of a run to
    a topic; such a record is not yielded. Kept and listed: a run named by its file
    (`run_id_from_file`), `empty_sentence`, `empty_answer`, each `heading` and what showed it,
    a declared length that is not the counted one (`response_length`), and what exceeds the
    track's limits. Citations: see `read_citations`.
    """
    for _, answer in answers_with_lines(read_lines(path, problems), seen=seen):
        yield answer


def answers_with_lines(
    lines: Iterable[Line], *, seen: Seen | None = None, is_checked: bool = False
) -> Iterator[tuple[Line, Answer]]:
    """The answers in these objects of run files, as `read_answers`, each with its object.

    Args:
        is_checked: they were read before, so that their words need not be counted again.
    """
    seen = {} if seen is None else seen
    is_named_by_file = False
    for line in lines:
        if line.number == 1 and _is_passage(line):
            line.error("not_answers", "holds passages (data.passages), wanted a run's answers")
            return
        if line.number == 1 and _is_sample(line):
            what = "holds samples (a question, an answer), which nj.evaluate in Python takes"
            line.error("not_answers", f"{what}; wanted a run's answers (docs/formats.md)")
            return
        holder = line.child("metadata") or line
        run_id, topic_id = holder.optional_id("run_id"), _topic_id(line, holder)
        if run_id is None:
            run_id = stem(line.path)
            if not is_named_by_file:
                is_named_by_file = True
                what = (
                    f"{holder.name('run_id')!r} is missing; the run is named {run_id!r} by its file"
                )
                line.keep("run_id_from_file", what)
        why = line.not_made()
        items = line.array("answer", "responses") if why is None else []
        if topic_id is None or items is None:
            continue
        if (first := seen.get((run_id, topic_id))) is not None:
            what = f"run {run_id!r} answered topic {topic_id!r} at {first} already, wanted once"
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
                    not_made=why,
                ),
            )
        elif (answer := _answer(line, run_id, topic_id, items, is_checked)) is not None:
            yield line, answer


def read_documents(path: Path, problems: Problems) -> dict[str, Passage]:
    """The passages that auto-judge reports carry in `documents`, by id; {} for other runs.

    Errors reported: a document without a text field, one id with two texts in the file (reports
    of two systems may well cut the same document differently: read each run by itself).
    """
    passages: dict[str, Passage] = {}
    for line in read_lines(path, problems):
        for passage in own_documents(line).values():
            add_passage(passages, passage, line, once=False)
    return passages


def own_documents(line: Line) -> dict[str, Passage]:
    """As `read_documents`, those that one report carries."""
    passages: dict[str, Passage] = {}
    for name, document in inline_documents(line).items():
        prefix = f"{line.prefix}documents[{name!r}]."
        row = document if isinstance(document, dict) else {"text": document}
        if (passage := passage_of(replace(line, row=row, prefix=prefix), name)) is not None:
            passages[name] = passage
    return passages


def count_words(text: str) -> int:
    """Words of a text as the TREC RAG track counts them: between white space, after NFKC."""
    if not text.isascii():  # NFKC leaves ASCII as it is
        text = unicodedata.normalize("NFKC", text)
    return len(text.split())


def is_of_2026(topic_id: str) -> bool:
    """Whether a topic is of TREC RAG 2026, whose answers have limits of their own."""
    return _IS_2026.match(topic_id) is not None


def _is_passage(line: Line) -> bool:
    """Whether it has what a passage has, and nothing of an answer."""
    wanted = ("metadata", "topic_id", "narrative_id", "request_id", "answer", "responses")
    return line.first("docid", "id") is not None and line.first(*wanted) is None


def _is_sample(line: Line) -> bool:
    """Whether it is a sample as people keep them: a question and a text that answers it."""
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
        line.keep("empty_answer", f"run {run_id!r} says nothing to topic {topic_id!r}")
    cited = [citation["passage_id"] for s in sentences for citation in s["citations"]]
    named = dict.fromkeys((*references.listed, *cited))
    for name in (None, *references.not_given):  # None: a reference that is no id
        named.pop(name, None)
    # One validation makes all rows, in half the time that making them one by one takes.
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
        what = f"{line.name(field)} cites {name}, which its system was not given; no support"
        line.keep("citation_not_given", what)
    if not is_checked:
        _check_limits(line, answer, form, len(references.listed))
    return answer


def _plain_sentence(
    item: object, position: int, references: References, form: AnswerFormat
) -> dict[str, Any] | None:
    """As `_sentence`, where there is nothing to remark on; None: look closer.

    Nearly all sentences of a large collection are so, and take a quarter of the time here.
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
        unit.keep("heading", f"{unit.prefix[:-1]} is taken as a heading ({sign})")
    elif form is RAG_2024 and unit.row.get("citations") is None:
        unit.keep("no_citations_field", f"{unit.name('citations')} is missing, read as no citation")
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
    """Mark the uncited row above the rule of a table as a heading: it names columns."""
    for at, (above, below) in enumerate(pairwise(sentences)):
        is_head = is_table_row(above["text"]) and is_table_rule(below["text"])
        if is_head and not above["citations"] and not above["is_heading"]:
            above["is_heading"] = True
            line.keep(
                "heading", f"{line.name(field)}[{at}] is taken as a heading (head of a table)"
            )


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
