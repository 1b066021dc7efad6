"""Docstrings as pages can show them: one-line sections (`Returns: text`) and examples as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^(Returns|Raises|Warns|Yields): (?=\S)")
_NOTE = re.compile(r"^(Source|Differs|Keys): ")
_EXAMPLE = re.compile(r"^Example: (.*)")
_SHARED = re.compile(r"^(    )(\w+(?:, \w+)+)(: .*(?:\n        .*)*)", re.MULTILINE)


class Sections(griffe.Extension):
    """See griffe: called with each object that was found."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Write its docstring anew."""
        if obj.docstring is not None:
            obj.docstring.value = with_sections(obj.docstring.value)


def with_sections(text: str) -> str:
    """A docstring whose sections and examples begin on lines of their own, with fences."""
    found: list[str] = []
    is_code = False
    for line in _SHARED.sub(_apart, text).split("\n"):
        if line.startswith(">>> ") and not is_code:
            found += ["", "```pycon"]
            is_code = True
        elif is_code and not line.strip():
            found.append("```")
            is_code = False
        if section := _SECTION.match(line):
            found += ["", f"{section[1]}:"]
            line = f"    {line[section.end() :]}"
        elif note := _NOTE.match(line):
            found += ["", f"**{note[1]}:** {line[note.end() :]}"]
            continue
        elif example := _EXAMPLE.match(line):
            found += ["", "```python", example[1], "```"]
            continue
        found.append(line)
    return "\n".join([*found, "```"] if is_code else found)


def _apart(shared: re.Match[str]) -> str:
    """Parameters that are described in one line, in one line each."""
    return "\n".join(f"{shared[1]}{name}{shared[3]}" for name in shared[2].split(", "))
