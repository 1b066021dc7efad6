"""A model that judges by stamps once it is told to, or shown how, and proposes so when asked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mock_replies import Body, Reply, as_json, input_of, schema_of, text_of

STAMPS = ("red", "amber", "green")  # worst to best
RULE = "Go by the colour of the stamp: red is the lowest label, green the highest, amber between."
REASON = "the stamp says so"


@dataclass(frozen=True)
class Stamped:
    """A labelled item of the support judge (or the assigner) whose label its stamp tells."""

    topic_id: str
    inputs: dict[str, str]
    label: str
    rationale: str = REASON

    @property
    def ids(self) -> dict[str, str]:
        return {"topic_id": self.topic_id}


def stamped(
    n: int, *, first: int = 0, scale: Sequence[str] = ("none", "partial", "full"), topics: int = 4
) -> list[Stamped]:
    """n items with the numbers from `first` on; red is the commonest stamp."""
    found = []
    for i in range(first, first + n):
        place = (0, 0, 1, 0, 2)[i % 5]
        inputs = {
            "sentence": f"Claim {i} holds.",
            "passage": f"Page {i * 7919 % 1000}, stamped {STAMPS[place]}.",
        }
        found.append(Stamped(f"t{first}-{i % topics}", inputs, scale[place]))
    return found


def stamped_nuggets(n_answers: int, n_nuggets: int, *, first: int = 0) -> list[Stamped]:
    """Answers with some nuggets each, for the assigner."""
    scale = ("not_support", "partial_support", "support")
    found = []
    for i in range(first, first + n_answers):
        for j in range(n_nuggets):
            place = (i + 2 * j) % 3
            inputs = {
                "question": f"Question {i}?",
                "answer": f"Answer {i}.",
                "nugget": f"fact {i}.{j} stamped {STAMPS[place]}",
            }
            found.append(Stamped(f"t{i}", inputs, scale[place]))
    return found


def stamp_brain(body: Body) -> Reply | str:
    """With RULE in the system message always right; with worked examples in 3 of 4 items; else in
    1 of 4, at random. Free text, asked in either of DSPy's two layouts, proposes RULE."""
    if schema_of(body) is None:
        return _proposal(body)
    messages = body["messages"]
    skill = 1 + 2 * any(message["role"] == "assistant" for message in messages)
    if RULE in text_of(messages[0]):
        skill = 4
    name, shape = next(iter(schema_of(body)["properties"].items()))
    data = input_of(body)
    if "enum" in shape:
        found: Any = _label(shape["enum"], data["passage"], skill)
    else:
        labels = next(iter(shape["properties"].values()))["enum"]
        found = {key: _label(labels, text, skill) for key, text in data["nuggets"].items()}
    return as_json({name: found})


def _label(labels: Sequence[str], text: str, skill: int) -> str:
    chance = hashlib.sha256(text.encode()).digest()
    if chance[0] % 4 < skill:
        order = {"full": 2, "partial": 1, "none": 0}
        order |= {"support": 2, "partial_support": 1, "not_support": 0}
        place = next(i for i, stamp in enumerate(STAMPS) if f"stamped {stamp}" in text)
        return next(label for label in labels if order[label] == place)
    return labels[chance[1] % len(labels)]


def _proposal(body: Body) -> str:
    told = "\n".join(map(text_of, body["messages"]))
    wanted = told.split("Your output fields are:")[1].split("All interactions")[0]
    fields = re.findall(r"^\d+\. `(\w+)` \((.*?)\):?", wanted, re.MULTILINE)
    values = {name: RULE if kind == "str" else {"judge": RULE} for name, kind in fields}
    if "[[ ## completed ## ]]" not in told:
        return as_json(values)
    texts = [
        f"[[ ## {name} ## ]]\n{value if isinstance(value, str) else as_json(value)}"
        for name, value in values.items()
    ]
    return "\n\n".join([*texts, "[[ ## completed ## ]]"])
