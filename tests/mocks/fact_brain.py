"""A model that knows facts by their codes, such as K3: it asks for them and finds them in texts."""

from __future__ import annotations

import re
from typing import Any

from mock_replies import Body, input_of, schema_of

_FACTS = re.compile(r"\b[A-Z]\d\b").findall


def fact_brain(body: Body) -> dict[str, Any]:
    """A question for each fact, a passage up to each bar, and 0, 4 or (`K3!`) 5; a key point for
    each fact of a document, its span the sentence, or an invented one where `~` follows, and yes
    to those in the question; yes to each criterion but opinion, fewer for a dull question."""
    asked = input_of(body) | {"is_deep": "more complex" in body["messages"][0]["content"]}
    return {name: SAYS[name](asked) for name in schema_of(body)["properties"]}


def _questions(asked: Body) -> list[str]:
    if "report" in asked:
        return [f"What is said of {fact}?" for fact in _FACTS(asked["report"])][: asked["wanted"]]
    start = f"{asked['question'].rstrip('?')} {'deeper' if asked['is_deep'] else 'wider'}"
    return [f"{start} {i}?" for i in range(1, asked["wanted"] + 1)]


def _grade(question: str, context: str) -> int:
    (fact,) = _FACTS(question)
    return 5 if f"{fact}!" in context else 4 * (fact in context)


def _points(asked: Body) -> list[Body]:
    points = []
    for sentence in asked["document"].split(". "):
        for fact in _FACTS(sentence):
            span = f"{fact} as nobody wrote it" if f"{fact}~" in sentence else sentence
            points.append({"text": f"{fact} holds", "spans": [span]})
    return [point for point in points if point["text"] not in asked["known"]]


def _merged(asked: Body) -> list[Body]:
    groups: dict[str, list[int]] = {}
    for number, text in asked["points"].items():
        groups.setdefault(text, []).append(int(number))
    return [{"text": text, "members": members} for text, members in groups.items()]


SAYS = {
    "passages": lambda asked: asked["part"].split(" | "),
    "request": lambda asked: f"Write a report on everything known of {asked['report']}.",
    "questions": _questions,
    "grade": lambda asked: _grade(asked["question"], asked["context"]),
    "grades": lambda asked: {
        i: str(_grade(text, asked["context"])) for i, text in asked["questions"].items()
    },
    **dict.fromkeys(("uncommon", "clear", "unambiguous"), lambda asked: "yes"),
    "complex": lambda asked: "no" if "dull" in asked["question"] else "yes",
    "opinion": lambda asked: "no",
    "kind": lambda asked: "complex",
    "subquestions": lambda asked: [f"{p}?" for p in asked["question"].rstrip("?").split(" and ")],
    "points": _points,
    "merged": _merged,
    "verdict": lambda asked: "yes" if _FACTS(asked["key_point"])[0] in asked["question"] else "no",
}
