"""The names that people use for the fields of a sample, and the fields of any object."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from ...records.judgements import FAILED, OLD_FAILED
from ...records.samples import ANSWER as ANSWER
from ...records.samples import CONTEXTS as CONTEXTS
from ...records.samples import QUESTION as QUESTION

NUGGETS = ("nuggets",)
KEY_POINTS = ("key_points", "keypoints")
QUESTIONS = ("questions", "sub_questions", "subquestions")
REFERENCE = ("reference", "expected_output", "ground_truth", "reference_answer")
ID = ("id", "topic_id", "qid", "question_id", "query_id")
KNOWN = (*QUESTION, *ANSWER, *CONTEXTS, *NUGGETS, *KEY_POINTS, *QUESTIONS, *REFERENCE, *ID)


def get_fields(value: Any) -> Mapping[str, Any] | None:
    """Return the fields of a mapping, a dataclass, a pydantic object or a Prediction; else None."""
    if isinstance(value, Mapping):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name, None) for each in fields(value)}
    if isinstance(names := getattr(type(value), "model_fields", None), Mapping):
        return {name: getattr(value, name) for name in names}
    if hasattr(type(value), "toDict"):  # dspy.Prediction and dspy.Example
        return dict(value.items())
    return None


def rename_fields(there: Mapping[str, Any], wanted: Collection[str]) -> dict[str, Any]:
    """Return the fields with wanted names, if only case, spaces and hyphens differ.

    >>> rename_fields({"Question": "q", "Ground Truth": "g", "topicId": 1, "Note": 2}, KNOWN)
    {'question': 'q', 'ground_truth': 'g', 'topic_id': 1, 'Note': 2}
    """
    renamed: dict[str, Any] = {}
    for name, value in there.items():
        if name == OLD_FAILED:
            name = FAILED
        if name in wanted:
            renamed[name] = value
            continue
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name).strip())
        plain = re.sub(r"[\s-]+", "_", plain).lower()
        is_other = plain in wanted and plain not in there
        renamed.setdefault(plain if is_other else str(name), value)
    return renamed
