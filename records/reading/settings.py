"""Files of settings, YAML or JSON, as checked models: each error has its line.

Paths in a file are relative to the file. Secret settings are recognised by name.
"""

from __future__ import annotations

import glob
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ValidationError

from .problems import InputError, did_you_mean, unreadable

HIDDEN = "***"
_SECRET = re.compile(
    r"(key|token|passw(or)?d|pwd|passphrase|secrets?|auth|authorization|bearer|credentials?|cookie)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]+")


def is_secret(name: str) -> bool:
    """Whether a word of the name ends like the name of a secret.

    >>> is_secret("models.default.api_key"), is_secret("X-Auth-Token"), is_secret("run.max_tokens")
    (True, True, False)
    """
    return any(map(_SECRET.search, _WORD.findall(name)))


def has_secret(names: Iterable[str], value: Any) -> bool:
    """Whether a value under these names is secret, or has a secret name, at any depth."""
    if any(map(is_secret, names)):
        return True
    if isinstance(value, dict):
        return any(has_secret([str(name)], inner) for name, inner in value.items())
    if isinstance(value, list | tuple):
        return any(has_secret((), inner) for inner in value)
    return False


class FileText(str):
    """A text of a config file that knows the file's folder."""

    folder: Path


def texts_of_file(value: Any, folder: Path) -> Any:
    """The value of a config file, with each text in it as a `FileText`."""
    if isinstance(value, dict):
        return {key: texts_of_file(inner, folder) for key, inner in value.items()}
    if isinstance(value, list):
        return [texts_of_file(inner, folder) for inner in value]
    if isinstance(value, str):
        value = FileText(value)
        value.folder = folder
    return value


def beside(value: Any) -> Any:
    """The path that a text of a config file names; anything else unchanged."""
    return value.folder / value if isinstance(value, FileText) else value


def _pattern(value: Any) -> Any:
    """A name or pattern in the file's folder, whose own name never counts as a pattern."""
    if not isinstance(value, FileText):
        return str(value) if isinstance(value, Path) else value
    if _is_there(value):
        return str(beside(value))
    return str(Path(glob.escape(str(value.folder))) / value)


def _path_or_name(value: Any) -> Any:
    return str(beside(value)) if isinstance(value, FileText) and _is_there(value) else value


def text_or_file(value: Any) -> Any:
    """A Path, relative to the config file, if the text names a file there; otherwise the text.

    A text that ends in `.txt` or `.md` is always a file name.
    """
    if not isinstance(value, str) or "\n" in value:
        return value
    path = Path(beside(value))
    with suppress(OSError, ValueError):
        if path.suffix in (".txt", ".md") or path.is_file():
            return path
    return str(value)


def _is_there(text: FileText) -> bool:
    with suppress(OSError):
        return (text.folder / text).exists()
    return False


InputPath = Annotated[Path, BeforeValidator(beside)]
InputPattern = Annotated[str, BeforeValidator(_pattern)]  # of one or more files
TextOrFile = Annotated[Path | str, BeforeValidator(text_or_file)]
PathOrName = Annotated[str, BeforeValidator(_path_or_name)]  # a path, or a known name

Keys = tuple[str, ...]  # path of a value from the root; list positions as text

DEEPEST = 50  # levels; our deepest setting has six
_TAG = "tag:yaml.org,2002:"
_TAGS = {_TAG + name for name in ("str", "int", "float", "bool", "null", "map", "seq")}
_INT64 = 2**63
_PLAINLY = {  # plain words for pydantic's messages
    "extra_forbidden": "no such setting",
    "model_type": "wanted a section of settings",
    "dict_type": "wanted a section of settings",
    "path_type": "wanted a path",
    "int_parsing": "wanted a whole number",
    "int_type": "wanted a whole number",
}
_QUOTED = re.compile(r"'([^']*)'")  # values in a message of pydantic
_INNER = ("literal[", "constrained-", "[key]")  # parts that pydantic adds to a location


