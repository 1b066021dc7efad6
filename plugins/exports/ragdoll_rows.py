"""Files of RAGDoll, the toolkit of TREC RAG 2026: rows read and written.

Field names, values and files are those of its repository (castorini/RAGDoll, July 2026:
nuggetizer/flows.py, support/assignments.py, support/metrics.py, umbrela/flows.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...records.judgements import Reason
from ...records.nuggets import Assignment
from ...records.reading.fields import as_int, read_lines, shorten
from ...records.reading.problems import Problems
from ...records.support import SUPPORT_KIND, SupportLabel
from .nuggetizer_rows import assignment as nuggetizer_assignment

SUPPORT_COLUMNS = {measure: column for column, measure in SUPPORT_KIND.columns.items()}

# By label; missing, failed and unreadable labels have the same value there.
SUPPORT_VALUES: Mapping[SupportLabel | None, str] = {
    "full": "2", "partial": "1", "none": "0", None: "-1",
}  # fmt: skip

CitationKey = tuple[str, str, int, int]  # run, topic, sentence, rank of the citation


class SupportJudgement(NamedTuple):
    """RAGDoll's record of one call: the cited passage, and why a label is missing."""

    docid: str | None
    passage: str
    reason: Reason | None
    detail: str
    raw: str


def read_support_judgements(path: Path, problems: Problems) -> dict[CitationKey, SupportJudgement]:
    """Read `judgments.parsed.jsonl`, a line a call, in any order.

    Errors reported: a line without run, topic, or the positions of sentence and citation.
    """
    judgements: dict[CitationKey, SupportJudgement] = {}
    for line in read_lines(path, problems):
        where = line.child("metadata")
        if where is None:
            line.missing("metadata")
            continue
        run_id, topic_id = where.id("run_id"), where.id("topic_id", "narrative_id")
        positions = [as_int(where.row.get(f"{name}_index")) for name in ("sentence", "citation")]
        sentence, citation = positions
        if sentence is None or citation is None:
            where.missing("sentence_index", "citation_index")
        elif run_id is not None and topic_id is not None:
            error, raw = str(line.row.get("error") or ""), str(line.row.get("raw_output") or "")
            failed = line.row.get("status") != "completed"
            reason = (Reason.UNPARSEABLE if raw else Reason.ERROR) if failed else None
            judgements[run_id, topic_id, sentence, citation] = SupportJudgement(
                where.optional_id("docid"),
                line.optional_text("citation"),
                reason,
                shorten(error, 200),
                shorten(raw, 200),
            )
    return judgements


def assignment(assigned: Assignment) -> dict[str, Any]:
    """A line of `assignments.jsonl`: nuggetizer's, with task, status and context."""
    row = nuggetizer_assignment(assigned)
    nuggets = row.pop("nuggets")
    name = f"{assigned.run_id}:{assigned.topic_id}"
    return {"task_id": name, "status": "completed", **row, "context": assigned.answer_text,
            "nuggets": nuggets}  # fmt: skip


def support_assignment(
    run_id: str,
    topic_id: str,
    sentences: Iterable[tuple[int, str, Sequence[tuple[str, SupportLabel | None]]]],
) -> dict[str, Any]:
    """A line of `support_assignments.jsonl`.

    Args:
        sentences: position and text of each, and its citations with their labels.
    """
    return {
        "topic_id": topic_id,
        "narrative_id": topic_id,
        "run_id": run_id,
        "sentences": [
            {
                "sentenceID": position,
                "text": text,
                "citations": [
                    {"citationID": rank, "reference": docid, "support": SUPPORT_VALUES[label]}
                    for rank, (docid, label) in enumerate(citations)
                ],
            }
            for position, text, citations in sentences
        ],
    }


def relevance_judgement(
    topic_id: str, docid: str, grade: int | None, query: str, passage: str
) -> dict[str, Any]:
    """A line as `ragdoll umbrela judge` writes it; a missing grade is -1 and failed."""
    return {
        "task_id": f"{topic_id}:{docid}",
        "status": "failed" if grade is None else "completed",
        "query": query,
        "passage": passage,
        "judgment": -1 if grade is None else grade,
        "qid": topic_id,
        "docid": docid,
    }
