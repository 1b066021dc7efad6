"""Nugget banks (the atomic facts of a topic), and which nuggets an answer contains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from ..metrics.answer_scores import NUGGET
from .answers import count_words
from .kinds import Kind, Labelled
from .reading.fields import Line, Where, as_id, as_int, read_lines, show, stem
from .reading.problems import Problems
from .rows import Importance, Label, LabelScores, Nugget, NuggetBank, NuggetSource, Row, nugget_ids
from .topics import sub_narrative_of_nugget

TOPIC_FIELDS = ("qid", "query_id", "topic_id")
QUERY_FIELDS = ("query", "title_query", "narrative", "title")


def read_nugget_banks(path: Path, problems: Problems) -> dict[str, NuggetBank]:
    """Read nugget banks by topic, in the layouts of nuggetizer and auto-judge.

    Accepts nuggetizer's create layout, its envelope, and auto-judge NuggetBank v3.

    Only the claims of a v3 bank are read; its questions are another kind of nugget and are skipped
    and counted. A nugget keeps its own `id`, or gets an id from its text (`nugget_ids`).
    The sub-narrative of a nugget (`mapped_sub_narrative`, TREC RAG 2025) is kept with it.
    An importance other than vital or okay becomes None, listed as `importance`.

    Errors reported: no topic, no nuggets field, a topic twice, an id twice in a bank. An empty
    nugget is skipped; a repeated text is kept and mentioned.

    Args:
        path: the file with the banks.
        problems: collects the faults of the file, by line.

    Returns:
        The bank of each topic, in file order.

    Raises: InputError if the file cannot be read.
    """
    banks: dict[str, NuggetBank] = {}
    for line in read_lines(path, problems):
        topic_id = line.id(*TOPIC_FIELDS)
        is_v3 = "nuggets" not in line.row and (
            "claim_bank" in line.row or "nugget_bank" in line.row
        )
        items = list(_claims(line)) if is_v3 else line.objects("nuggets")
        if topic_id is None or items is None:
            continue
        query = line.optional_text(*QUERY_FIELDS)
        if not query.strip():
            line.keep("no_query", f"the bank of topic {topic_id!r} has no query text")
        if topic_id in banks:
            line.error("duplicate_bank", f"topic {topic_id!r} already has a bank, wanted one")
            continue
        nuggets = tuple(nugget for nugget, _ in read_nuggets(items))
        if not nuggets:
            line.keep("empty_bank", f"the bank of topic {topic_id!r} has no nuggets")
        banks[topic_id] = NuggetBank(topic_id=topic_id, query=query, nuggets=nuggets)
    return banks


def read_nuggets(items: list[Line]) -> list[tuple[Nugget, Line]]:
    """The nuggets of one list, each with its object; empty ones are skipped."""
    texts = []
    for item in items:
        text = item.text("text", "claim")
        if text is None:
            continue
        if text.strip():
            texts.append((text, item))
        else:
            item.skip("empty_nugget", f"{item.name('text')} is empty, wanted a fact")
    named = []
    ids: dict[str, str] = {}
    for (text, item), hashed in zip(texts, nugget_ids([t for t, _ in texts]), strict=True):
        own_id = item.optional_id("id", "nugget_id")
        if own_id is None and "-" in hashed:
            item.keep("duplicate_nugget", f"{item.name('text')} has the text of a nugget before it")
        name = own_id or hashed
        if ids.setdefault(name, item.prefix) != item.prefix:
            item.error("duplicate_id", f"{item.name('id')} is {name!r}, the id of {ids[name]}")
            continue
        nugget = Nugget(
            id=name,
            text=text,
            importance=_importance(item),
            sources=_sources(item),
            sub_narrative=sub_narrative_of_nugget(item),
        )
        named.append((nugget, item))
    return named


def nugget_row(nugget: Nugget) -> dict[str, Any]:
    """Write a nugget in nuggetizer's layout, with our `id`, sources and sub-narrative.

    Args:
        nugget: the nugget to write.

    Returns:
        An object ready for JSON; sources and sub-narrative are there only if the nugget has them.
    """
    importance = nugget.importance.value if nugget.importance else None
    row = {"id": nugget.id, "text": nugget.text, "importance": importance}
    if nugget.sub_narrative:
        row["mapped_sub_narrative"] = nugget.sub_narrative
    sources = [each if isinstance(each, str) else each.model_dump() for each in nugget.sources]
    return {**row, "sources": sources} if sources else row


def bank_row(bank: NuggetBank) -> dict[str, Any]:
    """Write a bank in nuggetizer's create layout, each nugget with our `id`.

    Args:
        bank: the bank to write.

    Returns:
        An object ready for JSON: a line of a file with banks.
    """
    nuggets = [nugget_row(nugget) for nugget in bank.nuggets]
    return {"query": bank.query, "qid": bank.topic_id, "nuggets": nuggets}


def _claims(line: Line) -> Iterator[Line]:
    questions = line.row.get("nugget_bank")
    if isinstance(questions, Mapping) and questions:
        what = f"{len(questions)} question nuggets in nugget_bank; only claims are read"
        line.skip("question_nuggets", what)
    claims = line.child("claim_bank")
    for text, claim in claims.row.items() if claims else ():
        if claims and not isinstance(claim, Mapping):
            claims.bad(text, claim, "an object")
        else:
            written = claim.get("claim")  # the key differs if two claims have the same text
            text = written if isinstance(written, str) else text
            row = {"text": text, "id": claim.get("claim_id"), **claim}
            yield replace(line, row=row, prefix=f"claim_bank[{show(text)}].")


def _importance(item: Line) -> Importance | None:
    written = item.row.get("importance")
    if isinstance(written, str) and written.strip().lower() in list(Importance):
        return Importance(written.strip().lower())
    what = f"{item.name('importance')} is {show(written)}, wanted vital or okay"
    item.keep("importance", f"{what}; counts as neither")
    return None


def _sources(item: Line) -> tuple[str | NuggetSource, ...]:
    """Passages from `sources`, or from the `references` of a v3 claim.

    One with `start` and `end` is a NuggetSource; any other is its id.
    """
    field, written = item.first("sources", "references") or ("", [])
    if not isinstance(written, list):
        item.keep("bad_sources", f"{item.name(field)} is {show(written)}, wanted a list of ids")
        return ()
    sources: list[str | NuggetSource] = []
    for source in written:
        is_object = isinstance(source, Mapping)
        name = as_id(source.get("doc_id", source.get("docid")) if is_object else source)
        if name is None:
            item.keep("bad_sources", f"{item.name(field)} has {show(source)}, wanted an id")
        elif is_object and not source.keys().isdisjoint(("start", "end")):
            sources.append(_place_source(item, field, name, source))
        else:
            sources.append(name)
    return tuple(sources)


def _place_source(
    item: Line, field: str, name: str, source: Mapping[str, Any]
) -> str | NuggetSource:
    """The words of a source; only its id if it has no valid words."""
    start, end, number = (as_int(source.get(key)) for key in ("start", "end", "round"))
    query = source.get("query", "")
    if start is None or end is None or not 0 <= start < end or not isinstance(query, str):
        what = f"{item.name(field)} has {show(source)}, wanted 0 <= start < end and a text as query"
        item.keep("bad_sources", f"{what}; its id is used")
        return name
    return NuggetSource(docid=name, start=start, end=end, query=query, round=number or 0)


AssignmentLabel = Literal["support", "partial_support", "not_support"]
ASSIGNMENT_LABELS: tuple[AssignmentLabel, ...] = get_args(AssignmentLabel)


class NuggetSupport(Label):
    """How much of a nugget an answer states (arXiv:2411.09607)."""

    NOT_SUPPORT = (
        "not_support",
        "the answer neither states nor clearly implies any of the fact, or only contradicts it",
    )
    PARTIAL_SUPPORT = (
        "partial_support",
        "the answer states or clearly implies some of the fact, but an important part is missing "
        "or contradicted",
    )
    SUPPORT = (
        "support",
        "the answer states or clearly implies every important part of the fact, in any wording",
    )


class AssignedNugget(LabelScores):
    """A nugget with its label in one answer.

    Attributes:
        nugget: the nugget.
        label: how much of the nugget the answer states; None: not judged.
        score: closeness to the best label, in [0, 1]; None if the judge gave none.
        probabilities, outside_probability: the probability of each label, and the probability
            outside the labels before they were scaled; None if the judge gave none.
        evidence, rationale: the judge's quotes and reason; () and None if it gave none.
        votes, method: the label of each member of a jury, and how the label was found; None for
            other judges.
        confidence, superseded: the confidence and the replaced label of a cascade's first stage;
            None for other judges.
        parts: the labels of the numbered parts from which code derives the label; None for others.
    """

    nugget: Nugget
    label: AssignmentLabel | None


class Assignment(Row):
    """The nuggets of a topic, each labelled for one answer.

    Attributes:
        run_id: the run that answered.
        topic_id: the topic.
        query: the text of the topic; "" if the source has none.
        answer_text: the answer; "" if the source has none.
        response_length: the number of words of the answer; None if unknown.
        nuggets: the nuggets with their labels, in the order of their source.
    """

    run_id: str
    topic_id: str
    query: str
    answer_text: str
    response_length: int | None
    nuggets: tuple[AssignedNugget, ...]


def read_assignments(
    path: Path, problems: Problems, where: Where | None = None
) -> Iterator[Assignment]:
    """Read nuggetizer's assign layout (or its envelope) lazily, in file order.

    A label other than support, partial_support or not_support, such as `failed` or free text,
    becomes None (not judged, never not_support) and is listed as `label`; null, our own mark for
    not judged, becomes None too. The length is counted again if the answer's text is there.

    Errors reported: no topic or nuggets, a field of the wrong type, a second record of a run and
    topic, a retrieval assignment (it judges a passage, not an answer).

    Args:
        path: the file with the assignments.
        problems: collects the faults of the file, by line.
        where: read only rows whose top-level fields have one of these values; None: all rows.

    Returns:
        An iterator over the assignments.

    Raises: InputError if the file cannot be read.
    """
    for _, assignment in assignments_with_lines(read_lines(path, problems, where)):
        yield assignment


def assignments_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, Assignment]]:
    """The assignments in these objects, as in `read_assignments`, each with its object."""
    seen: dict[tuple[str, str], int] = {}
    is_named_by_file = False
    for line in lines:
        if "candidate_text" in line.row and "run_id" not in line.row:
            what = "nuggets are assigned to a passage (candidate_text), wanted an answer"
            line.error("retrieval_assignment", what)
            continue
        topic_id, run_id = line.id(*TOPIC_FIELDS), line.optional_id("run_id")
        items = line.objects("nuggets")
        if run_id is None:
            run_id = stem(line.path)
            if not is_named_by_file:
                is_named_by_file = True
                what = f"'run_id' is missing; the run gets its file's name: {run_id}"
                line.keep("run_id_from_file", what)
        if topic_id is None or items is None:
            continue
        if (first := seen.get((run_id, topic_id))) is not None:
            what = f"run {run_id!r}, topic {topic_id!r} is already in line {first}, wanted once"
            line.error("duplicate_assignment", what)
            continue
        seen[run_id, topic_id] = line.number
        text = line.optional_text("answer_text")
        nuggets = [
            AssignedNugget(nugget=n, label=_label(item), **item.read_label_scores())
            for n, item in read_nuggets(items)
        ]
        yield (
            line,
            Assignment(
                run_id=run_id,
                topic_id=topic_id,
                query=line.optional_text(*QUERY_FIELDS),
                answer_text=text,
                response_length=_length(line, text),
                nuggets=tuple(nuggets),
            ),
        )


def assignment_row(assignment: Assignment) -> dict[str, Any]:
    """Write an assignment in nuggetizer's layout, each nugget with our `id`; null: not judged.

    Args:
        assignment: the assignment to write.

    Returns:
        An object ready for JSON: a line of a file with assignments.
    """
    return {
        "query": assignment.query,
        "qid": assignment.topic_id,
        "answer_text": assignment.answer_text,
        "response_length": assignment.response_length,
        "run_id": assignment.run_id,
        "nuggets": [
            {**nugget_row(assigned.nugget), "assignment": assigned.label, **assigned.as_fields()}
            for assigned in assignment.nuggets
        ],
    }


def _label(item: Line) -> AssignmentLabel | None:
    if "assignment" not in item.row:
        wanted = ", ".join(ASSIGNMENT_LABELS)
        item.keep("label", f"{item.name('assignment')} is missing, wanted {wanted}; not judged")
    return item.label("assignment", ASSIGNMENT_LABELS)


def _length(line: Line, text: str) -> int | None:
    """Words of the answer, counted; if its text is missing, the declared number."""
    written = line.row.get("response_length")
    declared = as_int(written)
    if not text and declared is not None:
        return declared
    if line.row.get("answer_text") is None:
        return None
    counted = count_words(text)
    if written is not None and declared != counted:
        what = f"response_length is {show(written)}, the answer has {counted} words"
        line.keep("response_length", f"{what}; counted again")
    return counted


def _read_labelled(lines: Iterable[Line]) -> Iterator[Labelled]:
    for line, assignment in assignments_with_lines(lines):
        for assigned in assignment.nuggets:
            cell = (assignment.topic_id, assignment.run_id, assigned.nugget.id)
            yield line, cell, assigned.label, assigned.get_confidence()


def _is_assigned(row: Mapping[str, Any]) -> bool:
    if "nuggets" not in row:
        return False
    nuggets = row["nuggets"] if isinstance(row["nuggets"], list) else []
    is_labelled = any(isinstance(one, dict) and "assignment" in one for one in nuggets)
    return is_labelled or "run_id" in row


BANKS = "nuggets"  # the `file_kind` of files with banks
NUGGET_KIND = Kind(
    name="nuggets",
    key=("topic_id", "run_id", "nugget_id"),
    scale=NuggetSupport,
    gains=NUGGET,
    length_of=("answer_text", "answer"),
    judge="assigner",
    columns={  # columns of nuggetizer's core/metrics.py and RAGDoll's nuggetizer/metrics.py
        "strict_vital_score": "V_strict",
        "strict_all_score": "A_strict",
        "vital_score": "V",
        "all_score": "A",
    },
    rows="assignments",
    read=_read_labelled,
    files={
        "assignments": _is_assigned,
        BANKS: lambda row: not row.keys().isdisjoint(("nuggets", "claim_bank", "nugget_bank")),
    },
)