class NotYaml(Exception):
    """Text that is not plain YAML; `line` from 1."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


class _Plain(yaml.SafeLoader):
    """Refuses, with the line, constructs that can become endless, and unreadable values."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            what = f"*{event.anchor} repeats another value; anchors are not supported, write it out"
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
        """Give `<<`, which would merge another section, no reader, like any unknown tag."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (yaml.YAMLError, NotYaml):
            raise
        except Exception:  # such as a day 99, or a number of 5,000 digits
            shown = node.value if len(node.value) <= 40 else f"{node.value[:40]}..."
            what = f"not YAML ({shown!r} cannot be read as {node.tag.removeprefix(_TAG)})"
            raise NotYaml(node.start_mark.line + 1, what) from None


class _Words(_Plain):
    """Reads only true and false as truth values, as YAML 1.2 does."""

    yaml_implicit_resolvers = {  # noqa: RUF012  as in PyYAML
        first: [(tag, shape) for tag, shape in known if tag != f"{_TAG}bool" or first in "tTfF"]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def read_yaml(text: str, *, words: bool = False) -> tuple[Any, dict[Keys, int]]:
    """Read the value of a YAML text, and the line of each setting in it.

    Anchors, tags of other types and deep nesting are refused, because a few lines of them can
    make an endless value.

    Args:
        words: yes, no, on and off are words, not truth values.

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
    """Places of values that no config can have, and why."""
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
    """Place and fault of a pydantic error, in plain words.

    Args:
        error: an item of `ValidationError.errors()`. A check of a whole section may give the place
            before a colon; a check of free settings may give the keys below as `at` in its `ctx`.
    """
    loc: Keys = tuple(str(k) for k in error["loc"] if not str(k).startswith(_INNER))
    loc += tuple(error.get("ctx", {}).get("at", ()))
    if error["type"] == "union_tag_invalid":
        tag, wanted = error["ctx"]["tag"], _QUOTED.findall(error["ctx"]["expected_tags"])
        name = error["ctx"]["discriminator"].strip("'")
        near = did_you_mean(tag, wanted)
        return loc, f"unknown {name} {tag!r}; wanted one of {', '.join(wanted)}{near}"
    what = _PLAINLY.get(error["type"], error["msg"].removeprefix("Value error, "))
    if not loc and ": " in what:
        name, _, what = what.partition(": ")
        loc = tuple(name.split("."))
    elif (
        not isinstance(error["input"], dict)
        and error["type"] != "extra_forbidden"
        and not what.endswith("?")  # a suggestion, which already has the name
    ):
        is_hidden = has_secret(loc, error["input"])
        what = f"{what}, got {HIDDEN if is_hidden else repr(error['input'])}"
        if error["type"] == "literal_error" and not is_hidden:
            wanted = _QUOTED.findall(error["ctx"]["expected"])
            what += did_you_mean(str(error["input"]), wanted)
    return loc, what


def find_line(loc: Keys, lines: Mapping[Keys, int]) -> int:
    """The line of a setting, or of the innermost section around it that exists; otherwise 1."""
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
    """The line of each setting. Raises: NotYaml for a repeated setting, or one without a name."""
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise NotYaml(line, "wanted a name before the colon")
            if key.value in seen:
                raise NotYaml(line, f"{key.value!r} occurs twice")
            seen.add(key.value)
            yield (*at, key.value), line
            yield from _lines(value, (*at, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield (*at, str(i)), value.start_mark.line + 1
            yield from _lines(value, (*at, str(i)))


Model = TypeVar("Model", bound=BaseModel)


def read_settings_text(
    path: Path, text: str, such_as: str
) -> tuple[dict[str, Any], Mapping[Keys, int]]:
    """The settings of a file and their lines; `yes`, `no`, `on` and `off` are words in it.

    Args:
        such_as: examples of its settings, for errors.

    Raises: InputError.
    """
    try:
        data, lines = read_yaml(text, words=True)
    except NotYaml as error:
        raise InputError(f"{path}:{error.line}: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"{path}:1: wanted settings such as {such_as}")
    return data, lines


def check_settings(
    model: type[Model], data: Mapping[str, Any], path: Path, lines: Mapping[Keys, int]
) -> Model:
    """The settings as a model. Raises: InputError with file and line for every fault."""
    wrong = list(unfit_values(dict(data)))
    if not wrong:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            wrong = [plain_error(detail) for detail in error.errors(include_url=False)]
    complaints = [f"{path}:{find_line(at, lines)}: {'.'.join(at)}: {what}" for at, what in wrong]
    raise InputError("\n".join(dict.fromkeys(complaints)))


Read = TypeVar("Read", bound=BaseModel)


def parse_json_file(path: Path, what: str) -> tuple[str, Any]:
    """The text of a file and its content. See `read_json_file`."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors may add a byte order mark
        return text, json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON ({error.msg}), wanted {what}") from None
    except RecursionError:
        raise InputError(f"{path}: not {what}, its JSON is nested too deeply") from None
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None


def read_json_file(path: Path, kind: type[Read], format: str, what: str) -> Read:
    """Read a JSON file as a model.

    Args:
        kind: the model. format: the required value of its field `format`.
        what: the name of such a file, with its article, for errors.

    Raises: InputError with file, line and what was wanted.
    """
    text, row = parse_json_file(path, what)
    if not isinstance(row, dict) or row.get("format") != format:
        raise InputError(f"{path}: not {what}, wanted format {format!r}")
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        parts = [*map(str, first["loc"]), first["msg"].removeprefix("Value error, ")]
        got = "" if isinstance(first["input"], dict | list) else f", got {first['input']!r:.80}"
        raise InputError(f"{path}: {': '.join(parts)}{got}") from None
