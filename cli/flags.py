"""Make options from settings: name, type, default and help come from the config."""

from __future__ import annotations

import copy
import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BeforeValidator
from pydantic.fields import FieldInfo

from ..programs.config.base import program_names, resolve_program, suggest_program
from ..programs.config.sections import Config, Flag
from .options import ApiBase, Model, Sets
from .signatures import make_options
from .tables import note_config

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        help="Config file; options override it.",
        rich_help_panel="Models",
    ),
]
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_TYPES = {bool: "", int: "int", float: "float", Path: "path", str: "text"}


@dataclass(frozen=True)
class ParsedSettings:
    """The settings on a command line.

    Attributes:
        flags: values of the options that were given, by dotted setting name.
        spelled: what the user typed for each option, by dotted setting name.
        sets: the NAME=VALUE pairs of --set.
        model: the value of --model.
        path: the file of --config.
    """

    flags: Mapping[str, Any]
    spelled: Mapping[str, str]
    sets: Sequence[str]
    model: str | None
    path: Path | None

    @property
    def is_empty(self) -> bool:
        """Whether the command line has no settings."""
        return not (self.flags or self.sets or self.model or self.path)

    def config(self, path: Path | None = None, under: Mapping[str, Any] | None = None) -> Config:
        """Return the config of `path` or --config; `under` and then the options override it.

        Raises: InputError.
        """
        from ..programs.config.reading import load_config

        flags = {**(under or {}), **self.flags}
        note_config(path or self.path, ())
        config = load_config(path or self.path, flags, self.sets, self.model, self.spelled)
        note_config(path or self.path, config.models)
        return config

    def read_config(self, what: str | None) -> Config:
        """Return the config that an argument names: a file, or tasks. None: the file of --config.

        Raises: InputError.
        """
        from ..records.reading.problems import InputError

        if what is None:
            if self.path is None:
                raise InputError(
                    "nothing to do: give a config file, or tasks such as nuggets,support"
                )
            return self.config()
        path = Path(what)
        if path.suffix in (".yaml", ".yml") or path.is_file():
            if self.path is not None:
                raise InputError(
                    f"--config {self.path}: {what} is a config file too; give only one"
                )
            return self.config(path)
        names, all_names = [resolve_program(name) for name in what.split(",")], program_names()
        if unknown := [name for name in names if name not in all_names]:
            programs = ", ".join(all_names)
            meant = suggest_program(unknown[0], all_names)
            meant = "; it is a folder" if path.is_dir() else meant
            raise InputError(
                f"{unknown[0]!r} is neither a config file nor one of {programs}{meant}"
            )
        return self.config(under={"program": names})


def settings(
    names: str = "",
    *,
    model: bool = True,
    config: bool = True,
    helps: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., None]], Any]:
    """Add options for these settings to a command, with --config, --set and --model.

    The command receives their values as its argument `given`, a `ParsedSettings`.

    Args:
        names: dotted setting names separated by spaces, such as `data.topics run.out`.
        model: whether the command has --model and --api-base.
        config: whether the command has --config.
        helps: parameter, such as `out` -> its help here, instead of the help of the setting.
    """
    made = {_parameter(name): name for name in names.split()}
    hints: dict[str, Any] = {each: _annotation(name) for each, name in made.items()}
    hints |= {"model": Model, "api_base": ApiBase} if model else {}
    hints |= {"config": ConfigFile} if config else {}
    hints["sets"] = Sets
    for name, text in (helps or {}).items():
        kind, option = get_args(hints[name])
        option = copy.copy(option)
        option.help = text
        hints[name] = Annotated[kind, option]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        wrapped = make_options(command)
        own = dict(inspect.signature(wrapped).parameters)
        del own["given"]

        @functools.wraps(wrapped)
        def run(**values: Any) -> None:
            by_setting = {name: values.pop(each) for each, name in made.items()}
            flags = {name: value for name, value in by_setting.items() if value is not None}
            spelled = {name: _spell(name, value) for name, value in flags.items()}
            sets, path = values.pop("sets") or (), values.pop("config", None)
            model_name = values.pop("model") if model else None
            if model and (url := values.pop("api_base")) is not None:
                flags["models.default.api_base"] = url
                spelled["models.default.api_base"] = f"--api-base {url}"
            wrapped(given=ParsedSettings(flags, spelled, sets, model_name, path), **values)

        parameters = [
            *(
                inspect.Parameter(name, _KEYWORD, default=None, annotation=hints[name])
                for name in hints
            ),
            *own.values(),
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _field(name: str) -> FieldInfo:
    section, _, last = name.partition(".")
    kind = Config.model_fields[section].annotation
    field: FieldInfo = kind.model_fields[last]  # type: ignore[union-attr]
    return field


def _panel(name: str) -> str:
    """Return the heading of --help for a setting's option."""
    own = next((each for each in _field(name).metadata if isinstance(each, Flag)), Flag())
    return own.panel or name.partition(".")[0].capitalize()


def _flag(name: str) -> str:
    return f"--{_parameter(name).replace('_', '-')}"


def _parameter(name: str) -> str:
    return name.partition(".")[2]


def _spell(name: str, value: Any) -> str:
    flag = _flag(name)
    several = value if isinstance(value, list) else [value]
    return flag if value is True else " ".join(f"{flag} {each}" for each in several)


def _annotation(name: str) -> Any:
    """Return typer's annotation for a setting's option. The config checks the range of values."""
    field = _field(name)
    several = get_origin(field.annotation) in (tuple, dict)
    leaves = _leaves(get_args(field.annotation)[0] if several else field.annotation)
    is_text = len(leaves) > 1 or any(isinstance(each, BeforeValidator) for each in field.metadata)
    kind: Any = leaves[0] if (several or not is_text) and leaves[0] in _TYPES else str
    named = [_name_type(leaf, is_file=get_origin(field.annotation) is tuple) for leaf in leaves]
    option = typer.Option(
        _flag(name),
        help=_help(field, several=several),
        metavar=None if kind is bool else f"<{'|'.join(filter(None, named))}>",
        rich_help_panel=_panel(name),
    )
    return Annotated[(list[kind] if several else kind) | None, option]


def _leaves(kind: Any) -> list[Any]:
    """Return the types that a value may have, without None and validators."""
    if get_origin(kind) is Annotated:
        return _leaves(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        return [leaf for each in get_args(kind) for leaf in _leaves(each)]
    return [] if kind is type(None) else [kind]


def _name_type(kind: Any, *, is_file: bool) -> str:
    """Return the name of a type in --help; settings with several texts are files and patterns."""
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    return _TYPES[Path if is_file and kind is str else kind]


def _help(field: FieldInfo, *, several: bool) -> str:
    text = field.description or ""
    if several:
        text += "; may be repeated"
    elif not isinstance(default := field.get_default(), bool) and default not in (None, ""):
        text += f"; default: {default:g}" if isinstance(default, float) else f"; default: {default}"
    return f"{text[:1].upper()}{text[1:]}."
