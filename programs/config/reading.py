"""Read a config: YAML with line numbers, `--set` on top, and errors with a place."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from ...records.reading.problems import InputError, did_you_mean, unreadable
from ...records.reading.settings import (
    HIDDEN,
    Keys,
    NotYaml,
    has_secret,
    is_secret,
    plain_error,
    read_yaml,
    texts_of_file,
    unfit_values,
)
from .base import broken
from .renamed import find_outdated, in_new_words
from .sections import Config, DataConfig, ItemsConfig, RunSection

_NAME = re.compile(r"[\w.-]*")
_OF_ONE_MODEL = ("price", "recording", "engine")  # settings that do not apply to another model


def load_config(
    path: Path | None,
    overrides: Mapping[str, Any],
    sets: Sequence[str] = (),
    model: str | None = None,
    spelled: Mapping[str, str] | None = None,
) -> Config:
    """Load the config of a run.

    Args:
        path: a YAML file, or None for the defaults.
        overrides: values of options by dotted name; they override the file. Their paths are
            relative to the working directory.
        model: the default model: a name under `models:`, or the name of a model.
        sets: `a.b=value` pairs with YAML values; they override everything.
        spelled: what the user typed for an override, by dotted name, such as `--k 3`.

        Raises: InputError with file and line, or option, for each problem.
    """
    data: dict[str, Any] = {}
    lines: dict[Keys, int] = {}
    if path is not None:
        data, lines = _read(path)
        data = texts_of_file(data, path.parent)
    flags: dict[Keys, str] = {}

    def put(names: Iterable[str]) -> None:
        for name in names:
            _put(data, name, overrides[name])
            flags[tuple(name.split("."))] = (spelled or {}).get(name, name)

    of_model = [name for name in overrides if name.startswith("models.default.")]
    put(name for name in overrides if name not in of_model)
    if model is not None:
        _put_model(data, model)
        flags["models", "default"] = f"--model {model}"
    put(of_model)  # they apply to the model that was named
    for pair in sets:
        name, value, shown = _setting(pair)
        try:
            _put(data, name, value)
        except InputError as error:
            raise InputError(f"{shown}: {error}") from None
        flags[tuple(name.split("."))] = shown
    whole = flags.keys() - ({("models", "default")} if model is not None else set())
    lines = {  # without lines of lists and sections that an option replaces
        at: line for at, line in lines.items() if not any(at[:n] in whole for n in range(len(at)))
    }
    wrong = [*unfit_values(data), *find_outdated(data)]
    if wrong:
        raise InputError("\n".join(_locate(at, what, path, lines, flags) for at, what in wrong))
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        parents = {
            e["loc"][:n] for e in errors for n in range(len(e["loc"]))
        }  # a list is not too short if only wrong items were removed
        wanted = [e for e in errors if e["type"] != "too_short" or e["loc"] not in parents]
        messages = [_explain(e, path, lines, flags) for e in wanted]
        raise InputError("\n".join(dict.fromkeys(messages))) from None


def _setting(pair: str) -> tuple[str, Any, str]:
    """Return name and value of a `--set`, and its text for messages, without secret values.

    Raises: InputError.
    """
    name, equals, text = pair.partition("=")
    if not equals:
        shown = _NAME.match(pair)[0] if is_secret(pair) else pair  # type: ignore[index]
        raise InputError(f"--set {shown}: wanted NAME=VALUE, such as run.concurrency=8")
    try:
        value = read_yaml(text)[0]
    except NotYaml as error:
        if is_secret(pair):
            raise InputError(f"--set {name}={HIDDEN}: the value is not plain YAML") from None
        raise InputError(f"--set {pair}: the value is {error}") from None
    hidden = has_secret(name.split("."), value)
    return name, value, f"--set {name}={HIDDEN}" if hidden else f"--set {pair}"


def _read(path: Path) -> tuple[dict[str, Any], dict[Keys, int]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        what = "no such file; `judge init DIR` writes a config to start from"
        raise InputError(f"{path}: {what}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None
    try:
        data, lines = read_yaml(text)
    except NotYaml as error:
        raise InputError(f"{path}:{error.line}: {error}") from None
    if not isinstance(data, dict | None):
        raise InputError(f"{path}:1: wanted sections such as data: and models:")
    return data or {}, lines


def config_before(data: dict[str, Any]) -> Config:
    """Read the config of a finished run, with renamed settings under their new names.

    Drops removed settings, and sections and input files of tasks that are not installed.

    Raises: pydantic's ValidationError.
    """
    data = _keep_known(Config, in_new_words(data))
    if isinstance(data.get("data"), dict):
        data["data"] = _keep_known(DataConfig, data["data"])
    return Config.model_validate(data)


def _keep_known(section: type[BaseModel], data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name in section.model_fields}


def _put(data: dict[str, Any], name: str, value: Any) -> None:
    *parents, last = name.split(".")
    for key in parents:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise InputError(f"{name}: {key} is not a section")
    data[last] = value


def _put_model(data: dict[str, Any], model: str) -> None:
    entries = data.get("models")
    if isinstance(entries, dict) and model in entries:
        _put(data, "models.default", copy.copy(entries[model]))
        return
    default = entries.get("default") if isinstance(entries, dict) else None
    if isinstance(default, dict) and default.get("model") != model:
        still_valid = {name: value for name, value in default.items() if name not in _OF_ONE_MODEL}
        _put(data, "models.default", still_valid)
    _put(data, "models.default.model", model)


def _explain(error: Any, path: Path | None, lines: dict[Keys, int], flags: dict[Keys, str]) -> str:
    at, what = plain_error(error)
    if error["type"] == "extra_forbidden":
        reason = broken.get(at[-1]) if at[:-1] in ((), ("data",)) else None
        what += f": {reason}" if reason else did_you_mean(at[-1], _settings_in(Config, at[:-1]))
    return _locate(at, what, path, lines, flags)


def _settings_in(kind: Any, at: Keys) -> list[str]:
    """List the settings of a section such as `models.default`; [] if its names are free."""
    models = [kind, *get_args(kind)]
    models += [inner for one in models[1:] for inner in get_args(one)]
    for model in models:
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            continue
        if not at:
            return list(model.model_fields)
        field = model.model_fields.get(at[0])
        if field is None:
            continue
        is_free = get_origin(field.annotation) is dict  # the user chooses its keys
        return _settings_in(field.annotation, at[2:] if is_free else at[1:])
    return []


def _locate(
    loc: Keys, what: str, path: Path | None, lines: dict[Keys, int], flags: dict[Keys, str]
) -> str:
    """Return the problem of a setting, after the option or line that it comes from."""
    text = f"{'.'.join(loc) or 'config'}: {what}"
    for keys, flag in flags.items():
        if loc and keys[: len(loc)] == loc:
            return _behind(flag, text)
    for end in range(len(loc), 0, -1):
        if loc[:end] in flags:
            return _behind(flags[loc[:end]], text)
        if loc[:end] in lines:
            return f"{path}:{lines[loc[:end]]}: {text}"
    return f"{path}: {text}" if path is not None else text


def _behind(flag: str, text: str) -> str:
    return text if text.startswith(flag) else f"{flag}: {text}"  # it already has a dotted name


def name_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Return flat settings (`topics`, `out`) under their dotted names.

    Raises: InputError for an unknown flat name.
    """
    named: dict[str, Any] = {}
    flat = (DataConfig, ItemsConfig, RunSection, Config)
    names = {"api_base", *(name for part in flat for name in part.model_fields)}
    for name, value in settings.items():
        if name in DataConfig.model_fields:
            named[f"data.{name}"] = value
        elif name in ItemsConfig.model_fields:
            named[f"items.{name}"] = str(value) if isinstance(value, Path) else value
        elif name in RunSection.model_fields:
            named[f"run.{name}"] = value
        elif name == "api_base":
            named["models.default.api_base"] = value
        elif name in names or "." in name:
            named[name] = value
        else:
            raise InputError(f"{name}: no such setting{did_you_mean(name, names)}")
    return named
