"""A model that lists what is stamped green once it is told to, or shown how; and such texts."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from mock_replies import Body, Reply, as_json, input_of, schema_of, text_of
from mock_rules import RULE, stamp_brain

_SENTENCE = re.compile(r"(\w+ \w+ \w+) stamped (green|red)\.")
LIST_FIELDS = ("updated", "questions", "claims")


def fact(i: int, j: int) -> str:
    """Three words that no other fact has."""
    digits = hashlib.sha256(f"{i}.{j}".encode()).hexdigest()
    letters = digits.translate(str.maketrans("0123456789", "klmnopqrst"))
    return " ".join(letters[n : n + 8] for n in (0, 8, 16))


def text_about(i: int, n: int = 8) -> str:
    """n facts of topic i, every other one stamped green."""
    return " ".join(f"{fact(i, j)} stamped {('green', 'red')[j % 2]}." for j in range(n))


def wanted_of(i: int, n: int = 8) -> list[str]:
    """What people list of topic i."""
    return [fact(i, j) for j in range(0, n, 2)]


def list_brain(body: Body) -> Reply | str:
    """With RULE in the system message it lists all greens; with worked examples 3 of 4 facts right;
    else 1 of 4, and reds for the others. Free text proposes RULE. Claims state what they hold."""
    if schema_of(body) is None:
        return stamp_brain(body)
    data, messages = input_of(body), body["messages"]
    if "key_point" in data:
        return _stated(data)
    skill = 1 + 2 * any(message["role"] == "assistant" for message in messages)
    if RULE in text_of(messages[0]):
        skill = 4
    texts = data["passages"].values() if "passages" in data else [data.get("report", "")]
    found = [
        words
        for words, colour in _SENTENCE.findall(" ".join(texts))
        if (colour == "green") == (hashlib.sha256(words.encode()).digest()[0] % 4 < skill)
    ]
    name = next(name for name in schema_of(body)["properties"] if name in LIST_FIELDS)
    return as_json({name: [*data.get("nuggets", []), *found]})


def _stated(data: dict[str, Any]) -> str:
    held = data["key_point"] in data["response"]
    evidence = data["key_point"] if held else ""
    return as_json({"evidence": evidence, "verdict": "yes" if held else "neutral"})


def write_nugget_data(folder: Path, n_topics: int, *, n_passages: int = 2) -> dict[str, Path]:
    """Nuggets of people, and the candidates with texts that they are made from."""
    half = 8 // n_passages
    nuggets, candidates = [], []
    for i in range(n_topics):
        query = f"What of number {i}?"
        listed = [{"text": text, "importance": "vital"} for text in wanted_of(i)]
        nuggets.append({"qid": f"t{i}", "query": query, "nuggets": listed})
        sentences = _SENTENCE.findall(text_about(i))
        passages = [
            {
                "docid": f"d{i}.{p}",
                "doc": {
                    "segment": " ".join(
                        f"{words} stamped {colour}."
                        for words, colour in sentences[p * half : (p + 1) * half]
                    )
                },
            }
            for p in range(n_passages)
        ]
        candidates.append({"query": {"qid": f"t{i}", "text": query}, "candidates": passages})
    return {
        "nuggets": write_jsonl(folder / "nuggets.jsonl", nuggets),
        "candidates": write_jsonl(folder / "candidates.jsonl", candidates),
    }


def write_question_data(folder: Path, n_topics: int) -> dict[str, Path]:
    """Sub-questions of people, and the reports that they are made from."""
    questions = [{"id": f"t{i}", "subquestions": wanted_of(i)} for i in range(n_topics)]
    reports = [{"id": f"t{i}", "report": text_about(i)} for i in range(n_topics)]
    return {
        "questions": write_jsonl(folder / "questions.jsonl", questions),
        "reference": write_jsonl(folder / "reports.jsonl", reports),
    }


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
