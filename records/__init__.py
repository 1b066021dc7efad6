"""The data: frozen typed rows, and a checked reader for every file format, with its writer.

Imports no other folder of ours; every folder but metrics may import it.

Readers take a `Problems`, in which they note what is wrong by file and line; a caller ends with
`problems.raise_errors()`. They raise `InputError` only for a file that cannot be read at all. A
module is loaded when one of its names is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agentic.traces import ItemTrace, read_traces
    from .answers import count_words, read_answers, read_documents
    from .assignments import (
        ASSIGNMENT_LABELS,
        AssignedNugget,
        Assignment,
        AssignmentLabel,
        assignment_row,
        read_assignments,
    )
    from .candidates import CandidatePool, read_candidates
    from .documents import (
        Summary,
        TopicDocuments,
        read_reports,
        read_summaries,
        read_topic_documents,
    )
    from .evidence import Evidence
    from .judgements import Judged, Outcome, Provenance, Reason, Unjudged
    from .key_points import (
        ENTAILMENT_LABELS,
        Claim,
        ClaimLabel,
        ClaimSet,
        Entailment,
        EntailmentLabel,
        claims_row,
        entailment_row,
        key_point_set_row,
        read_claims,
        read_entailments,
        read_key_point_sets,
    )
    from .labels.cells import LabelFile
    from .labels.kinds import FileKind, file_kind
    from .labels.labels import read_labels
    from .labels.relevance import RelevanceLabel, read_relevance, relevance_row
    from .nuggets import bank_row, nugget_row, read_nugget_banks
    from .passages import natural_order, read_passages
    from .qrels import read_qrels, write_diversity_qrels, write_qrels
    from .questions import question_set_row, read_question_sets
    from .ratings import Ratings, answer_id, rating_row, read_ratings, reference_id
    from .reading.problems import InputError, Problem, Problems
    from .rows import (
        Answer,
        Citation,
        Importance,
        KeyPoint,
        KeyPointSet,
        Nugget,
        NuggetBank,
        NuggetSource,
        Passage,
        QuestionSet,
        Ranking,
        Row,
        ScoreRow,
        Sentence,
        SubQuestion,
        Topic,
        key_point_ids,
        nugget_ids,
    )
    from .runs import read_trec_run, write_trec_run
    from .scores import read_scores, score_row, write_scores
    from .support import (
        SupportCitation,
        SupportLabel,
        SupportLabels,
        SupportSentence,
        read_support,
    )
    from .topics import read_topics

_MODULES = (
    "agentic.traces",
    "answers",
    "assignments",
    "candidates",
    "documents",
    "evidence",
    "judgements",
    "key_points",
    "labels.cells",
    "labels.kinds",
    "labels.labels",
    "nuggets",
    "passages",
    "qrels",
    "questions",
    "ratings",
    "reading.problems",
    "labels.relevance",
    "rows",
    "runs",
    "scores",
    "support",
    "topics",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for each in _MODULES:
            module = importlib.import_module(f".{each}", __name__)
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "ASSIGNMENT_LABELS",
    "ENTAILMENT_LABELS",
    "Answer",
    "AssignedNugget",
    "Assignment",
    "AssignmentLabel",
    "CandidatePool",
    "Citation",
    "Claim",
    "ClaimLabel",
    "ClaimSet",
    "Entailment",
    "EntailmentLabel",
    "Evidence",
    "FileKind",
    "Importance",
    "InputError",
    "ItemTrace",
    "Judged",
    "KeyPoint",
    "KeyPointSet",
    "LabelFile",
    "Nugget",
    "NuggetBank",
    "NuggetSource",
    "Outcome",
    "Passage",
    "Problem",
    "Problems",
    "Provenance",
    "QuestionSet",
    "Ranking",
    "Ratings",
    "Reason",
    "RelevanceLabel",
    "Row",
    "ScoreRow",
    "Sentence",
    "SubQuestion",
    "Summary",
    "SupportCitation",
    "SupportLabel",
    "SupportLabels",
    "SupportSentence",
    "Topic",
    "TopicDocuments",
    "Unjudged",
    "answer_id",
    "assignment_row",
    "bank_row",
    "claims_row",
    "count_words",
    "entailment_row",
    "file_kind",
    "key_point_ids",
    "key_point_set_row",
    "natural_order",
    "nugget_ids",
    "nugget_row",
    "question_set_row",
    "rating_row",
    "read_answers",
    "read_assignments",
    "read_candidates",
    "read_claims",
    "read_documents",
    "read_entailments",
    "read_key_point_sets",
    "read_labels",
    "read_nugget_banks",
    "read_passages",
    "read_qrels",
    "read_question_sets",
    "read_ratings",
    "read_relevance",
    "read_reports",
    "read_scores",
    "read_summaries",
    "read_support",
    "read_topic_documents",
    "read_topics",
    "read_traces",
    "read_trec_run",
    "reference_id",
    "relevance_row",
    "score_row",
    "write_diversity_qrels",
    "write_qrels",
    "write_scores",
    "write_trec_run",
]
