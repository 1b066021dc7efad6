"""Prompt files: our format, and templates of other projects, read with their line numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from ...records.reading.problems import InputError, unreadable
from ...records.reading.settings import Keys, check_settings, find_line, read_settings_text
from ...records.rows import Row
from .templates import ListStyle

Text = Annotated[StrictStr, Field(pattern=r"\S")]


def _as_several(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _spell_labels(value: Any) -> Any:
    """Labels as text, even if YAML reads them as numbers or truth values."""
    if not isinstance(value, Mapping):
        return value
    return {_word(key): _word(label) for key, label in value.items()}


def _word(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


Several = Annotated[tuple[Text, ...], BeforeValidator(_as_several)]


class ReplyForm(Row):
    """How a reply is read, and which label of the judge each word means.

    json: one JSON object. Without `field` it is the judge's own reply, as in its built-in prompt;
    with `field`, only that field counts, under any of the names given.
    list: one list, in JSON or Python syntax. label: a label after one of the texts `after`, or,
    without such texts, the whole reply. number: the same for numbers; 2.0 equals 2.
    """

    form: Literal["json", "list", "label", "number"]
    field: Several = ()
    after: Several = ()
    last_line: StrictBool = False  # without a text of `after`, the last line is the label
    labels: Annotated[dict[Text, Text], BeforeValidator(_spell_labels)] = Field(
        default_factory=dict
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.field and self.form != "json":
            raise ValueError(f"field: a reply with form {self.form} has no fields")
        if (self.after or self.last_line) and self.form not in ("label", "number"):
            raise ValueError(f"after: a reply with form {self.form} is read as a whole")
        if self.labels and self.form == "json" and not self.field:
            raise ValueError("labels: remove them: without field, the reply has the judge's labels")
        return self


class Demonstration(Row):
    """A worked example: two unchanged messages before the last one."""

    user: Text
    assistant: Text


class Definition(Row):
    """The content of a prompt file: data only."""

    system: StrictStr | None = None
    user: Text | None = None
    template: Text | None = None
    lists: ListStyle | dict[str, ListStyle] = "numbered"
    texts: dict[str, StrictStr] = Field(default_factory=dict)
    without: Several = ()
    demonstrations: tuple[Demonstration, ...] = ()
    window: Annotated[StrictInt, Field(ge=1, le=10_000)] | None = None
    reply: ReplyForm | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.user is None) == (self.template is None):
            raise ValueError("user: wanted either user: or template: (the path of a tool's file)")
        if self.user is not None and self.reply is None:
            raise ValueError("reply: wanted reply:, which says how to read the reply")
        return self


GROUP = "nuggetjudge.templates"  # of entry points: NAME = "module:object", a Dialect


@dataclass(frozen=True)
class Dialect:
    """How another project writes its prompt templates.

    Attributes:
        read: returns the prompt of a file from its path, its text and, for YAML, its settings with
            their lines; None for a file of another dialect. It raises InputError for a broken file.
        keys: its names for `user` and `system`.
        aliases: placeholder -> inputs; the first that a judge has is meant.
        lists: how it writes lists, by input; other lists are in Python syntax.
        label_reply: how a reply with one label is read.
        list_reply: how a reply with several labels, or with texts, is read.
    """

    read: Callable[[Path, str, Mapping[str, Any], Mapping[Keys, int]], Definition | None]
    keys: Mapping[str, str]
    aliases: Mapping[str, tuple[str, ...]]
    lists: Mapping[str, ListStyle]
    label_reply: ReplyForm
    list_reply: ReplyForm


@dataclass(frozen=True)
class Instrument:
    """A prompt that replaces a judge's own.

    Attributes:
        path: of the prompt file. template: path of the tool's file that it names, or that it is;
            None: the file has the whole prompt.
        sha256: of the content of these files.
        dialect: of `template`.
        lines: of the settings in `path`. tool_lines: of the settings in `template`.
    """

    path: Path
    definition: Definition
    sha256: str
    template: Path | None = None
    dialect: Dialect | None = None
    lines: Mapping[Keys, int] = field(default_factory=dict, repr=False)
    tool_lines: Mapping[Keys, int] = field(default_factory=dict, repr=False)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files of the prompt."""
        return tuple(dict.fromkeys(p for p in (self.path, self.template) if p is not None))

    def wrong(self, at: str, what: str, line: int | None = None) -> InputError:
        """An error with the line of a setting (its name has dots), and the line within its text."""
        keys = tuple(at.split("."))
        within = "" if line is None else f"line {line}: "
        names = self.dialect.keys if self.dialect is not None else {}
        if self.template is None or keys in self.lines or keys[0] not in names:
            return InputError(f"{self.path}:{find_line(keys, self.lines)}: {at}: {within}{what}")
        if not self.tool_lines:  # the whole file is the text
            return InputError(f"{self.template}:{line or 1}: {what}")
        name = names[at]
        where = f"{self.template}:{find_line((name,), self.tool_lines)}: {name}"
        return InputError(f"{where}: {within}{what}")


def read_instrument(path: Path) -> Instrument:
    """Read a prompt file, or a template of another project whose dialect is installed.

    A YAML file in no such dialect is a prompt file of docs/instruments.md. Placeholders are
    checked when a judge gets the prompt.

    Raises: InputError with file and line for every fault.
    """
    text = _read_text(path)
    data: dict[str, Any] = {}
    lines: Mapping[Keys, int] = {}
    if path.suffix != ".txt":
        data, lines = read_settings_text(path, text, "user: and reply:")
        data = _with_named_labels(data)
    for entry in entry_points(group=GROUP):
        dialect: Dialect = entry.load()
        if (theirs := dialect.read(path, text, data, lines)) is not None:
            return Instrument(path, theirs, _hash(text), path, dialect, tool_lines=lines)
    if path.suffix == ".txt":
        raise InputError(f"{path}: no installed package reads such templates, wanted a YAML file")
    definition = check_settings(Definition, data, path, lines)
    if definition.template is None:
        return Instrument(path, definition, _hash(text), lines=lines)
    inner = read_instrument(path.parent / definition.template)
    if inner.template != inner.path:
        what = f"{inner.path} is a prompt file, wanted a template of another project"
        raise InputError(f"{path}:{find_line(('template',), lines)}: template: {what}")
    system = inner.definition.system if definition.system is None else definition.system
    whole = definition.model_copy(update={"user": inner.definition.user, "system": system})
    both = _hash(f"{text}\0{inner.sha256}")
    return Instrument(path, whole, both, inner.path, inner.dialect, lines, inner.tool_lines)


def _with_named_labels(data: dict[str, Any]) -> dict[str, Any]:
    """The settings, with text for the words under `reply.labels`, which may be numbers."""
    reply = data.get("reply")
    labels = reply.get("labels") if isinstance(reply, dict) else None
    if not isinstance(reply, dict) or not isinstance(labels, dict):
        return data
    return {**data, "reply": {**reply, "labels": {str(k): v for k, v in labels.items()}}}


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # editors may add a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
