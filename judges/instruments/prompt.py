"""Turns a prompt file into a judge's prompt: the messages, and replies in the judge's fields."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import dspy
import orjson
from pydantic import ValidationError

from ...backends.errors import JudgeOutputError
from ...backends.prompt import Baseline, Prompt, Scorer
from ...backends.replies.schema import ReplyFormat
from ...backends.replies.text import Written, holds, is_copy
from ...records.judgements import Reason
from .files import Instrument
from .matching import (
    find_fixed_messages,
    find_style,
    kind_of_one,
    only_output,
    reply_reader,
    tool_form,
    user_message,
)
from .replies import ReplyReader
from .templates import COUNT, as_text, fill


class InstrumentPrompt(Prompt):
    """The messages of a judge's question with the prompt of a prompt file.

    The prompt holds the judged text unchanged: it has no fence, and requests neither a reply
    schema nor log-probabilities. The lexical baseline answers it like the judge's own prompt.

    Args:
        signature: the judge's question; outputs other than `output` are not requested, unless
            the reply is the judge's own JSON.
        output: the field of the reply that holds the labels; None: the only one.

    Raises: InputError with file and line for a placeholder that is not an input, an unused input,
        labels that the judge does not have, and a form of reply that does not fit.
    """

    sends_schema = False

    def __init__(
        self,
        instrument: Instrument,
        signature: type[dspy.Signature],
        output: str | None = None,
        baseline: Baseline | None = None,
        scorer: Scorer | None = None,
    ) -> None:
        form = instrument.definition.reply
        if form is None:
            assert instrument.dialect is not None  # our prompt files have a form of reply
            form = tool_form(instrument.dialect, signature, output)
        is_own_json = form.form == "json" and not form.field
        own_signature = signature if is_own_json else only_output(instrument, signature, output)
        ReplyFormat.__init__(self, own_signature)
        self.instrument = instrument
        self.baseline, self.scorer = baseline, scorer
        self.input_names = tuple(signature.input_fields)
        self.fixed = list(find_fixed_messages(instrument, self.input_names))
        self._pieces, self._shown = user_message(instrument, signature)
        self._form = form
        self._styles = {name: find_style(instrument, name) for name in self.input_names}
        self._replies: ReplyReader | None = None
        if not is_own_json:
            ((self._output, field),) = own_signature.output_fields.items()
            self._kind = kind_of_one(field.annotation)
            self._replies = reply_reader(instrument, form, field)

    def user(self, inputs: Mapping[str, Any]) -> str:
        """The last message: the template filled with the unchanged inputs."""
        values = {hole: self._value(name, inputs) for hole, name in self._shown.items()}
        text = fill(self._pieces, values)
        try:
            text.encode()
        except UnicodeEncodeError:  # half a surrogate pair cannot be sent
            return text.encode("utf-8", "replace").decode()
        return text

    def parse(self, text: str, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
        """Read a reply into the judge's output; see ReplyFormat.parse for errors.

        With `inputs`, a list must have one label per item, and a reply of more than a label must
        not occur in one of their texts.
        """
        if self._replies is None:
            return super().parse(text, inputs)
        value, statements = self._replies.read(text)
        if inputs is not None:
            if statements and all(self._is_copy(words, inputs) for words in statements):
                detail = "the judged text contains the reply word for word"
                raise JudgeOutputError(Reason.UNPARSEABLE, detail, text, complaint=None)
            value = self._by_key(value, inputs, text)
        try:
            return self._reader.validate_python({self._output: _convert_labels(value, self._kind)})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            detail = f"{first['msg']}, got {str(first['input'])[:80]!r}"
        except ValueError as error:
            detail = str(error)
        raise JudgeOutputError(Reason.UNPARSEABLE, detail, text)

    def check_window(self, window: int) -> None:
        """Raise InputError if a call asks about more items than the reply can answer."""
        if window > 1 and self._keyed and self._form.form in ("label", "number"):
            what = f"the reply has one label, but a call has up to {window} items; set window: 1"
            raise self.instrument.wrong("reply.form", what)

    def prompt_hash(self) -> str:
        """See Prompt: a hash of the whole template, and of how lists and replies are read."""
        lists = sorted(self._styles.items())
        how = self._form.model_dump(mode="json")
        template = [(piece.text, piece.name) for piece in self._pieces]
        text = [self.name, self.fixed, template, lists, how, self.field_schemas()]
        return hashlib.sha256(orjson.dumps(text)).hexdigest()[:16]

    def _value(self, name: str, inputs: Mapping[str, Any]) -> str:
        if name in self._styles:
            return as_text(inputs.get(name), self._styles[name])
        return str(len(inputs[name.removeprefix(COUNT)]))

    def _is_copy(self, words: str, inputs: Mapping[str, Any]) -> bool:
        if self._form.form == "json":
            return is_copy(Written(words, json.loads(words), is_alone=True), inputs.values())
        return holds(words, inputs.values())

    def _by_key(self, value: Any, inputs: Mapping[str, Any], text: str) -> Any:
        """The value by the keys of the items."""
        if (source := self._keyed.get(self._output)) is None:
            if isinstance(value, dict):
                raise JudgeOutputError(Reason.UNPARSEABLE, "wanted one label, got several", text)
            return value
        keys = list(inputs[source])
        if isinstance(value, dict):
            self.check({self._output: value}, inputs, text)
            return value
        labels = value if isinstance(value, list) else [value]
        if len(labels) < len(keys):
            detail = f"{len(labels)} of {len(keys)} labels"
            raise JudgeOutputError(Reason.INCOMPLETE, detail, text)
        if len(labels) > len(keys):
            detail = f"{len(labels)} labels for {len(keys)} {source}"
            raise JudgeOutputError(Reason.UNPARSEABLE, detail, text)
        return dict(zip(keys, labels, strict=True))


def _convert_labels(labels: Any, kind: Any) -> Any:
    if kind is not int:
        return labels
    if isinstance(labels, dict):
        return {key: int(label) for key, label in labels.items()}
    return [int(label) for label in labels] if isinstance(labels, list) else int(labels)
