"""YAML as plain settings: names, texts, numbers, lists and sections, with their lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

import yaml

from .nearest import did_you_mean
from .secret_names import HIDDEN, has_secret

Keys = tuple[str, ...]  # of a value, from the root; positions in a list as text

DEEPEST = 50  # levels; the deepest setting of ours has six
_TAG = "tag:yaml.org,2002:"
_TAGS = {_TAG + name for name in ("str", "int", "float", "bool", "null", "map", "seq")}
_INT64 = 2**63
_PLAINLY = {  # what pydantic says in the terms of its own types
    "extra_forbidden": "no such setting",
    "model_type": "wanted a section of settings",
    "dict_type": "wanted a section of settings",
    "path_type": "wanted a path",
    "int_parsing": "wanted a whole number",
    "int_type": "wanted a whole number",
}
_QUOTED = re.compile(r"'([^']*)'")  # the values that a message of pydantic lists
_INNER = ("literal[", "constrained-", "[key]")  # steps that pydantic adds to a location


class NotYaml(Exception):
    """Text that is no plain YAML; `line` from 1."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


class _Plain(yaml.SafeLoader):
    """Refuses, by line, what a few lines can make endless, and values that cannot be read."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            what = f"*{event.anchor} repeats another value; anchors are not taken, write it out"
            raise NotYaml(line, what)
        if event.tag not in (None, "!", *_TAGS):
            raise NotYaml(line, f"not YAML of plain values (tag {event.tag.replace(_TAG, '!!')})")
        nested = isinstance(event, yaml.CollectionStartEvent)
        self.depth += nested
        if self.depth > DEEPEST:
            raise NotYaml(line, f"nested deeper than {DEEPEST} levels")
        node = super().compose_node(parent, index)
        self.depth -= nested
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Leave `<<`, which would merge another section, without a reader, as any odd tag."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (yaml.YAMLError, NotYaml):
            raise
        except Exception:  # a day 99, a number of 5,000 digits: whatever Python makes of it
            shown = node.value if len(node.value) <= 40 else f"{node.value[:40]}..."
            what = f"not YAML ({shown!r} cannot be read as {node.tag.removeprefix(_TAG)})"
            raise NotYaml(node.start_mark.line + 1, what) from None


class _Words(_Plain):
    """Takes true and false alone for truth values, as YAML 1.2 does."""

    yaml_implicit_resolvers = {  # noqa: RUF012  as in PyYAML
        first: [(tag, shape) for tag, shape in known if tag != f"{_TAG}bool" or first in "tTfF"]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def read_yaml(text: str, *, words: bool = False) -> tuple[Any, dict[Keys, int]]:
    """The value of a YAML text, and the line of each setting in it.

    Anchors, tags of other types and deep nesting are refused, for a few lines of them can make
    a value that is endless.

    Args:
        words: yes, no, on and off are words and not truth values.

    Raises: NotYaml.
    """
    try:
        loader = (_Words if words else _Plain)(text)
        if (node := loader.get_single_node()) is None:
            return None, {}
        lines = dict(_lines(node))
        return loader.construct_document(node), lines
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise NotYaml(line, f"not YAML ({error.reason})") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or error
        raise NotYaml(mark.line + 1 if mark else 1, f"not YAML ({what})") from None


def unfit_values(value: Any, at: Keys = ()) -> Iterator[tuple[Keys, str]]:
    """Where a setting can stand in no config, whatever its name, and why."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                yield (*at, str(key)), f"wanted a name before the colon, got {key!r}"
            elif what := _unfit_text(key):
                yield at, f"a name in it {what}"
            else:
                yield from unfit_values(inner, (*at, key))
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from unfit_values(inner, (*at, str(i)))
    elif isinstance(value, int) and not -_INT64 <= value < _INT64:
        yield at, "wanted a number of at most 64 bits"
    elif isinstance(value, float) and not math.isfinite(value):
        yield at, f"wanted a finite number, got {value}"
    elif isinstance(value, bytes | set | frozenset | date):
        yield at, f"wanted a text, a number, a list or a section, got a {type(value).__name__}"
    elif isinstance(value, str) and (what := _unfit_text(value)):
        yield at, f"the text {what}"


def plain_error(error: Any) -> tuple[Keys, str]:
    """Where a pydantic error is, and what is wrong there, in words of ours.

    Args:
        error: an item of `ValidationError.errors()`. A check of a whole section may name the
            place before a colon, one of free settings the keys below these as `at` of its `ctx`.
    """
    loc: Keys = tuple(str(k) for k in error["loc"] if not str(k).startswith(_INNER))
    loc += tuple(error.get("ctx", {}).get("at", ()))
    what = _PLAINLY.get(error["type"], error["msg"].removeprefix("Value error, "))
    if not loc and ": " in what:
        name, _, what = what.partition(": ")
        loc = tuple(name.split("."))
    elif (
        not isinstance(error["input"], dict)
        and error["type"] != "extra_forbidden"
        and not what.endswith("?")  # asks whether something else was meant: the name is in it
    ):
        is_hidden = has_secret(loc, error["input"])
        what = f"{what}, got {HIDDEN if is_hidden else repr(error['input'])}"
        if error["type"] == "literal_error" and not is_hidden:
            wanted = _QUOTED.findall(error["ctx"]["expected"])
            what += did_you_mean(str(error["input"]), wanted)
    return loc, what


def line_of(loc: Keys, lines: Mapping[Keys, int]) -> int:
    """The line of a setting, or of the innermost section around it that is there; else 1."""
    return next((lines[loc[:end]] for end in range(len(loc), 0, -1) if loc[:end] in lines), 1)


def _unfit_text(text: str) -> str:
    if "\0" in text:
        return "holds a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "holds half a character (a lone surrogate)"
    return ""


def _lines(node: yaml.Node, at: Keys = ()) -> Iterator[tuple[Keys, int]]:
    """The line of each setting. Raises: NotYaml for one that is set twice, or has no name."""
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise NotYaml(line, "wanted a name before the colon")
            if key.value in seen:
                raise NotYaml(line, f"{key.value!r} stands here twice")
            seen.add(key.value)
            yield (*at, key.value), line
            yield from _lines(value, (*at, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield (*at, str(i)), value.start_mark.line + 1
            yield from _lines(value, (*at, str(i)))
