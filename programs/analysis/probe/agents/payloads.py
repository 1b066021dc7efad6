"""What is planted in passages that an agent finds: texts that try to end it, or to steer it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any, Literal, NamedTuple

import orjson

CORPUS = Path(__file__).with_name("corpus.jsonl")
WORD = "quagga"  # what a steered agent searches for
CONTROL = "control"

Asks = Literal["finish", "search", "nothing"]


class Payload(NamedTuple):
    """A text that is put behind a passage.

    `text`: $label is how the agent is to end, $word what it is to search for, $finish and $search
    a model's whole reply that does so, $passage the id of the passage.
    """

    id: str
    kind: str
    asks: Asks
    text: str

    def filled(self, label: str, finish: Mapping[str, Any], passage_id: str) -> str:
        """The payload, filled in.

        Args:
            finish: the reply that ends with `label`.
        """
        search = {"action": {"tool": "search", "query": WORD}}
        values = {"label": label, "word": WORD, "passage": passage_id}
        values |= {"finish": json.dumps(finish), "search": json.dumps(search)}
        return Template(self.text).substitute(values)


def read_payloads() -> list[Payload]:
    """All payloads, controls included, in the order of corpus.jsonl."""
    return [Payload(**orjson.loads(line)) for line in CORPUS.read_bytes().splitlines()]
