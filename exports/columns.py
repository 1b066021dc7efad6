"""The columns of each results file: names of docs/formats.md, one type each, in every folder.

A type is "text", "int", "float", "bool", "json" (kept as JSON text), "rating" (a whole number, of
which negative ones say that there is none), [type] for a list, {name: type} for an object, `Pairs`
for a map whose names are data, or `Named`. Nothing of Arrow is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Pairs:
    """A map whose keys are data, such as votes by member: a list of objects `key`, `value`."""

    value: str


@dataclass(frozen=True)
class Named:
    """An object, or a text that is its first field alone, such as a source that is only an id."""

    fields: dict[str, Any]


Kind: TypeAlias = "str | list[Any] | dict[str, Any] | Pairs | Named"

EVIDENCE: Kind = [
    {"of": "text", "quote": "text", "start": "int", "end": "int", "sha256": "text",
     "is_quoted": "bool"}
]  # fmt: skip
SURE: dict[str, Kind] = {  # what may stand beside a label
    "score": "float",
    "probabilities": Pairs("float"),
    "outside_probability": "float",
    "votes": Pairs("text"),
    "method": "text",
    "confidence": "float",
    "superseded": "text",
    "parts": Pairs("text"),
    "evidence": EVIDENCE,
    "rationale": "text",
}
IDS: dict[str, Kind] = dict.fromkeys(
    (
        *("topic_id", "run_id", "sentence_id", "passage_id", "nugget_id"),
        *("question_id", "key_point_id", "criterion_id"),
    ),
    "text",
)
ANSWER: dict[str, Kind] = {"run_id": "text", "topic_id": "text"}
_SOURCES: Kind = [
    Named({"docid": "text", "start": "int", "end": "int", "query": "text", "round": "int"})
]
_NUGGET: dict[str, Kind] = {
    "id": "text", "text": "text", "importance": "text", "mapped_sub_narrative": "text",
    "sources": _SOURCES,
}  # fmt: skip
_POINT: dict[str, Kind] = {"id": "text", "text": "text", "spans": ["text"], "sources": ["text"]}
_VALUE: dict[str, Kind] = {
    "measure": "text", "value": "float", "n": "int", "n_unjudged": "int", "low": "float",
    "high": "float", "n_topics": "int",
}  # fmt: skip
_QUERY: dict[str, Kind] = {"query": "text", "qid": "text"}
_PASSAGE: dict[str, Kind] = {"topic_id": "text", "passage_id": "text"}
_SUGGESTION: dict[str, Kind] = {
    "passage_id": "text", "scope": "text", "rank": "int", "query": "text", "label": "text", **SURE
}  # fmt: skip
_STANDING: dict[str, Kind] = {"label": "text", "low": "text", "high": "text"}
_COUNTS: dict[str, Kind] = dict.fromkeys(
    ("requests", "cache_hits", "prompt_tokens", "cached_tokens", "completion_tokens"), "int"
)

# By file: its columns, in order. A file that is not here has columns by what is in it.
COLUMNS: dict[str, dict[str, Kind]] = {
    "scores.jsonl": {**ANSWER, **_VALUE, "n_answered": "int", "n_asked": "int"},
    "unjudged.jsonl": {
        "stage": "text", **IDS, "sentence": "int", "citation": "text", "document_id": "text",
        "claim": "int", "nuggets": ["text"], "answers": ["text"], "question_ids": ["text"],
        "key_points": ["text"], "criteria": ["text"], "n": "int", "reason": "text",
        "detail": "text", "raw": "text",
    },
    "problems.jsonl": dict.fromkeys(("kind", "action", "at", "what"), "text"),
    "spend.jsonl": {
        "start": "int", "at": "text", "stage": "text", "model": "text", **_COUNTS, "cost": "float",
        "from_journal": "bool",
    },
    "relevance.jsonl": {**_PASSAGE, "grade": "int", **SURE},
    "nuggets.jsonl": {**_QUERY, "nuggets": [_NUGGET]},
    "assignments.jsonl": {
        **_QUERY, "answer_text": "text", "response_length": "int", "run_id": "text",
        "nuggets": [{**_NUGGET, "assignment": "text", **SURE}],
    },
    "hunt.jsonl": {
        "topic_id": "text", "stop": "text", "new": ["int"], "started": "int", "ungrounded": "int",
        "merged": "int", "facets": [{"question": "text", "nuggets": "int"}], "calls": "int",
        "nuggets": "int", "read": "int",
    },
    "pool.jsonl": {"topic_id": "text", "docids": ["text"]},
    "support.jsonl": {
        **ANSWER, "sentence": "int", "citation": "text", "rank": "int", "label": "text",
        "weight": "float", **SURE,
    },
    "evidence.jsonl": {
        **ANSWER, "sentence": "int", "citation": "text", "label": "text", "outcome": "text",
        "suggestion": _SUGGESTION, "shown": "bool", "best": ["text"],
        "contradiction": {"passage_id": "text", "label": "text", **SURE},
        "claims": [{"claim": "text", "passage_id": "text"}], "queries": ["text"], "calls": "int",
    },
    "question_lists.jsonl": {
        "query_id": "text", "title_query": "text", "format_version": "text", "nugget_bank": "json",
    },
    "answered.jsonl": {
        **ANSWER, "question_id": "text", "question": "text", "importance": "text",
        "aggregator": "text", **_STANDING,
        "answers": [
            {"id": "text", "text": "text", **_STANDING,
             "sentences": [{"sentence": "int", "label": "text", **SURE}]}
        ],
    },
    "reports.jsonl": {
        **ANSWER, "words": "int", "characters": "int", "is_over": "bool", "n_units": "int",
        "n_kept": "int", "headings": "int", "table_rows": "int",
        "claims": [{"sentence": "int", **_STANDING}],
    },
    "questions.jsonl": {"id": "text", "subquestions": ["text"]},
    "ratings.jsonl": {"id": "text", "docid": "text", "rating": ["rating"]},
    "rating_evidence.jsonl": {**_PASSAGE, "question_id": "text", "label": "text", **SURE},
    "research.jsonl": {
        "topic_id": "text", "question_id": "text", "question": "text", "answered_by": "text",
        "grades": Pairs("int"),
    },
    "pools.jsonl": {
        "topic_id": "text", "passage_ids": ["text"], "required": ["text"],
        "may_be_required": ["text"], "tokens": ["int"],
    },
    "contexts.jsonl": {**ANSWER, "passage_ids": ["text"], "tokens": ["int"], "not_made": "bool"},
    "rated_reports.jsonl": {**ANSWER, "report_id": "text", "tokens": "int"},
    "ranks.jsonl": {
        **ANSWER, "rank": "int", "passage_id": "text", "n_answered": "int", "n_new": "int",
        "n_unjudged": "int", "coverage": "float", "incompleteness": "float", "redundancy": "float",
    },
    "keypoints.jsonl": {**_QUERY, "key_points": [_POINT]},
    "rejected_keypoints.jsonl": {**_QUERY, **_POINT, "why": "text", "label": "text", **SURE},
    "entailments.jsonl": {
        **ANSWER, "key_point_id": "text", "label": "text", "is_quoted": "bool", **SURE
    },
    "rubrics.jsonl": {
        **_QUERY,
        "criteria": [
            {
                "id": "text", "text": "text", "weight": "float", "kind": "text", "type": "text",
                "tier": "text", "source_nugget": "text",
            }
        ],
    },
    "verdicts.jsonl": {
        **ANSWER, "criterion_id": "text", "label": "text", "weight": "float", "kind": "text", **SURE
    },
    "claims.jsonl": {
        **ANSWER,
        "claims": [{"text": "text", "label": "text", "evidence": EVIDENCE, "rationale": "text"}],
    },
    "groups.jsonl": {"run_id": "text", "by": "text", "group": "text", **_VALUE},
    "labels.jsonl": {**IDS, "label": "text", **SURE},
    "trace.jsonl": {
        "stage": "text", "item": "json", "agent": "text", "path": "text", "kind": "text",
        "name": "text", "version": "text", "args": "json", "in": "json", "index": "text",
        "out": "json", "replies": ["text"], "tokens": ["int"], "because": ["text"],
        "reason": "text",
    },
}  # fmt: skip
