"""A signature compiled once: the template of a request, beside what its reply must be."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dspy
import orjson

from .adapter import CLOSE, OPEN, JudgeAdapter, as_data
from .reply import ReplyFormat

Twin = Callable[[Mapping[str, Any]], dict[str, Any]]
# By output field: a score in [0, 1], or one by key for a map.
Scorer = Callable[[Mapping[str, Any]], dict[str, Any]]

_PROBE = "\ue000probe\ue000"  # stands for the data while a template is cut out of DSPy's messages


class Prompt(ReplyFormat):
    """What one judge question looks like on the wire.

    Args:
        signature: the DSPy signature; its instructions and fields make the prompt.
        demos: worked examples, as DSPy keeps them.
        twin: answers the same question by counting words, from inputs to output values.
        scorer: how sure the twin is, from inputs to a score by output field.

    `sends_schema`: whether an endpoint is told the form of the reply, and which of its tokens are
    labels; a prompt whose replies are no JSON of ours says no.

    `messages(inputs)` equals what DSPy writes with JudgeAdapter (asserted when compiled).
    """

    sends_schema = True

    def __init__(
        self,
        signature: type[dspy.Signature],
        demos: Sequence[Mapping[str, Any]] = (),
        twin: Twin | None = None,
        scorer: Scorer | None = None,
    ) -> None:
        super().__init__(signature)
        self.twin = twin
        self.scorer = scorer
        self.input_names = tuple(signature.input_fields)
        first = self.input_names[0]
        written = JudgeAdapter().format(signature, [dict(d) for d in demos], {first: _PROBE})
        shell = as_data({first: _PROBE})
        self.fixed: list[dict[str, str]] = written[:-1]
        self.head, self.tail = written[-1]["content"].split(shell)
        if (self.head, self.tail) != (OPEN, CLOSE):
            raise AssertionError("JudgeAdapter no longer writes the user message as fenced data")

    def user(self, inputs: Mapping[str, Any]) -> str:
        """The last message: the inputs as fenced JSON, in the signature's order."""
        return f"{OPEN}{as_data({name: inputs[name] for name in self.input_names})}{CLOSE}"

    def messages(self, inputs: Mapping[str, Any]) -> list[dict[str, str]]:
        """All chat messages of one call."""
        return [*self.fixed, {"role": "user", "content": self.user(inputs)}]

    def prompt_hash(self) -> str:
        """Short hash of every word that is the same in all calls; names the instrument."""
        text = orjson.dumps([self.name, self.fixed, self.field_schemas()])
        return hashlib.sha256(text).hexdigest()[:16]
