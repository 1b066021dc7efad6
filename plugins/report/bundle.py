"""JavaScript modules as one script: a page that opens from a file cannot load one from another.

Browsers resolve imports of inline modules only by `blob:` or `data:` addresses, which the page's
content security policy forbids, and there is no bundler in Python. So a module here imports named
functions of files beside it, one `import { ... } from "./path.js"` a statement, and exports
functions, classes and constants where they are declared; each becomes a function's body.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (async function|function|class|const) (\w+)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def bundle(entries: Sequence[tuple[str, Path]]) -> str:
    """One script of these modules and all that they import, each run once, in that order.

    Args:
        entries: (name, file); what a file exports is then in `modules[name]`.

    Raises: ValueError for a statement that is of another form, a circle, or a missing file.
    """
    numbers: dict[Path, int] = {}
    parts: list[str] = []
    for _, path in entries:
        _add(path.resolve(), numbers, parts, ())
    named = ", ".join(f'"{name}": $[{numbers[path.resolve()]}]' for name, path in entries)
    return "\n".join(
        ['"use strict";', "(() => {", "const $ = [];", *parts, f"const modules = {{{named}}};"]
    )


def _add(path: Path, numbers: dict[Path, int], parts: list[str], above: tuple[Path, ...]) -> None:
    if path in above:
        raise ValueError(f"{path}: imports itself by way of {above[-1]}")
    if path in numbers:
        return
    text = path.read_text(encoding="utf-8")
    for names in _IMPORT.finditer(text):
        _add((path.parent / names[2]).resolve(), numbers, parts, (*above, path))

    def wanted(match: re.Match[str]) -> str:
        names = re.sub(r"(\w+) as (\w+)", r"\1: \2", " ".join(match[1].split()))
        return f"const {{ {names.strip()} }} = $[{numbers[(path.parent / match[2]).resolve()]}];"

    exported = [export[2] for export in _EXPORT.finditer(text)]
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(wanted, text))
    if left := _LEFT.search(body):
        raise ValueError(f"{path}: cannot bundle {left[0]!r}")
    numbers[path] = len(numbers)
    parts.append(f"$.push((() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})());")
