"""A signature compiled once: the template of a request, beside what its reply must be."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dspy
import orjson

from .adapter import (
    CLOSE,
    END,
    OPEN,
    SETTINGS_CLOSE,
    SETTINGS_OPEN,
    JudgeAdapter,
    as_data,
    data_line,
    defaults,
    split_settings,
    without,
)
from .reply import ReplyFormat

Twin = Callable[[Mapping[str, Any]], dict[str, Any]]
# By output field: a score in [0, 1], or one by key for a map.
Scorer = Callable[[Mapping[str, Any]], dict[str, Any]]

_FENCES = tuple(orjson.dumps(t)[1:-1] for t in (SETTINGS_OPEN, SETTINGS_CLOSE, OPEN, CLOSE + END))
_PROBE = "\ue000probe\ue000"  # an input, while what DSPy writes is compared with a template


class Prompt(ReplyFormat):
    """What one judge question looks like on the wire.

    Args:
        signature: the DSPy signature; its instructions and fields make the prompt.
        demos: worked examples, as DSPy keeps them.
        twin: answers the same question by counting words, from inputs to output values.
        scorer: how sure the twin is, from inputs to a score by output field.

    `sends_schema`: whether an endpoint is told the form of the reply, and which of its tokens are
    labels; a prompt whose replies are no JSON of ours says no.

    `messages(inputs)` equals what DSPy writes with JudgeAdapter (asserted when compiled). An input
    with a default may be lacking: `of(inputs)` is the prompt that says nothing of it.
    """

    optional: Mapping[str, Any] = {}  # inputs that a call may lack, and what stands for their lack
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
        self.optional = defaults(signature)
        self._signature, self._demos = signature, [dict(demo) for demo in demos]
        self._lacking: dict[tuple[str, ...], Prompt] = {}
        self._settings, self._data = split_settings(signature)
        required = (*self._settings[:1], *self._data[:1], *self.optional)
        probe = {name: _PROBE for name in self.input_names if name in required}
        written = JudgeAdapter().format(signature, self._demos, probe)
        self.fixed: list[dict[str, str]] = written[:-1]
        if written[-1]["content"] != self._message(probe):
            raise AssertionError("JudgeAdapter no longer writes the user message as fenced data")

    def of(self, inputs: Mapping[str, Any]) -> Prompt:
        """This prompt, or the one without the inputs that these lack."""
        if not self.optional:
            return self
        kinds = self.optional.items()
        lacking = tuple([name for name, empty in kinds if inputs.get(name, empty) == empty])
        if not lacking:
            return self
        if (reduced := self._lacking.get(lacking)) is None:
            signature = without(self._signature, lacking)
            reduced = Prompt(signature, self._demos, self.twin, self.scorer)
            self._lacking[lacking] = reduced
        return reduced

    def user(self, inputs: Mapping[str, Any]) -> str:
        """The last message: the inputs as fenced JSON, in the signature's order."""
        return self.of(inputs)._message(inputs)

    def _message(self, inputs: Mapping[str, Any]) -> str:
        """The settings and the data that there are, in the signature's order."""
        settings = {name: inputs[name] for name in self._settings if name in inputs}
        data = {name: inputs[name] for name in self._data if name in inputs}
        head = f"{SETTINGS_OPEN}{as_data(settings)}{SETTINGS_CLOSE}" if settings else ""
        return f"{head}{OPEN}{as_data(data)}{CLOSE}{END}"

    def escaped(self, inputs: Mapping[str, Any]) -> bytes:
        """The last message as it stands in the JSON string of a request, without its quotes.

        Of the prompt for these inputs, see `of`.
        """
        if type(self).user is not Prompt.user:  # a message of another form
            return orjson.dumps(self.user(inputs))[1:-1]
        settings_open, settings_close, opening, closing = _FENCES
        message = opening + _escape({name: inputs[name] for name in self._data}) + closing
        if not self._settings:
            return message
        settings = _escape({name: inputs[name] for name in self._settings})
        return settings_open + settings + settings_close + message

    def messages(self, inputs: Mapping[str, Any]) -> list[dict[str, str]]:
        """All chat messages of one call."""
        prompt = self.of(inputs)
        return [*prompt.fixed, {"role": "user", "content": prompt.user(inputs)}]

    def prompt_hash(self) -> str:
        """Short hash of every word that is the same in all calls; names the instrument."""
        text = orjson.dumps([self.name, self.fixed, self.field_schemas()])
        return hashlib.sha256(text).hexdigest()[:16]


def _escape(inputs: dict[str, Any]) -> bytes:
    """Inputs as they stand in a JSON string; they are JSON, so there is nothing else to escape."""
    return data_line(inputs).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
