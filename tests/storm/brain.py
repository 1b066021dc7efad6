"""A model whose answer to each thing depends on it alone, not on what is asked beside it."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from mock_replies import Body, input_of, schema_of


def storm_brain(body: Body) -> dict[str, Any]:
    """Labels by a hash of what is judged; texts made of the texts that are given."""
    asked, schema = input_of(body), schema_of(body)
    made = {}
    for name, shape in schema["properties"].items():
        write = TEXTS.get(name)
        made[name] = write(asked) if write is not None else _labelled(shape, asked)
    return made


def _labelled(shape: dict[str, Any], asked: dict[str, Any]) -> Any:
    """One label, or one for each key of a map."""
    alone = [value for value in asked.values() if isinstance(value, str)]
    if "properties" not in shape:
        return _pick(shape, *alone)
    [listed] = [value for value in asked.values() if isinstance(value, dict)]
    return {key: _pick(part, *alone, listed[key]) for key, part in shape["properties"].items()}


def _pick(shape: dict[str, Any], *texts: str) -> Any:
    if "enum" in shape:
        labels = shape["enum"]
    elif shape.get("type") == "integer":
        labels = range(shape.get("minimum", 0), shape.get("maximum", 1) + 1)
    else:
        return ""  # evidence: it quotes nothing
    digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=8).digest()
    return labels[int.from_bytes(digest, "big") % len(labels)]


def sentences(text: str) -> list[str]:
    """The sentences of a text that ends in a full stop."""
    return [f"{part}." for part in re.split(r"\.\s*", text) if part]


def _new(texts: list[str], known: list[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text not in known]


def _updated(asked: dict[str, Any]) -> list[str]:
    statements = [text for passage in asked["passages"].values() for text in sentences(passage)]
    return [*asked["nuggets"], *_new(statements, asked["nuggets"])][: asked["limit"]]


def _points(asked: dict[str, Any]) -> list[dict[str, Any]]:
    texts = _new(sentences(asked["document"]), asked["known"])
    return [{"text": text, "spans": [text]} for text in texts]


def _merged(asked: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"text": text, "members": [int(key)]} for key, text in asked["points"].items()]


def _questions(asked: dict[str, Any]) -> list[str]:
    questions = [f"Is it so that {text[:-1]}?" for text in sentences(asked["report"])]
    return _new(questions, asked["known"])[: asked["wanted"]]


def _answer(asked: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"text": sentences(text)[0], "citations": [int(key)]}
        for key, text in asked["passages"].items()
    ]


TEXTS = {
    "updated": _updated, "points": _points, "merged": _merged,
    "claims": lambda asked: sentences(asked["answer"]), "questions": _questions,
    "answer": _answer, "order": lambda asked: [int(key) for key in reversed(asked["passages"])],
}  # fmt: skip
