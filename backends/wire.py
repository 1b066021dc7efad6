"""What stands around the user message in a request, written once, and the key of a reply."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from typing import Any, Literal

import orjson

from .config import ModelConfig
from .logprobs import label_paths
from .prompt import Prompt
from .reply import Shape, without_bounds
from .spending.sizes import longest_reply, reply_limit

Optional = Literal["bounds", "limit"]  # parts of a request that an endpoint need not take
NOTHING: frozenset[Optional] = frozenset()
_LEFT_OUT = (NOTHING, *map(frozenset, (("bounds",), ("limit",), ("bounds", "limit"))))

KEY_BYTES = 20  # of the name of a question in the reply cache


class Wire:
    """The fixed bytes of a request around the user message, and the cache key's fixed part.

    Log-probabilities are asked for where the model gives them and the reply holds labels, at
    `paths`; empty: none are asked for, nor for a prompt that sends no schema.

    Two parts of a request can be left out where an endpoint does not take them: `bounds`, how long
    texts and lists may be, and `limit`, the tokens of the longest reply within these bounds. The
    key is that of the request with its bounds, and without a limit: a reply that was cut is not
    kept.

    Attributes:
        has_bounds: whether the schema that is sent has any.
        n_items: how many things are asked about.
        limit: tokens of a reply, from the judge's own bounds; None: the config says how many, the
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
        self.paths = label_paths(schema) if config.logprobs and schema else {}
        if self.paths:
            body |= {"logprobs": True, "top_logprobs": config.top_logprobs}
        is_open = config.is_own_server and reply_limit(config) is None
        self.limit = longest_reply(schema) if schema and is_open else None
        plain = without_bounds(schema)
        is_bounded = config.reply_schema == "json_schema"
        self.has_bounds = is_bounded and schema != plain
        self._suffixes: dict[frozenset[Optional], bytes] = {}
        for left_out in _LEFT_OUT:
            sent = schema if is_bounded and "bounds" not in left_out else plain
            request = body | _form(config, prompt.name, sent) | config.extra_body
            if self.limit is not None and "limit" not in left_out:
                request[config.max_tokens_name] = self.limit
            self._prefix, self._suffixes[left_out] = orjson.dumps(request).split(hole.encode())
        self._hash = hashlib.sha256(orjson.dumps([config.endpoint_id, config.way]))
        asked = self._suffixes[frozenset({"limit"})]
        self._hash.update(self._prefix + b"\0" + asked + b"\0")
        self._prompt = prompt  # keeps id(prompt) from being given to another

    def body(
        self,
        user: bytes,
        left_out: frozenset[Optional] = NOTHING,
        turns: Sequence[dict[str, str]] = (),
    ) -> bytes:
        """The request as JSON.

        Args:
            user: the message after the fixed ones, JSON-escaped.
            left_out: what is not sent, see the class.
            turns: further messages.
        """
        suffix = self._suffixes[left_out]
        if not turns:
            return self._prefix + user + suffix
        end = len(b'"}')
        further = b"," + orjson.dumps(list(turns))[1:-1]
        return self._prefix + user + suffix[:end] + further + suffix[end:]

    def key(self, user: bytes, replicate: int) -> bytes:
        """KEY_BYTES that name endpoint, model, parameters, schema, messages and replicate."""
        digest = self._hash.copy()
        digest.update(user)
        if replicate:
            digest.update(b"\0replicate %d" % replicate)
        return digest.digest()[:KEY_BYTES]


def _form(config: ModelConfig, name: str, schema: dict[str, Any] | None) -> dict[str, Any]:
    """How the endpoint is told the form of a reply."""
    if schema is None or config.reply_schema == "none":
        return {}
    if config.reply_schema == "json_object":
        return {"response_format": {"type": "json_object"}}
    form = {"name": name, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def _with_roles(messages: list[dict[str, str]], config: ModelConfig) -> list[dict[str, str]]:
    """The messages with the instructions where the endpoint takes them."""
    first, *others = messages
    if config.system_role == "system" or first["role"] != "system":
        return messages
    if config.system_role == "developer":
        return [{**first, "role": "developer"}, *others]
    question, *rest = others
    return [{**question, "content": f"{first['content']}\n\n{question['content']}"}, *rest]
