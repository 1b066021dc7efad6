"""Print the text, rows and hints of commands."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..records.reading.problems import cell as cell
from ..records.reading.problems import escape as escape
from ..records.reading.problems import figure as figure
from ..records.reading.problems import interval as interval
from ..records.reading.problems import write_note as write_note
from ..records.reading.problems import write_text as write_text
from ..views.numbers import format_money

if TYPE_CHECKING:
    from ..records.rows import ScoreRow


def list_agent_work(manifest: Mapping[str, Any]) -> list[str]:
    """Describe what agents used in a run: actual, expected and the limits."""
    expected = {row["agent"]: row["expected"] for row in manifest.get("forecast", ())}
    lines = []
    for stage, of in manifest.get("agents", {}).items():
        parts = []
        # the lexical judge's tokens are not counted
        for what in ("calls", "tokens") if of["tokens"] else ("calls",):
            foreseen = f"expected {expected[stage][what]:,}, " if stage in expected else ""
            parts.append(f"{of[what]:,} {what} ({foreseen}at most {of['most'][what]:,})")
        lines.append(f"{cell(stage)}: {', '.join(parts)} for {of['items']:,} items")
    return lines


def format_spending(spent: Mapping[str, Any]) -> str:
    """Describe requests, tokens and cost from `this_time` of a manifest."""
    return (
        f"{spent['requests']:,} requests, {spent['cache_hits']:,} from the cache, "
        f"{spent['tokens']:,} tokens, cost {format_money(spent['cost'])}"
    )


def write_rows(rows: Iterable[ScoreRow]) -> None:
    """Write score rows to stdout, one JSON object per line."""
    from ..records.scores import score_row

    write_objects(score_row(row) for row in rows)


def write_objects(objects: Iterable[Any]) -> None:
    """Write objects to stdout, one per line; escape control characters in a terminal."""
    import orjson

    is_seen = sys.stdout.isatty()
    for row in objects:
        text = orjson.dumps(row).decode()
        sys.stdout.write((_harmless(text) if is_seen else text) + "\n")


def _harmless(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


# How messages about models name a setting and its new value.
_SETTING = re.compile(
    r"(Set |set )?the model's (api_base|api_key_env|concurrency|extra_body|logprobs"
    r"|max_tokens_name|max_tokens|name|rpm|schema|seed|system_role|temperature|timeout_s|top_p|tpm"
    r"|vllm)\b(?: to (null|false|json_object|user|max_tokens|max_completion_tokens)\b)?"
)
_FLAGS = {"api_base": "--api-base", "name": "--model"}

_entry = ""  # the entry of `models:` in this command's config file, * for several; "": no file


def note_config(path: Path | None, models: Collection[str]) -> None:
    """Make later hints name this config file; None: options."""
    global _entry
    _entry = "" if path is None else next(iter(models)) if len(models) == 1 else "*"


def fit_hint(text: str) -> str:
    """Return the text with model settings named as the user of this command sets them.

    >>> note_config(None, ())
    >>> fit_hint("Set the model's seed to null; check the model's api_base")
    'Add --set models.default.seed=null; check --api-base'
    """
    return _SETTING.sub(_spell, text)


def _spell(match: re.Match[str]) -> str:
    verb, name, value = match.groups(default="")
    if _entry:
        setting = f"models.{_entry}.{'model' if name == 'name' else name}"
        return f"{verb}{setting} to {value}" if value else f"{verb}{setting}"
    if value:
        verb = {"Set ": "Add ", "set ": "add "}.get(verb, "")
        return f"{verb}--set models.default.{name}={value}"
    return f"{verb}{_FLAGS.get(name, f'models.default.{name} (--set)')}"
