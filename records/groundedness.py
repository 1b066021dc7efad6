"""Groundedness: does the context of an answer support each of its statements?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from ..metrics.answer_scores import GROUNDEDNESS
from .kinds import Kind, Labelled
from .reading.fields import Line, Where, as_int, read_lines, show
from .reading.problems import Problems
from .rows import Label, LabelScores, hash_ids

GroundednessLabel = Literal["contradicted", "not_found", "supported"]
GROUNDEDNESS_LABELS: tuple[GroundednessLabel, ...] = get_args(GroundednessLabel)
_BLANK_LINES = re.compile(r"\n\s*\n")


def join_context(texts: Iterable[str]) -> str:
    """Join passages into one text, with blank lines between passages and nowhere else.

    >>> join_context(["Tides turn.\\n\\nTwice a day.", "Boats wait."])
    'Tides turn.\\nTwice a day.\\n\\nBoats wait.'
    """
    stripped = (_BLANK_LINES.sub("\n", text.strip()) for text in texts)
    return "\n\n".join(filter(None, stripped))


class StatementSupport(Label):
    """Whether the context of an answer supports a statement of it."""

    CONTRADICTED = (
        "contradicted",
        "at least one claim of the statement cannot be true if the context is true, and no passage "
        "of the context supports that claim",
    )
    NOT_FOUND = (
        "not_found",
        "the context contradicts no claim of the statement, but at least one claim is missing from "
        "the context",
    )
    SUPPORTED = (
        "supported",
        "the context supports every claim of the statement; this includes a statement that makes "
        "no claim, such as a greeting",
    )


class Statement(LabelScores):
    """A sentence or a claim of an answer with its label; `label` None: not judged.

    Attributes:
        statement_id: the 0-based position of a sentence, or an id made from the words of a claim
            (`claim_ids`). None: the claims of the answer are unknown; then `text` is empty.
        sentence: the 0-based position of a sentence; None: the statement is a claim.
    """

    run_id: str
    topic_id: str
    statement_id: str | None
    sentence: int | None
    text: str
    label: GroundednessLabel | None


def claim_ids(texts: Iterable[str]) -> list[str]:
    """Make an id for each claim of an answer, from its words only, like `nugget_ids`."""
    return hash_ids("c", [*texts])


def read_statements(
    path: Path, problems: Problems, where: Where | None = None
) -> Iterator[Statement]:
    """Read `groundedness.jsonl`, one line per topic, run and statement, lazily.

    A label other than supported, not_found and contradicted becomes None (not judged) and is
    listed as `label`; null becomes None too.

    Args:
        where: read only rows whose top-level fields have one of these values.

    Errors reported: an id or the label missing, a statement twice for an answer.
    """
    for _, statement in statements_with_lines(read_lines(path, problems, where)):
        yield statement


def statements_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, Statement]]:
    """The statements in these objects, as in `read_statements`, each with its object."""
    seen: dict[tuple[str, str, str | None], int] = {}
    for line in lines:
        topic_id, run_id = line.id("topic_id"), line.id("run_id")
        if "label" not in line.row or "statement_id" not in line.row:
            line.missing("label" if "label" not in line.row else "statement_id")
            continue
        name, position = line.optional_id("statement_id"), line.row.get("sentence")
        if position is not None and as_int(position) is None:
            line.bad("sentence", position, "a 0-based position or null")
        elif topic_id is not None and run_id is not None:
            if (first := seen.setdefault((topic_id, run_id, name), line.number)) != line.number:
                what = f"statement {show(name)} of run {run_id!r}, topic {topic_id!r}"
                line.error("duplicate_statement", f"{what} is already in line {first}, wanted once")
                continue
            yield (
                line,
                Statement(
                    run_id=run_id,
                    topic_id=topic_id,
                    statement_id=name,
                    sentence=as_int(position),
                    text=line.optional_text("statement"),
                    label=line.label("label", GROUNDEDNESS_LABELS),
                    **line.read_label_scores(),
                ),
            )


def statement_row(statement: Statement) -> dict[str, Any]:
    """Write a line of `groundedness.jsonl`; a null label means not judged."""
    return {
        "topic_id": statement.topic_id,
        "run_id": statement.run_id,
        "statement_id": statement.statement_id,
        "sentence": statement.sentence,
        "statement": statement.text,
        "label": statement.label,
        **statement.as_fields(),
    }


def _read_labelled(lines: Iterable[Line]) -> Iterator[Labelled]:
    for line, one in statements_with_lines(lines):
        if one.statement_id is not None:
            yield (
                line,
                (one.topic_id, one.run_id, one.statement_id),
                one.label,
                one.get_confidence(),
            )


GROUNDEDNESS_KIND = Kind(
    name="groundedness",
    key=("topic_id", "run_id", "statement_id"),
    scale=StatementSupport,
    gains=GROUNDEDNESS,
    many="statements",
    length_of=("statement", "statement"),
    judge="groundedness",
    rows="statements",
    read=_read_labelled,
    files={"statements": lambda row: row.keys() >= {"statement_id", "sentence", "label"}},
)
