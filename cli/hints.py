"""Hints as flags, where a command has no config file; else as settings of the file."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

# How messages of models name a setting, and what to set it to.
_SETTING = re.compile(
    r"(Set |set )?the model's (api_base|api_key_env|concurrency|extra_body|logprobs"
    r"|max_tokens_name|max_tokens|name|rpm|schema|seed|system_role|temperature|timeout_s|top_p|tpm"
    r"|vllm)\b(?: to (null|false|json_object|user|max_tokens|max_completion_tokens)\b)?"
)
_FLAGS = {"api_base": "--api-base", "name": "--model"}

_entry = ""  # the entry of `models:` in this command's config file, * for several; "": no file


def note_config(path: Path | None, models: Collection[str]) -> None:
    """From now on hints are for this config file; None: for flags."""
    global _entry
    _entry = "" if path is None else next(iter(models)) if len(models) == 1 else "*"


def fit_hint(text: str) -> str:
    """The text with each setting of a model as this command was told, or would be.

    >>> note_config(None, ())
    >>> fit_hint("Set the model's seed to null; check the model's api_base")
    'Add --set models.default.seed=null; check --api-base'
    """
    return _SETTING.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    verb, name, value = match.groups(default="")
    if _entry:
        setting = f"models.{_entry}.{'model' if name == 'name' else name}"
        return f"{verb}{setting} to {value}" if value else f"{verb}{setting}"
    if value:
        verb = {"Set ": "Add ", "set ": "add "}.get(verb, "")
        return f"{verb}--set models.default.{name}={value}"
    return f"{verb}{_FLAGS.get(name, f'models.default.{name} (--set)')}"
