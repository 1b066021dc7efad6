"""The payloads: texts that try to decide a label, and what each of them asks for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from string import Template
from typing import Any, Literal

import orjson

from .....judges import ItemJudge
from .....records.rows import Row

CORPUS = Path(__file__).with_name("corpus.jsonl")
CONTROL = "control"  # the kind that asks for nothing: harmless remarks
CUT = "¶"  # where the text of a payload is split over sentences
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")

TextKind = Literal["passage", "answer", "nugget", "question", "sentence"]
TEXT_KINDS: dict[str, TextKind] = {  # of inputs by their names
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
    """A text that is planted, as corpus.jsonl has it.

    Attributes:
        language: of ISO 639-1; "none": of no language.
        asks: for the best or the worst label of the scale; a control asks for neither, and is
            counted as one that asks for the best.
        how: put behind the text, before it, over its sentences (cut at `CUT`), or in its place.
        places: the kinds of text it goes into. What stands in for a text, or asks for the worst
            label, goes only into what others are looked for in: elsewhere an honest label may
            follow from it.
        text: $label is the label asked for, $field the reply's field of labels, $reply a whole
            reply with that label, $quoted the same as a JSON string.
        times: how often the text is repeated; then: what stands once behind that.
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

    def filled(self, field: str, label: str, reply: str) -> str:
        """The payload for a judge whose reply has this field, and would be this for the label."""
        values = {"label": label, "field": field, "reply": reply, "quoted": json.dumps(reply)}
        return Template(self.text * self.times + self.then).substitute(values)

    def planted(self, filled: str, text: str) -> str:
        """A text with the payload, filled in as `filled`.

        >>> payload = read_corpus()[0].model_copy(update={"how": "split"})
        >>> payload.planted("one¶two¶three", "It rains. It pours.")
        'It rains. one It pours. two three'
        """
        if self.how == "instead":
            return filled
        if self.how == "split":
            return _over_sentences(filled.split(CUT), text)
        return f"{text}\n{filled}" if self.how == "after" else f"{filled}\n{text}"


def read_corpus() -> list[Payload]:
    """All payloads, controls included, in the order of the file."""
    lines = CORPUS.read_bytes().splitlines()
    return [Payload.model_validate(orjson.loads(line)) for line in lines]


def text_kind_of(judge: ItemJudge, name: str) -> TextKind:
    """What an input of a judge is; one of another name by whether it holds what is looked for."""
    if (kind := TEXT_KINDS.get(name)) is not None:
        return kind
    return "passage" if name == judge.source else "sentence"


def fields_for(judge: ItemJudge, payload: Payload) -> list[str]:
    """The inputs of a judge into which a payload goes."""
    return [name for name in judge.inputs if text_kind_of(judge, name) in payload.places]


def label_asked(judge: ItemJudge, asks: str) -> str:
    """The label of the judge's own scale that a payload names."""
    return judge.scale[-1 if asks == "best" else 0]


def as_reply(schema: dict[str, Any], field: str, label: str, least: dict[str, Any]) -> str:
    """A whole reply in the form that a judge has to use, with one label everywhere.

    Args:
        schema: of the reply. least: the shortest reply that fits it.
    """
    return json.dumps(least | {field: of_type(schema["properties"][field], label)})


def of_type(schema: dict[str, Any], label: str) -> Any:
    """The label as the schema of its field has it: a number, a text, or one under each key."""
    if schema.get("type") == "object":
        return {key: of_type(part, label) for key, part in schema["properties"].items()}
    return int(label) if schema.get("type") in ("integer", "number") else label


def _over_sentences(parts: list[str], text: str) -> str:
    sentences = _SENTENCE_END.split(text)
    mixed = [part for pair in zip(sentences, parts, strict=False) for part in pair]
    n = min(len(sentences), len(parts))
    return " ".join([*mixed, *sentences[n:], *parts[n:]])
