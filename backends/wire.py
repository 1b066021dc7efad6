"""What stands around the user message in a request, written once, and the key of a reply."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

import orjson

from .config import ModelConfig
from .logprobs import label_paths
from .prompt import Prompt

KEY_BYTES = 20  # of the name of a question in the reply cache


class Wire:
    """The fixed bytes of a request around the user message, and the cache key's fixed part.

    Log-probabilities are asked for where the model gives them and the reply holds labels, at
    `paths`; empty: none are asked for, nor for a prompt that sends no schema.
    """

    def __init__(
        self, config: ModelConfig, prompt: Prompt, keys: tuple[tuple[str, ...], ...]
    ) -> None:
        hole = uuid.uuid4().hex
        body: dict[str, Any] = {
            "model": config.wire_name,
            "messages": _with_roles([*prompt.fixed, {"role": "user", "content": hole}], config),
        }
        for name in ("temperature", "top_p", "max_tokens", "seed"):
            if (value := getattr(config, name)) is not None:
                body[config.max_tokens_name if name == "max_tokens" else name] = value
        sends_schema = prompt.sends_schema
        self.paths = label_paths(prompt.schema(keys)) if config.logprobs and sends_schema else {}
        if self.paths:
            body |= {"logprobs": True, "top_logprobs": config.top_logprobs}
        if sends_schema and config.reply_schema == "json_schema":
            form = {"name": prompt.name, "strict": True, "schema": prompt.schema(keys)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif sends_schema and config.reply_schema == "json_object":
            body["response_format"] = {"type": "json_object"}
        body |= config.extra_body
        self._prefix, self._suffix = orjson.dumps(body).split(hole.encode())
        self._hash = hashlib.sha256(orjson.dumps([config.endpoint_id, config.way]))
        self._hash.update(self._prefix + b"\0" + self._suffix + b"\0")
        self._prompt = prompt  # keeps id(prompt) from being given to another

    def body(self, user: bytes) -> bytes:
        """The request as JSON; `user` is the last message, JSON-escaped."""
        return self._prefix + user + self._suffix

    def going_on(self, body: bytes, turns: list[dict[str, str]]) -> bytes:
        """The request of `body` with further messages after its last."""
        end = len(body) - len(self._suffix) + len(b'"}')
        return body[:end] + b"," + orjson.dumps(turns)[1:-1] + body[end:]

    def key(self, user: bytes, replicate: int) -> bytes:
        """KEY_BYTES that name endpoint, model, parameters, schema, messages and replicate."""
        digest = self._hash.copy()
        digest.update(user)
        if replicate:
            digest.update(b"\0replicate %d" % replicate)
        return digest.digest()[:KEY_BYTES]


def _with_roles(messages: list[dict[str, str]], config: ModelConfig) -> list[dict[str, str]]:
    """The messages with the instructions where the endpoint takes them."""
    first, *others = messages
    if config.system_role == "system" or first["role"] != "system":
        return messages
    if config.system_role == "developer":
        return [{**first, "role": "developer"}, *others]
    question, *rest = others
    return [{**question, "content": f"{first['content']}\n\n{question['content']}"}, *rest]
