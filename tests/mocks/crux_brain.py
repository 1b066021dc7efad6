"""A model that knows facts by their codes, such as K3: it asks for them and finds them in texts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mock_replies import Body, input_of

_FACT = re.compile(r"\b[A-Z]\d\b")


def crux_brain(body: Body) -> dict[str, Any]:
    """Requests, a question for each fact, a passage up to each bar, and 0, 4 or (`K3!`) 5."""
    asked = input_of(body)
    if "part" in asked:
        return {"passages": asked["part"].split(" | ")}
    if "wanted" in asked:
        facts = _FACT.findall(asked["report"])
        return {"questions": [f"What is said of {fact}?" for fact in facts][: asked["wanted"]]}
    if "report" in asked:
        return {"request": f"Write a report on everything known of {asked['report']}."}
    if "question" in asked:
        return {"grade": _grade(asked["question"], asked["context"])}
    questions = asked["questions"].items()
    return {"grades": {i: str(_grade(text, asked["context"])) for i, text in questions}}


def _grade(question: str, context: str) -> int:
    (fact,) = _FACT.findall(question)
    if f"{fact}!" in context:
        return 5
    return 4 if fact in context else 0


def write_summaries(path: Path, summaries: dict[str, tuple[str, list[str]]]) -> Path:
    """A file of summaries: id -> (summary, documents)."""
    rows = [{"id": i, "documents": docs, "summary": text} for i, (text, docs) in summaries.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
