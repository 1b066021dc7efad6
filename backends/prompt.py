"""Compiles a signature once into a request: its template, the form of its reply, and its key."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

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
from .budget import count_longest_reply, get_reply_limit
from .config import ModelConfig
from .replies.logprobs import find_label_paths
from .replies.schema import ReplyFormat, Shape, drop_bounds

Baseline = Callable[[Mapping[str, Any]], dict[str, Any]]
# By output field: a score in [0, 1], or one by key for a map.
Scorer = Callable[[Mapping[str, Any]], dict[str, Any]]

_FENCES = tuple(orjson.dumps(t)[1:-1] for t in (SETTINGS_OPEN, SETTINGS_CLOSE, OPEN, CLOSE + END))
_PROBE = "\ue000probe\ue000"  # a test input, to compare DSPy's output with the template


class Prompt(ReplyFormat):
    """The request for one judge question.

    Args:
        signature: the DSPy signature; its instructions and fields make the prompt.
        demos: worked examples, in DSPy's form.
        baseline: answers the same question by counting words: inputs to output values.
        scorer: confidence of the baseline: inputs to a score by output field.

    `sends_schema`: whether the endpoint receives the schema of the reply and reports its label
    tokens; False for a prompt whose replies are not our JSON.

    `messages(inputs)` equals DSPy's output with JudgeAdapter (asserted when compiled). An input
    with a default may be missing: `of(inputs)` is the prompt without it.
    """

    optional: Mapping[str, Any] = {}  # inputs that a call may omit, with their defaults
    sends_schema = True

    def __init__(
        self,
        signature: type[dspy.Signature],
        demos: Sequence[Mapping[str, Any]] = (),
        baseline: Baseline | None = None,
        scorer: Scorer | None = None,
    ) -> None:
        super().__init__(signature)
        self.baseline = baseline
        self.scorer = scorer
        self.input_names = tuple(signature.input_fields)
        self.optional = defaults(signature)
        self.signature, self.demos = signature, [dict(demo) for demo in demos]
        self._lacking: dict[tuple[str, ...], Prompt] = {}
        self._settings, self._data = split_settings(signature)
        required = (*self._settings[:1], *self._data[:1], *self.optional)
        probe = {name: _PROBE for name in self.input_names if name in required}
        written = JudgeAdapter().format(signature, self.demos, probe)
        self.fixed: list[dict[str, str]] = written[:-1]
        if written[-1]["content"] != self._message(probe):
            raise AssertionError("JudgeAdapter no longer writes the user message as fenced data")

    def of(self, inputs: Mapping[str, Any]) -> Prompt:
        """This prompt, or the one without the inputs that are missing here."""
        if not self.optional:
            return self
        kinds = self.optional.items()
        lacking = tuple([name for name, empty in kinds if inputs.get(name, empty) == empty])
        if not lacking:
            return self
        if (reduced := self._lacking.get(lacking)) is None:
            signature = without(self.signature, lacking)
            reduced = Prompt(signature, self.demos, self.baseline, self.scorer)
            self._lacking[lacking] = reduced
        return reduced

    def user(self, inputs: Mapping[str, Any]) -> str:
        """The last message: the inputs as fenced JSON, in the signature's order."""
        return self.of(inputs)._message(inputs)

    def _message(self, inputs: Mapping[str, Any]) -> str:
        """The settings and data of these inputs, in the signature's order."""
        settings = {name: inputs[name] for name in self._settings if name in inputs}
        data = {name: inputs[name] for name in self._data if name in inputs}
        head = f"{SETTINGS_OPEN}{as_data(settings)}{SETTINGS_CLOSE}" if settings else ""
        return f"{head}{OPEN}{as_data(data)}{CLOSE}{END}"

    def escape_last_message(self, inputs: Mapping[str, Any]) -> bytes:
        """The last message as the content of a JSON string in a request, without quotes.

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
        """Short hash of all words that every call shares; identifies the prompt template."""
        text = orjson.dumps([self.name, self.fixed, self.field_schemas()])
        return hashlib.sha256(text).hexdigest()[:16]


def _escape(inputs: dict[str, Any]) -> bytes:
    """Inputs as the content of a JSON string; they are JSON, so nothing else needs an escape."""
    return data_line(inputs).replace(b"\\", b"\\\\").replace(b'"', b'\\"')


Optional = Literal["bounds", "limit"]  # parts of a request that an endpoint may reject
NOTHING: frozenset[Optional] = frozenset()
_OMITTED = (NOTHING, *map(frozenset, (("bounds",), ("limit",), ("bounds", "limit"))))

KEY_BYTES = 20  # of a question's key in the reply cache


class Wire:
    """The fixed bytes of a request around the user message, and the fixed part of its cache key.

    Log-probabilities are requested if the model supports them and the reply holds labels, at
    `paths`. They are not requested if `paths` is empty or the prompt sends no schema.

    Two parts of a request can be left out if an endpoint rejects them: `bounds`, the allowed
    lengths of texts and lists, and `limit`, the tokens of the longest reply within these bounds.
    The key belongs to the request with its bounds and without a limit: a cut reply is never
    cached.

    Attributes:
        has_bounds: whether the schema that is sent has any.
        n_items: number of items in the question.
        limit: tokens of a reply, from the judge's own bounds. None: the config sets a limit, the
            form of the reply is not ours, or a provider answers, whose models may think first.
    """

    def __init__(self, config: ModelConfig, prompt: Prompt, shape: Shape = ()) -> None:
        hole = uuid.uuid4().hex
        body: dict[str, Any] = {
            "model": config.wire_name,
            "messages": _with_roles([*prompt.fixed, {"role": "user", "content": hole}], config),
        }
        for name in ("temperature", "top_p", "max_tokens", "seed"):
            if (value := getattr(config, name)) is not None:
                body[config.max_tokens_name if name == "max_tokens" else name] = value
        schema = prompt.schema(shape) if prompt.sends_schema else None
        self.n_items = max((len(keys) for keys in shape if isinstance(keys, tuple)), default=1)
        self.paths = find_label_paths(schema) if config.logprobs and schema else {}
        if self.paths:
            body |= {"logprobs": True, "top_logprobs": config.top_logprobs}
        is_open = config.is_own_server and get_reply_limit(config) is None
        self.limit = count_longest_reply(schema) if schema and is_open else None
        plain = drop_bounds(schema)
        is_bounded = config.reply_schema == "json_schema"
        self.has_bounds = is_bounded and schema != plain
        self._suffixes: dict[frozenset[Optional], bytes] = {}
        for omitted in _OMITTED:
            sent = schema if is_bounded and "bounds" not in omitted else plain
            request = body | _form(config, prompt.name, sent) | config.extra_body
            if self.limit is not None and "limit" not in omitted:
                request[config.max_tokens_name] = self.limit
            self._prefix, self._suffixes[omitted] = orjson.dumps(request).split(hole.encode())
        self._hash = hashlib.sha256(orjson.dumps([config.endpoint_id, config.way]))
        asked = self._suffixes[frozenset({"limit"})]
        self._hash.update(self._prefix + b"\0" + asked + b"\0")
        self._prompt = prompt  # keeps id(prompt) unique

    def body(
        self,
        user: bytes,
        omitted: frozenset[Optional] = NOTHING,
        turns: Sequence[dict[str, str]] = (),
    ) -> bytes:
        """The request as JSON.

        Args:
            user: the message after the fixed ones, JSON-escaped.
            omitted: parts that are not sent, see the class.
            turns: further messages.
        """
        suffix = self._suffixes[omitted]
        if not turns:
            return self._prefix + user + suffix
        end = len(b'"}')
        further = b"," + orjson.dumps(list(turns))[1:-1]
        return self._prefix + user + suffix[:end] + further + suffix[end:]

    def key(self, user: bytes, replicate: int) -> bytes:
        """KEY_BYTES that identify endpoint, model, parameters, schema, messages and replicate."""
        digest = self._hash.copy()
        digest.update(user)
        if replicate:
            digest.update(b"\0replicate %d" % replicate)
        return digest.digest()[:KEY_BYTES]


def _form(config: ModelConfig, name: str, schema: dict[str, Any] | None) -> dict[str, Any]:
    """The part of a request that sets the form of the reply."""
    if schema is None or config.reply_schema == "none":
        return {}
    if config.reply_schema == "json_object":
        return {"response_format": {"type": "json_object"}}
    form = {"name": name, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def _with_roles(messages: list[dict[str, str]], config: ModelConfig) -> list[dict[str, str]]:
    """The messages, with the instructions in the role that the endpoint accepts."""
    first, *others = messages
    if config.system_role == "system" or first["role"] != "system":
        return messages
    if config.system_role == "developer":
        return [{**first, "role": "developer"}, *others]
    question, *rest = others
    return [{**question, "content": f"{first['content']}\n\n{question['content']}"}, *rest]
