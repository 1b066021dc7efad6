"""Nugget assignments: which nuggets of a topic one answer holds, by label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from ..metrics.gains import NUGGET
from .answers import count_words
from .labels.declared import Kind, Labelled
from .nuggets import QUERY_FIELDS, TOPIC_FIELDS, nugget_row, read_nuggets
from .reading.choosing import Where
from .reading.fields import Line, as_int, read_lines, show, stem
from .reading.problems import Problems
from .rows import Label, Leaning, Nugget, Row

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


class AssignedNugget(Leaning):
    """A nugget with its label in one answer; `label` None: not judged."""

    nugget: Nugget
    label: AssignmentLabel | None


class Assignment(Row):
    """The nuggets of a topic, each labelled against one answer; `response_length` in words."""

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

    A label that is none of the three, such as `failed` or free text, becomes None (not
    judged, never not_support) and is listed as `label`; null, as we write what is not judged,
    becomes None too. The length is counted again where the answer's text is there.

    Args:
        where: read only rows whose top-level fields have one of these values.

    Errors reported: no topic or nuggets, a field of the wrong type, a second record of a run and
    topic, a retrieval assignment (it judges a passage, not an answer).
    """
    for _, assignment in assignments_with_lines(read_lines(path, problems, where)):
        yield assignment


def assignments_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, Assignment]]:
    """The assignments in these objects, as `read_assignments`, each with its object."""
    seen: dict[tuple[str, str], int] = {}
    is_named_by_file = False
    for line in lines:
        if "candidate_text" in line.row and "run_id" not in line.row:
            what = "nuggets are assigned to a passage (candidate_text), wanted to an answer"
            line.error("retrieval_assignment", what)
            continue
        topic_id, run_id = line.id(*TOPIC_FIELDS), line.optional_id("run_id")
        items = line.objects("nuggets")
        if run_id is None:
            run_id = stem(line.path)
            if not is_named_by_file:
                is_named_by_file = True
                what = f"'run_id' is missing; the run is named {run_id!r} by its file"
                line.keep("run_id_from_file", what)
        if topic_id is None or items is None:
            continue
        if (first := seen.get((run_id, topic_id))) is not None:
            what = f"run {run_id!r}, topic {topic_id!r} is in line {first} already, wanted once"
            line.error("duplicate_assignment", what)
            continue
        seen[run_id, topic_id] = line.number
        text = line.optional_text("answer_text")
        nuggets = [
            AssignedNugget(nugget=n, label=_label(item), **item.leaning())
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
    """An assignment in nuggetizer's layout, each nugget with our `id`; null is not judged."""
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
    """Words of the answer, counted; where its text is left out, as declared."""
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


def _labelled(lines: Iterable[Line]) -> Iterator[Labelled]:
    for line, assignment in assignments_with_lines(lines):
        for assigned in assignment.nuggets:
            cell = (assignment.topic_id, assignment.run_id, assigned.nugget.id)
            yield line, cell, assigned.label, assigned.sure()


def _is_assigned(row: Mapping[str, Any]) -> bool:
    if "nuggets" not in row:
        return False
    nuggets = row["nuggets"] if isinstance(row["nuggets"], list) else []
    is_labelled = any(isinstance(one, dict) and "assignment" in one for one in nuggets)
    return is_labelled or "run_id" in row


NUGGET_KIND = Kind(
    name="nuggets",
    key=("topic_id", "run_id", "nugget_id"),
    scale=NuggetSupport,
    gains=NUGGET,
    judge="assigner",
    rows="assignments",
    read=_labelled,
    files={
        "assignments": _is_assigned,
        "nuggets": lambda row: not row.keys().isdisjoint(("nuggets", "claim_bank", "nugget_bank")),
    },
)
