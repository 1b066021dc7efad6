"""Reading a config: YAML with line numbers, `--set` on top, and errors that say where."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ...judges.table import kind_of
from ...records.reading.problems import InputError
from ...records.reading.yaml_text import Keys, NotYaml, plain_error, read_yaml, unfit_values
from .sections import Config

_PATHS = (
    *("topics", "candidates", "qrels", "nuggets", "items"),
    *("questions", "reference", "pool", "keypoints", "documents", "index"),
)
_OF_ONE_MODEL = ("price", "recording", "engine")  # what another model does not take over


def load_config(
    path: Path | None,
    overrides: Mapping[str, Any],
    sets: Sequence[str] = (),
    model: str | None = None,
) -> Config:
    """The config of a run.

    Args:
        path: a YAML file, or None to start from the defaults.
        overrides: values from flags by dotted name; they win over the file, paths in them stand
            as they are.
        model: what answers by default: the name of an entry under `models:`, or else of a model.
        sets: `a.b=value` pairs, the value read as YAML; they win over everything.

    Raises: InputError with file and line (or the flag) for each thing that is wrong.
    """
    data: dict[str, Any] = {}
    lines: dict[Keys, int] = {}
    if path is not None:
        data, lines = _read(path)
        _resolve_paths(data, path.parent)
    flags: dict[Keys, str] = {}
    for name, value in overrides.items():
        _put(data, name, value)
        flags[tuple(name.split("."))] = name
    if model is not None:
        _put_model(data, model)
        flags["models", "default"] = f"--model {model}"
    for pair in sets:
        name, equals, text = pair.partition("=")
        if not equals:
            raise InputError(f"--set {pair}: wanted NAME=VALUE, such as run.concurrency=8")
        try:
            _put(data, name, read_yaml(text)[0])
        except NotYaml as error:
            raise InputError(f"--set {pair}: the value is {error}") from None
        except InputError as error:
            raise InputError(f"--set {pair}: {error}") from None
        flags[tuple(name.split("."))] = f"--set {pair}"
    if unfit := [_told(at, what, path, lines, flags) for at, what in unfit_values(data)]:
        raise InputError("\n".join(unfit))
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        found = [_explain(e, path, lines, flags) for e in error.errors(include_url=False)]
        raise InputError("\n".join(dict.fromkeys(found))) from None


def _read(path: Path) -> tuple[dict[str, Any], dict[Keys, int]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    try:
        data, lines = read_yaml(text)
    except NotYaml as error:
        raise InputError(f"{path}:{error.line}: {error}") from None
    if not isinstance(data, dict | None):
        raise InputError(f"{path}:1: wanted sections such as data: and models:")
    return data or {}, lines


def _resolve_paths(data: dict[str, Any], base: Path) -> None:
    section = data.get("data")
    if isinstance(section, dict):
        for name in _PATHS:
            if isinstance(section.get(name), str):
                section[name] = str(base / section[name])
        for name in ("runs", "passages", "ratings", "retrieval"):
            value = section.get(name)
            if isinstance(value, str):
                section[name] = [_pattern(base, value)]
            elif isinstance(value, list):
                section[name] = [_pattern(base, v) if isinstance(v, str) else v for v in value]
    items = data.get("items")
    if isinstance(items, dict) and isinstance(judge := items.get("judge"), str):
        items["judge"] = judge if kind_of(judge) else str(base / judge)
    pipelines = data.get("pipelines")
    several = pipelines.values() if isinstance(pipelines, dict) else ()
    for steps in (data.get("retrieve"), *several):
        for step in steps if isinstance(steps, list) else ():
            _resolve_step(step, base)
    generate = data.get("generate")
    if isinstance(generate, dict) and isinstance(generate.get("instructions"), str):
        generate["instructions"] = str(base / generate["instructions"])
    judges = data.get("judges")
    for entry in judges.values() if isinstance(judges, dict) else ():
        if isinstance(entry, dict) and isinstance(entry.get("state"), str):
            entry["state"] = str(base / entry["state"])
    models = data.get("models")
    for entry in models.values() if isinstance(models, dict) else ():
        if isinstance(entry, dict) and isinstance(entry.get("recording"), str):
            entry["recording"] = str(base / entry["recording"])


def _resolve_step(step: Any, base: Path) -> None:
    """Paths in a step: of a run, and of a Lucene index, which may be a name instead."""
    if not isinstance(step, dict):
        return
    inner = next(iter(step.values()), None)
    settings = inner if len(step) == 1 and isinstance(inner, dict) else step
    if isinstance(path := settings.get("path"), str):
        settings["path"] = str(base / path)
    if isinstance(index := settings.get("index"), str) and (base / index).exists():
        settings["index"] = str(base / index)


def _pattern(base: Path, name: str) -> str:
    """A name or pattern within a folder, whose own name is no pattern whatever it holds."""
    plain = base / name
    with suppress(OSError):
        if plain.exists():
            return str(plain)
    return str(Path(glob.escape(str(base))) / name)


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
        _put(data, "models.default", entries[model])
        return
    default = entries.get("default") if isinstance(entries, dict) else None
    if isinstance(default, dict) and default.get("model") != model:
        kept = {name: value for name, value in default.items() if name not in _OF_ONE_MODEL}
        _put(data, "models.default", kept)
    _put(data, "models.default.model", model)


def _explain(error: Any, path: Path | None, lines: dict[Keys, int], flags: dict[Keys, str]) -> str:
    return _told(*plain_error(error), path, lines, flags)


def _told(
    loc: Keys, what: str, path: Path | None, lines: dict[Keys, int], flags: dict[Keys, str]
) -> str:
    """What is wrong with a setting, behind the flag or the line that it comes from."""
    told = f"{'.'.join(loc) or 'config'}: {what}"
    for keys, flag in flags.items():
        if loc and keys[: len(loc)] == loc:
            return _behind(flag, told)
    for end in range(len(loc), 0, -1):
        if loc[:end] in flags:
            return _behind(flags[loc[:end]], told)
        if loc[:end] in lines:
            return f"{path}:{lines[loc[:end]]}: {told}"
    return f"{path}: {told}" if path is not None else told


def _behind(flag: str, told: str) -> str:
    return told if told.startswith(flag) else f"{flag}: {told}"  # a dotted name is there already
