"""Docstrings as pages can show them: sections, exceptions in a table, examples as code."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from typing import Any

import griffe

_SECTION = re.compile(r"^(Returns|Raises|Warns|Yields): (?=\S)")
_INLINE = re.compile(r"\A([^\n]*?\.) (?=(?:Returns|Raises): [^\n]*(?:\n\n|\Z))")  # in one line
_NOTE = re.compile(r"^(Source|Differs|Keys): ")
_EXAMPLE = re.compile(r"^Example: (.*)")
_SHARED = re.compile(r"^(    )(\w+(?:, \w+)+)(: .*(?:\n        .*)*)", re.MULTILINE)
_EXCEPTION = re.compile(r"(?:^|[;.,] (?:and )?)(?=(?:\w+\.)*[A-Z]\w*(?:Error|Unusable|Warning)\b)")


class Sections(griffe.Extension):
    """See griffe: called with each object that was found, and with the whole package."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = with_sections(obj.docstring.value) + list_labels(obj)

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        """Show the value of a default that is a constant: `level=0.95` instead of `level=LEVEL`."""
        for function in list_functions(pkg):
            for parameter in function.parameters:
                if isinstance(parameter.default, griffe.ExprName):
                    value = find_value(parameter.default.canonical_path, loader)
                    parameter.default = value or parameter.default


def list_labels(obj: griffe.Object) -> str:
    """Return a list of the labels of a Label class with their meanings; "" for other objects."""
    if not isinstance(obj, griffe.Class) or [str(base) for base in obj.bases] != ["Label"]:
        return ""
    labels = getattr(importlib.import_module(obj.parent.path), obj.name)
    lines = (f"- `{each}`" + (f": {each.meaning}." if each.meaning else "") for each in labels)
    return "\n\n" + "\n".join(lines)


def list_functions(scope: griffe.Object) -> Iterator[griffe.Function]:
    """Yield the functions of a package, and those of its modules and classes."""
    for member in scope.members.values():
        if isinstance(member, griffe.Function):
            yield member
        elif isinstance(member, griffe.Module | griffe.Class):
            yield from list_functions(member)


def find_value(path: str, loader: griffe.GriffeLoader) -> str | None:
    """Return the literal that a constant has as its value; None if it has another value."""
    try:
        constant = loader.modules_collection[path]
        value = str(constant.value)
        ast.literal_eval(value)
    except (KeyError, AttributeError, ValueError, SyntaxError, griffe.GriffeError):
        return None
    return value


def with_sections(text: str) -> str:
    """Return a docstring whose sections and examples begin on lines of their own, with fences."""
    found: list[str] = []
    is_code = False
    lines = _SHARED.sub(_split_names, _INLINE.sub(r"\1\n\n", text)).split("\n")
    while lines:
        line = lines.pop(0)
        if line.startswith(">>> ") and not is_code:
            found += ["", "```pycon"]
            is_code = True
        elif is_code and not line.strip():
            found.append("```")
            is_code = False
        if section := _SECTION.match(line):
            while lines and lines[0].startswith("    "):
                line += f" {lines.pop(0).strip()}"
            found += _format_section(section[1], line[section.end() :])
            continue
        if note := _NOTE.match(line):
            found += ["", f"**{note[1]}:** {line[note.end() :]}"]
            continue
        if example := _EXAMPLE.match(line):
            found += ["", "```python", example[1], "```", ""]
            continue
        found.append(line)
    return "\n".join([*found, "```"] if is_code else found)


def _format_section(name: str, text: str) -> list[str]:
    """Return a section with a line for each exception or warning that the text names."""
    if name in ("Returns", "Yields"):
        return ["", f"{name}:", f"    {text}"]
    first, *entries = _EXCEPTION.split(text)
    if first:
        return ["", f"**{name}:** {text}"]
    rows = (entry.partition(" ") for entry in entries)
    return ["", f"{name}:", *(f"    {kind.rstrip(':')}: {when}" for kind, _, when in rows)]


def _split_names(shared: re.Match[str]) -> str:
    """Return parameters that are described together with a description each."""
    return "\n".join(f"{shared[1]}{name}{shared[3]}" for name in shared[2].split(", "))
