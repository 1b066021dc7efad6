"""What the model of the mock server says: any instance of the schema asked for, or prose."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]
Shares = Mapping[str, float]
WORDS = ("tide", "bridge", "naïve", "wind", '"quoted"', "harbour", "leaf", "42", "strike", "λ")
SHORT, PARAGRAPH = (1, 6), (20, 60)  # words of a text, and of one that is the whole reply
_BLOCK, _SETTINGS = (
    re.compile(rf"^<{tag}>[ \t]*\n(.*?)\n</{tag}>[ \t]*$", re.DOTALL | re.MULTILINE)
    for tag in ("data", "settings")
)


@dataclass(frozen=True)
class Reply:
    """One message. `probabilities` (label -> share, summing to 1) shape the logprobs of labels.

    Under the keys of a map, each with its own, they are those of that key's label. `n_tokens` and
    `n_prompt` are told as its usage; None: by the number of characters.
    """

    content: str | None
    finish_reason: str = "stop"
    refusal: str | None = None
    probabilities: Shares | Mapping[str, Shares] | None = None
    n_tokens: int | None = None
    n_prompt: int | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)


Brain = Callable[[Body], "str | dict[str, Any] | list[Any] | Reply"]


def input_of(body: Body) -> dict[str, Any]:
    """The JSON object between a line `<data>` and a line `</data>`, the last if there are several,
    with the settings before it.

    In a conversation it is that of the last question, before what was said of a reply to it.
    Raises: ValueError if no user message has such a block.
    """
    users = [text_of(m) for m in body["messages"] if m.get("role") == "user"]
    blocks = [block for text in users for block in _BLOCK.findall(text)]
    if not blocks:
        raise ValueError(f"no <data> block in any user message: {users[-1:]!r:.200}")
    settings = [block for text in users for block in _SETTINGS.findall(text)]
    inputs: dict[str, Any] = json.loads(settings[-1]) if settings else {}
    return inputs | json.loads(blocks[-1])


def default_brain(body: Body) -> Reply:
    """An instance of the schema asked for, chosen by a hash of the messages; else chatty prose."""
    rng = rng_of(body)
    if (schema := schema_of(body)) is not None:
        return Reply(as_json(instance(schema, rng)))
    text = as_json({"answer": some_words(rng, 8), "score": rng.randint(0, 5)})
    if (body.get("response_format") or {}).get("type") == "json_object":
        return Reply(text)
    return Reply(f"Happy to help! This is my answer:\n\n```json\n{text}\n```\n\nAnything else?")


def always(label: str) -> Brain:
    """A brain that gives one label wherever the schema lets it: scores can be had by hand."""

    class Chooses(random.Random):
        def choice(self, seq: Sequence[Any]) -> Any:
            return label if label in seq else seq[0]

    return lambda body: instance(schema_of(body), Chooses(0))


def schema_of(body: Body) -> Any:
    """The JSON schema that constrains the reply, or None."""
    form = body.get("response_format") or {}
    return form["json_schema"]["schema"] if form.get("type") == "json_schema" else None


def instance(schema: Any, rng: random.Random, depth: int = 0) -> Any:
    """A value valid for a schema as judges have them: the same `rng` state, the same value.

    Raises: KeyError for a part without enum or type, NotImplementedError for another type.
    """
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "anyOf" in schema:
        return instance(rng.choice(schema["anyOf"]), rng, depth + 1)
    match schema["type"]:
        case "object":
            parts = schema["properties"]
            below = depth + 1 + (len(parts) > 1)  # 1: what this is of is the whole reply
            return {name: instance(part, rng, below) for name, part in parts.items()}
        case "array":
            low = schema.get("minItems", min(1, schema.get("maxItems", 1)))
            n = rng.randint(low, min(schema.get("maxItems", max(low, 3)), low + 10))
            return [instance(schema["items"], rng, depth + 1) for _ in range(n)]
        case "string":
            return some_words(rng, rng.randint(*(PARAGRAPH if depth == 1 else SHORT)))
        case "integer":
            low = schema.get("minimum", 0)
            return rng.randint(low, schema.get("maximum", low + 10))
        case other:
            raise NotImplementedError(f"a value of type {other!r}; pass a brain")


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def some_words(rng: random.Random, n: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(n))


def rng_of(body: Body) -> random.Random:
    messages = json.dumps(body["messages"], sort_keys=True)
    return random.Random(hashlib.blake2b(messages.encode(), digest_size=8).digest())


def text_of(message: Body) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(p.get("text", "") for p in content)


def label_sets(body: Body) -> list[list[str]]:
    """The labels a schema offers, a list per place: enums, and integer ranges up to 21 wide."""
    sets: list[list[str]] = []
    parts = [schema_of(body)]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            low, high = part.get("minimum"), part.get("maximum")
            if "enum" in part:
                sets.append([str(label) for label in part["enum"]])
            elif None not in (low, high) and high - low <= 20:
                sets.append([str(i) for i in range(low, high + 1)])
            parts += reversed(part.values())
        elif isinstance(part, list):
            parts += reversed(part)
    return sets
