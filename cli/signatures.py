"""Make options from a command's signature; its docstring describes each parameter."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import typer
from typer.models import ParameterInfo

_HEAD = re.compile(r"(Args|Data|Models|Spending|Output|Input):")  # panels; Args has no panel
_ENTRY = re.compile(r" {4}(\w+)(?: \((.+?)\))?: (.+)")


class OptionRules:
    """Rules for a parameter on the command line, used in `Annotated` beside its type.

    Args:
        names: option names; default: `--` and the parameter's name.
        rules: keyword arguments of typer, such as `exists` and `min`.
    """

    def __init__(self, *names: str, **rules: Any) -> None:
        self.names, self.rules = names, rules


ExistingPath = Annotated[Path, OptionRules(exists=True)]
File = Annotated[Path, OptionRules(exists=True, dir_okay=False)]
Folder = Annotated[Path, OptionRules(exists=True, file_okay=False)]
NewFile = Annotated[Path, OptionRules(dir_okay=False)]
NewFolder = Annotated[Path, OptionRules(file_okay=False)]
Positive = Annotated[int, OptionRules(min=1)]
Share = Annotated[float, OptionRules(min=0, max=1)]
Hidden = Annotated[int | None, OptionRules(min=1, hidden=True)]


class _Entry(NamedTuple):
    help: str
    metavar: str | None = None
    panel: str | None = None


def make_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, with options from its signature and docstring.

    Positional parameters become arguments; keyword-only parameters become options. The docstring
    describes each parameter under `Args:` or under a panel of `--help` such as `Output:`, as
    `name: text` or `name (METAVAR): text`. The rest of the docstring is the help of the command.
    A parameter that is already annotated for typer stays unchanged. A dataclass is a group of
    parameters: each field becomes one, described by the docstring of the dataclass.

    Raises: TypeError if the parameters and the docstring do not match.
    """
    text, entries = _read(inspect.getdoc(command) or "")
    plain = get_type_hints(command)
    made: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for each in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(each.annotation) and each.name != "given":
            groups[each.name] = each.annotation
            group = make_options(groups[each.name])
            made += inspect.signature(group).parameters.values()
            continue
        within = list(_within(each.annotation))
        has_info = typer.Context in within or any(isinstance(x, ParameterInfo) for x in within)
        if not has_info and each.name != "given":
            rules = [one for one in within if isinstance(one, OptionRules)]
            info = _info(each, rules, entries.pop(each.name, None))
            each = each.replace(annotation=Annotated[plain[each.name], info])
        made.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    if entries:
        raise TypeError(f"{command.__name__}: has no parameter {', '.join(entries)}")

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{one.name: values.pop(one.name) for one in fields(group)})
        command(**values)

    run.__doc__ = text
    run.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in made}
    return run


def _info(
    parameter: inspect.Parameter, takes: list[OptionRules], entry: _Entry | None
) -> ParameterInfo:
    rules = {name: value for one in takes for name, value in one.rules.items()}
    if entry is None and not rules.get("hidden"):
        raise TypeError(f"{parameter.name}: the docstring does not describe it")
    if entry is not None:
        rules |= {"help": entry.help, "metavar": entry.metavar, "rich_help_panel": entry.panel}
    if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
        argument: ParameterInfo = typer.Argument(**rules)
        return argument
    names = [name for one in takes for name in one.names]
    if parameter.default is False and not names:
        names = [f"--{parameter.name.replace('_', '-')}"]  # without a --no- form
    option: ParameterInfo = typer.Option(*names, **rules)
    return option


def _within(kind: Any) -> Iterator[Any]:
    """Yield a type and its type arguments."""
    yield kind
    for inner in get_args(kind):
        yield from _within(inner)


def _read(doc: str) -> tuple[str, dict[str, _Entry]]:
    """Split a docstring into its text and the descriptions of parameters."""
    text: list[str] = []
    entries: dict[str, _Entry] = {}
    panel = name = ""
    for line in doc.splitlines():
        if head := _HEAD.fullmatch(line):
            panel = head[1]
        elif not panel:
            text.append(line)
        elif entry := _ENTRY.fullmatch(line):
            name = entry[1]
            entries[name] = _Entry(entry[3], entry[2], None if panel == "Args" else panel)
        elif line:
            entries[name] = entries[name]._replace(help=f"{entries[name].help} {line.strip()}")
    return "\n".join(text).rstrip(), entries
