"""How the tasks of the core read another tool's files; an entry point names each function.

The name of the entry point is TASK.KIND, with the kind of file that has the judgements.
"""

from __future__ import annotations

from typing import Any

from ....programs.protocols.nuggets import ASSIGNMENTS, BANKS, EXCLUDED
from ....programs.protocols.relevance import FILE as RELEVANCE
from ....programs.protocols.support import FILE as SUPPORT
from ....records.judgements import Reason, Unjudged
from ....records.nuggets import assignment_row, bank_row, read_assignments, read_nugget_banks
from ....records.relevance import read_relevance, relevance_row
from ....records.rows import NuggetBank
from ....records.support import SupportLabels, read_support, support_row
from ..ragdoll_rows import CitationKey, SupportJudgement, read_support_judgements
from .files import NO_REASON, ToolFiles


def take_nuggets(theirs: ToolFiles) -> None:
    """Write the nuggets of answers, and the bank of a topic without one in a file."""
    banks: dict[str, NuggetBank] = {}
    for path in theirs.files("nuggets"):
        banks |= read_nugget_banks(path, theirs.problems)
    with theirs.results.open(ASSIGNMENTS) as rows:
        for row in theirs.once("assignments", read_assignments):
            ids = {"topic_id": row.topic_id, "run_id": row.run_id}
            theirs.cell(row.run_id, row.topic_id, row.query)
            theirs.answer(row.run_id, row.topic_id, row.answer_text)
            nuggets = tuple(each.nugget for each in row.nuggets)
            bank = NuggetBank(topic_id=row.topic_id, query=row.query, nuggets=nuggets)
            banks.setdefault(row.topic_id, bank)
            rows.write(assignment_row(row))
            for each in row.nuggets:
                theirs.count("assignments", {**ids, "nuggets": [each.nugget.id]}, each.label)
    if banks:
        theirs.results.write(BANKS, map(bank_row, banks.values()))
    theirs.queries |= {topic: bank.query for topic, bank in banks.items()}
    theirs.late_notes[EXCLUDED] = lambda: [
        topic for topic in theirs.list_judged_topics() if topic not in theirs.queries
    ]


def take_support(theirs: ToolFiles) -> None:
    """Write the citations of sentences, with RAGDoll's reasons if its calls are available."""
    calls: dict[CitationKey, SupportJudgement] = {}
    for path in theirs.files("support_judgments"):
        calls |= read_support_judgements(path, theirs.problems)
    for call in calls.values():
        if call.docid is not None and call.passage:
            theirs.passages.setdefault(call.docid, call.passage)
    with theirs.results.open(SUPPORT) as rows:
        for row in theirs.once("support", read_support):
            at = (row.run_id, row.topic_id)
            theirs.cell(*at)
            _keep_sentences(row, theirs)
            for sentence in row.sentences:
                ids = {"topic_id": row.topic_id, "run_id": row.run_id, "sentence": sentence.id}
                key = (*at, sentence.id)
                if not sentence.citations:
                    rows.write(support_row(*key, citation=None, rank=None, label="none"))
                for each in sentence.citations:
                    name, rank = each.passage_id, each.rank
                    named = {"citation": name, "rank": rank, "label": each.label}
                    rows.write(support_row(*key, **named, label_scores=each.as_fields()))
                    why = _why(calls.get((*key, rank)), has_calls=bool(calls))
                    theirs.count("support", {**ids, "citation": name}, each.label, why)


def _keep_sentences(row: SupportLabels, theirs: ToolFiles) -> None:
    last = max((sentence.id for sentence in row.sentences), default=-1)
    sentences: list[dict[str, Any]] = [{"text": "", "citations": []} for _ in range(last + 1)]
    for each in row.sentences:
        cited = [citation.passage_id for citation in each.citations]
        sentences[each.id] = {"text": each.text, "citations": cited}
    if any(sentence["text"] for sentence in sentences):
        theirs.answers[row.run_id, row.topic_id] = sentences


def _why(call: SupportJudgement | None, *, has_calls: bool) -> Unjudged:
    """Why a citation has no label, by the tool's file of calls.

    Args:
        has_calls: whether there is such a file: a citation that it lacks had no passage text.
    """
    if call is not None and call.reason is not None:
        return Unjudged(call.reason, call.detail, call.raw)
    if has_calls and call is None:
        return Unjudged(Reason.NO_PASSAGE, "the tool had no text of this passage")
    return NO_REASON


def take_relevance(theirs: ToolFiles) -> None:
    """Write grades without a ranking, which the files do not have."""
    with theirs.results.open(RELEVANCE) as rows:
        for path in theirs.files("relevance"):
            what = "grades without the order of the passages, so there are no ranking measures"
            theirs.problems.keep(path, 0, "no_ranking", what)
            for row in read_relevance(path, theirs.problems):
                theirs.topics.setdefault(row.topic_id, "")
                rows.write(relevance_row(row))
                ids = {"topic_id": row.topic_id, "passage_id": row.passage_id}
                theirs.count("relevance", ids, row.grade)
