"""What the model of the mock server says: any instance of the schema asked for, or prose."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]
Shares = Mapping[str, float]
WORDS = ("tide", "bridge", "naïve", "wind", '"quoted"', "harbour", "leaf", "42", "strike", "λ")
SHORT, PARAGRAPH = (1, 6), (20, 60)  # words of a text, and of one that is the whole reply
_BLOCK = re.compile(r"^<data>[ \t]*\n(.*?)\n</data>[ \t]*$", re.DOTALL | re.MULTILINE)
OPEN_DEPTH = 6  # a recursive schema is closed as soon as it can be below this depth


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
    """The JSON object between a line `<data>` and a line `</data>`, the last if there are several.

    In a conversation it is that of the last question, before what was said of a reply to it.
    Raises: ValueError if no user message has such a block, or it is no JSON object.
    """
    users = [text_of(m) for m in body["messages"] if m.get("role") == "user"]
    blocks = [block for text in users for block in _BLOCK.findall(text)]
    if not blocks:
        raise ValueError(f"no <data> block in any user message: {users[-1:]!r:.200}")
    found = json.loads(blocks[-1])
    if not isinstance(found, dict):
        raise ValueError(f"<data> holds a JSON {type(found).__name__}, wanted an object")
    return found


def default_brain(body: Body) -> Reply:
    """An instance of the schema asked for, chosen by a hash of the messages; else chatty prose."""
    rng = rng_of(body)
    if (schema := schema_of(body)) is not None:
        return Reply(as_json(instance(schema, rng)))
    found = as_json({"answer": some_words(rng, 8), "score": rng.randint(0, 5)})
    if (body.get("response_format") or {}).get("type") == "json_object":
        return Reply(found)
    return Reply(f"Happy to help! This is my answer:\n\n```json\n{found}\n```\n\nAnything else?")


def schema_of(body: Body) -> Any:
    """The JSON schema that constrains the reply, or None."""
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return form["json_schema"]["schema"]
    return None


def instance(schema: Any, rng: random.Random, *, root: Any = None, depth: int = 0) -> Any:
    """A value valid for the schema: the same `rng` state, the same value.

    Raises: NotImplementedError for a string `pattern`.
    """
    root = schema if root is None else root
    deep = depth > OPEN_DEPTH

    def inner(part: Any) -> Any:
        return instance(part, rng, root=root, depth=depth + 1)

    if not isinstance(schema, dict) or not schema:
        return {}
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].removeprefix("#").strip("/").split("/"):
            target = target[step] if step else target
        return inner(target | {k: v for k, v in schema.items() if k != "$ref"})
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if parts := schema.get("allOf"):
        rest = {k: v for k, v in schema.items() if k != "allOf"}
        return inner(_merged([rest, *parts], root))
    if options := schema.get("anyOf") or schema.get("oneOf"):
        null = {"type": "null"}
        return None if deep and null in options else inner(rng.choice(options))
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, list):
        kind = "null" if deep and "null" in kind else rng.choice(kind)
    match kind:
        case "object":
            return _object(schema, rng, inner, deep)
        case "array":
            return _array(schema, rng, inner, deep)
        case "string":
            is_whole = depth == 1 and len(root.get("properties", ())) == 1
            return _string(schema, rng, PARAGRAPH if is_whole else SHORT)
        case "integer":
            low, high = _range(schema, 1)
            step = schema.get("multipleOf", 1)
            return rng.randint(math.ceil(low / step), math.floor(high / step)) * step
        case "number":
            low, high = _range(schema, 1e-3)
            return min(high, max(low, round(rng.uniform(low, high), 3)))
        case "boolean":
            return rng.random() < 0.5
        case _:
            return None


def _object(schema: Any, rng: random.Random, inner: Callable[[Any], Any], deep: bool) -> Any:
    names = schema.get("required", []) if deep else schema.get("properties", {})
    made = {name: inner(schema["properties"][name]) for name in names}
    extra = schema.get("additionalProperties", False)
    if isinstance(extra, dict):
        keys = schema.get("propertyNames", {}).get("enum")
        if keys is None:
            few = schema.get("minProperties", 0 if deep else 2)
            keys = [f"key{i + 1}" for i in range(min(few, schema.get("maxProperties", few)))]
        made |= {key: inner(extra) for key in keys if key not in made}
    return made


def _array(schema: Any, rng: random.Random, inner: Callable[[Any], Any], deep: bool) -> Any:
    made = [inner(part) for part in schema.get("prefixItems", [])]
    low = schema.get("minItems", 0 if deep else min(1, schema.get("maxItems", 1)))
    high = low if deep else schema.get("maxItems", max(low, 3))
    n = rng.randint(low, min(high, low + 10))
    for _ in range(20 * n):
        if len(made) >= n or "items" not in schema:
            break
        item = inner(schema["items"])
        if not schema.get("uniqueItems") or item not in made:
            made.append(item)
    return made


def _string(schema: Any, rng: random.Random, n_words: tuple[int, int]) -> str:
    if "pattern" in schema:
        raise NotImplementedError("the default brain makes no strings for a pattern; pass a brain")
    low, high = schema.get("minLength", 0), schema.get("maxLength", 10 * n_words[1])
    text = some_words(rng, rng.randint(*n_words))
    return text.ljust(low, "x")[: max(low, high)]


def _range(schema: Any, step: float) -> tuple[Any, Any]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + step
    if "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - step
    if low is None:
        low = 0 if high is None or high >= 0 else high - 10
    return low, low + 10 if high is None else high


def _merged(parts: Iterable[Any], root: Any) -> Body:
    whole: Body = {}
    for part in parts:
        if "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            part = root["$defs"][name]
        whole["properties"] = whole.get("properties", {}) | part.get("properties", {})
        whole["required"] = [*whole.get("required", []), *part.get("required", [])]
        whole |= {k: v for k, v in part.items() if k not in ("properties", "required")}
    return {k: v for k, v in whole.items() if v or k not in ("properties", "required")}


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def some_words(rng: random.Random, n: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(n))


def rng_of(body: Body) -> random.Random:
    told = json.dumps(body["messages"], sort_keys=True)
    return random.Random(hashlib.blake2b(told.encode(), digest_size=8).digest())


def text_of(message: Body) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(p.get("text", "") for p in content)


def label_sets(body: Body) -> list[list[str]]:
    """The labels a schema offers, a list per place: enums, and integer ranges up to 21 wide."""
    found: list[list[str]] = []

    def walk(part: Any) -> None:
        if isinstance(part, list):
            for item in part:
                walk(item)
        elif isinstance(part, dict):
            if isinstance(part.get("enum"), list):
                found.append([str(label) for label in part["enum"] if label is not None])
            elif part.get("type") == "integer" and {"minimum", "maximum"} <= part.keys():
                low, high = part["minimum"], part["maximum"]
                if high - low <= 20:
                    found.append([str(i) for i in range(low, high + 1)])
            for value in part.values():
                walk(value)

    walk(schema_of(body))
    return found
