"""Names of the fields of a sample: a question, its answer and what the system read, in one row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

QUESTION = ("question", "user_input", "input", "query", "topic")
ANSWER = ("answer", "response", "actual_output", "output", "result")
# `context` is what chains of LangChain return, `source_documents` what older ones did, and
# `source_nodes` what engines of LlamaIndex do.
CONTEXTS = (
    *("contexts", "retrieved_contexts", "retrieval_context"),
    *("context", "source_documents", "source_nodes"),
)
_NOT_OF_SAMPLES = ("run_id", "metadata", "label")  # of answers in runs, and of labelled items


def is_sample(row: Mapping[str, Any]) -> bool:
    """Return whether an object is a sample as `nuggetjudge.evaluate` reads it.

    >>> is_sample({"question": "why?", "answer": "So.", "contexts": ["So."]})
    True
    >>> is_sample({"run_id": "sys1", "topic_id": "12", "topic": "tides", "answer": []})
    False
    """
    if any(name in row for name in _NOT_OF_SAMPLES):
        return False
    has_question = any(isinstance(row.get(name), str) for name in QUESTION)
    has_answer = any(isinstance(row.get(name), str | list) for name in ANSWER)
    return has_question and has_answer
