"""A model that knows facts by their codes, such as K3, in questions and in documents."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mock_replies import Body, input_of, schema_of

_FACT = re.compile(r"\b[A-Z]\d\b")


def long2rag_brain(body: Body) -> dict[str, Any]:
    """A point for each criterion but opinion, fewer for a dull question; a key point for each fact
    of a document, its span the sentence, or an invented one where `~` follows; yes to those in
    the question."""
    asked, wanted = input_of(body), schema_of(body)["properties"]
    if "unambiguous" in wanted:
        no = ["opinion", "complex"] if "dull" in asked["question"] else ["opinion"]
        return dict.fromkeys(wanted, "yes") | dict.fromkeys(no, "no")
    if "subquestions" in wanted:
        parts = re.split(r" and ", asked["question"].rstrip("?"))
        return {"kind": "complex", "subquestions": [f"{part}?" for part in parts]}
    if "domain" in asked:
        way = "deeper" if "harder" in body["messages"][0]["content"] else "wider"
        first = asked["question"].rstrip("?")
        return {"questions": [f"{first} {way} {i}?" for i in range(1, asked["wanted"] + 1)]}
    if "document" in asked:
        return {"points": _points(asked["document"], asked["known"])}
    if "merged" in wanted:
        return {"merged": _merged(asked["points"])}
    verdict = "yes" if _FACT.findall(asked["key_point"])[0] in asked["question"] else "no"
    return {"verdict": verdict}


def _points(document: str, known: list[str]) -> list[dict[str, Any]]:
    found = []
    for sentence in document.split(". "):
        for fact in _FACT.findall(sentence):
            span = f"{fact} as nobody wrote it" if f"{fact}~" in sentence else sentence
            if (text := f"{fact} holds") not in known:
                found.append({"text": text, "spans": [span]})
    return found


def _merged(points: Mapping[str, str]) -> list[dict[str, Any]]:
    groups: dict[str, list[int]] = {}
    for number, text in points.items():
        groups.setdefault(text, []).append(int(number))
    return [{"text": text, "members": members} for text, members in groups.items()]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A JSONL file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_seeds(path: Path, questions: Mapping[str, str]) -> Path:
    """Seed questions by id; the domain is the first letter, the category is `why`."""
    rows = [
        {"id": name, "text": text, "domain": name[0], "category": "why"}
        for name, text in questions.items()
    ]
    return write_rows(path, rows)


def write_documents(path: Path, documents: Mapping[str, list[str]]) -> Path:
    """Documents `<topic>.1`, `<topic>.2` ... by topic."""
    rows = [
        {"topic_id": name, "docid": f"{name}.{number}", "text": text}
        for name, texts in documents.items()
        for number, text in enumerate(texts, 1)
    ]
    return write_rows(path, rows)
