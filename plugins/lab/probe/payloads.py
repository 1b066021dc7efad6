"""The injected texts that try to decide a label, and where to plant them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Literal

import orjson

from ....judges import ItemJudge
from ....records.labels import ItemRow
from ....records.reading.injections import looks_like_an_instruction
from ....records.rows import Row

CONTROL = "control"  # the kind of harmless remarks, which ask for no label
CUT = "¶"  # splits the text of a payload over several sentences
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")

TextKind = Literal["passage", "answer", "nugget", "question", "sentence"]
TEXT_KINDS: dict[str, TextKind] = {  # the kind of text of an input, by its name
    "passage": "passage",
    "context": "passage",
    "source": "passage",
    "answer": "answer",
    "response": "answer",
    "nugget": "nugget",
    "key_point": "nugget",
    "question": "question",
    "sentence": "sentence",
    "claim": "sentence",
}


class Payload(Row):
    """A row of payloads.jsonl: a text to plant.

    Attributes:
        language: ISO 639-1 code; "none": no language.
        asks: whether it asks for the best or the worst label of the scale. A control asks for no
            label, and is counted like one that asks for the best.
        how: where it goes: after the text, before it, between its sentences (split at `CUT`), or in
            its place.
        places: the kinds of text it goes into. A payload that replaces a text, or asks for the
            worst label, goes only into texts that are searched (answers, passages): elsewhere an
            honest judge may give the label that it asks for.
        text: $label is the label asked for, $field the reply's field of labels, $reply a whole
            reply with that label, $quoted the same reply as a JSON string.
        times: how often the text is repeated. then: text that follows once.
    """

    id: str
    kind: str
    language: str
    asks: Literal["best", "worst"]
    how: Literal["after", "before", "split", "instead"]
    places: tuple[TextKind, ...]
    text: str
    times: int = 1
    then: str = ""

    def fill(self, field: str, label: str, reply: str) -> str:
        """Fill in the payload for a judge, given its reply's field and a reply with the label."""
        values = {"label": label, "field": field, "reply": reply, "quoted": json.dumps(reply)}
        return Template(self.text * self.times + self.then).substitute(values)

    def plant(self, filled: str, text: str) -> str:
        """Put the payload, filled in as `filled`, into a text.

        >>> payload = read_payloads()[0].model_copy(update={"how": "split"})
        >>> payload.plant("one¶two¶three", "It rains. It pours.")
        'It rains. one It pours. two three'
        """
        if self.how == "instead":
            return filled
        if self.how == "split":
            sentences, parts = _SENTENCE_END.split(text), filled.split(CUT)
            mixed = [part for pair in zip(sentences, parts, strict=False) for part in pair]
            n = min(len(sentences), len(parts))
            return " ".join([*mixed, *sentences[n:], *parts[n:]])
        return f"{text}\n{filled}" if self.how == "after" else f"{filled}\n{text}"


def read_payloads() -> list[Payload]:
    """Read all payloads, with controls, in the order of their file."""
    lines = Path(__file__).with_name("payloads.jsonl").read_bytes().splitlines()
    return [Payload.model_validate(orjson.loads(line)) for line in lines]


def fields_for(judge: ItemJudge, payload: Payload) -> list[str]:
    """The inputs of a judge into which a payload goes; inputs of unknown name are sentences."""
    known = TEXT_KINDS if judge.source is None else {judge.source: "passage", **TEXT_KINDS}
    return [name for name in judge.inputs if known.get(name, "sentence") in payload.places]


def honest_items(items: Iterable[ItemRow]) -> list[ItemRow]:
    """The items whose texts contain nothing like an instruction."""
    return [item for item in items if not any(map(looks_like_an_instruction, item.inputs.values()))]
