"""A model that goes by stamps once it is told to, or shown how, and proposes so when asked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from mock_replies import Body, Reply, as_json, input_of, schema_of, text_of

STAMPS = ("red", "amber", "green")  # worst to best
RULE = "Go by the colour of the stamp: red is the lowest label, green the highest, amber between."
SENTENCE = re.compile(r"(\w+ \w+ \w+) stamped (green|red)\.")
LIST_FIELDS = ("updated", "questions", "claims")
ORDER = ("none", "not_support", "partial", "partial_support", "full", "support")
ORDER += ("no", "neutral", "yes", *range(6))


def stamp_brain(body: Body) -> Reply | str:
    """Gives labels, or lists what is stamped green. With RULE in the system message always right;
    with worked examples in 3 of 4; else in 1 of 4, at random. Texts state the key points that they
    hold. Free text, asked by GEPA or in either of DSPy's two layouts, proposes RULE."""
    if schema_of(body) is None:
        return _proposal(body)
    data, messages = input_of(body), body["messages"]
    name, shape = next(iter(schema_of(body)["properties"].items()))
    shown = [
        text_of(message) for message in messages[1:-1]
    ]  # an example without stamps says nothing
    skill = 1 + 2 * any("stamped" in text for text in shown)
    if RULE in text_of(messages[0]):
        skill = 4
    text = next((t for t in data.values() if isinstance(t, str) and "stamped" in t), "")
    if "key_point" in data and text:
        label = _label(schema_of(body)["properties"]["verdict"]["enum"], text, skill)
        return as_json({"evidence": text, "verdict": label})
    if "key_point" in data:
        is_stated = data["key_point"] in data["response"]
        reply = {
            "evidence": data["key_point"] * is_stated,
            "verdict": "yes" if is_stated else "neutral",
        }
        return as_json(reply)
    if name in LIST_FIELDS:
        texts = data["passages"].values() if "passages" in data else [data.get("report", "")]
        stamped = [
            words
            for words, colour in SENTENCE.findall(" ".join(texts))
            if (colour == "green") == (_draw(words)[0] % 4 < skill)
        ]
        return as_json({name: [*data.get("nuggets", []), *stamped]})
    if "maximum" in shape:
        return as_json({name: _label(range(shape["maximum"] + 1), text, skill)})
    if "enum" in shape:
        return as_json({name: _label(shape["enum"], text or data["passage"], skill)})
    labels = next(iter(shape["properties"].values()))["enum"]
    texts = data["nuggets"].items()
    return as_json({name: {key: _label(labels, text, skill) for key, text in texts}})


def _draw(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _label(labels: Sequence[Any], text: str, skill: int) -> Any:
    chance = _draw(text)
    if chance[0] % 4 < skill:
        index = next(i for i, stamp in enumerate(STAMPS) if f"stamped {stamp}" in text)
        return sorted(labels, key=ORDER.index)[index * (len(labels) - 1) // 2]
    return labels[chance[1] % len(labels)]


def _proposal(body: Body) -> str:
    prompt = "\n".join(map(text_of, body["messages"]))
    if "Your output fields are:" not in prompt:  # GEPA by itself
        return f"```\n{RULE}\n```"
    wanted = prompt.split("Your output fields are:")[1].split("All interactions")[0]
    fields = re.findall(r"^\d+\. `(\w+)` \((.*?)\):?", wanted, re.MULTILINE)
    values: dict[str, Any] = {n: RULE if kind == "str" else {"judge": RULE} for n, kind in fields}
    if "[[ ## completed ## ]]" not in prompt:
        return as_json(values)
    text_by_field = {
        n: value if isinstance(value, str) else as_json(value) for n, value in values.items()
    }
    texts = [f"[[ ## {name} ## ]]\n{text}" for name, text in text_by_field.items()]
    return "\n\n".join([*texts, "[[ ## completed ## ]]"])
