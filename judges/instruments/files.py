"""Prompt files: ours, and those of nuggetizer and UMBRELA as they are, read with their lines."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...records.reading.problems import InputError, unreadable
from ...records.reading.settings import Keys, checked, line_of, settings_of
from .definition import Definition, ToolTemplate, defined_by_tool

_TOOL_KEYS = {"user": "prefix_user", "system": "system_message"}


@dataclass(frozen=True)
class Instrument:
    """A prompt that takes the place of a judge's own.

    Attributes:
        path: of the prompt file. template: of the tool's file that it names, or is itself; None:
            all words are its own.
        sha256: of the content of these files.
        lines: of the settings in `path`. tool_lines: of those in `template`.
    """

    path: Path
    definition: Definition
    sha256: str
    template: Path | None = None
    lines: Mapping[Keys, int] = field(default_factory=dict, repr=False)
    tool_lines: Mapping[Keys, int] = field(default_factory=dict, repr=False)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that it was read from."""
        return tuple(dict.fromkeys(p for p in (self.path, self.template) if p is not None))

    def wrong(self, at: str, what: str, line: int | None = None) -> InputError:
        """An error with the line of a setting, named with dots, and with that within its text."""
        keys = tuple(at.split("."))
        within = "" if line is None else f"line {line}: "
        if self.template is None or keys in self.lines or keys[0] not in _TOOL_KEYS:
            return InputError(f"{self.path}:{line_of(keys, self.lines)}: {at}: {within}{what}")
        if not self.tool_lines:  # the file is the text
            return InputError(f"{self.template}:{line or 1}: {what}")
        name = _TOOL_KEYS[at]
        where = f"{self.template}:{line_of((name,), self.tool_lines)}: {name}"
        return InputError(f"{where}: {within}{what}")


def read_instrument(path: Path) -> Instrument:
    """Read a prompt file, or a template file of nuggetizer or UMBRELA.

    A `.txt` is a template of UMBRELA; a YAML file with `prefix_user` one of either tool; any other
    YAML is a prompt file as docs/instruments.md has it. Placeholders are checked when the prompt is
    given to a judge.

    Raises: InputError with file and line for all that is wrong.
    """
    text = _text_of(path)
    if path.suffix == ".txt":
        return Instrument(path, _bare_template(path, text), _hash(text), path)
    data, lines = settings_of(path, text, "user: and reply:")
    data = _with_named_labels(data)
    if "prefix_user" in data:
        tool = checked(ToolTemplate, data, path, lines)
        return Instrument(path, defined_by_tool(tool), _hash(text), path, tool_lines=lines)
    definition = checked(Definition, data, path, lines)
    if definition.template is None:
        return Instrument(path, definition, _hash(text), lines=lines)
    inner = read_instrument(path.parent / definition.template)
    if inner.template != inner.path:
        what = f"{inner.path} is a prompt file itself, wanted a file of nuggetizer or UMBRELA"
        raise InputError(f"{path}:{line_of(('template',), lines)}: template: {what}")
    system = inner.definition.system if definition.system is None else definition.system
    whole = definition.model_copy(update={"user": inner.definition.user, "system": system})
    both = _hash(f"{text}\0{inner.sha256}")
    return Instrument(path, whole, both, inner.path, lines, inner.tool_lines)


def _bare_template(path: Path, text: str) -> Definition:
    """A template that is text alone, without white space around it, as umbrela reads it."""
    if not text.strip():
        raise InputError(f"{path}: the file is empty, wanted a template")
    return defined_by_tool(ToolTemplate(prefix_user=text.strip()))


def _with_named_labels(data: dict[str, Any]) -> dict[str, Any]:
    """The same with texts for the words under `reply.labels`, which may be numbers."""
    reply = data.get("reply")
    labels = reply.get("labels") if isinstance(reply, dict) else None
    if not isinstance(reply, dict) or not isinstance(labels, dict):
        return data
    return {**data, "reply": {**reply, "labels": {str(k): v for k, v in labels.items()}}}


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # editors may add a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
