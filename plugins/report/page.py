"""The HTML file of a report: data as JSON that is never code, one style sheet, one script.

The page loads nothing: its content security policy allows only this script and this style sheet, by
their hashes, and forbids turning text into elements (Trusted Types). Modules are bundled here,
because a page that opens from a file cannot load another file: browsers resolve imports of inline
modules only by addresses that the policy forbids. A module imports named functions from files next
to it, one `import { ... } from "./path.js"` a statement, and exports functions, classes and
constants where it declares them. Each module becomes the body of a function.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...programs.protocols.judgements import Words
from ...programs.protocols.program import Folder
from ...programs.protocols.table import choose, programs
from ...records.reading.problems import InputError, Problems
from ...records.writing import NewFile, remove, rename
from .packing import json_text, pack_cells
from .sections import sections
from .source import Source
from .texts import CutTexts, Wanted, pack_text, pack_texts

_WEB = Path(__file__).parent / "web"
_STYLES = ("base", "sections")
_LARGE = 50_000  # characters of data; more are packed
# JSON escapes of the characters that could end a script element or a line of JavaScript.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def write_report(source: Source, out: Path, wanted: Wanted | None = None) -> None:
    """Write the report of some results with the `wanted` texts; never leave half a file.

    Raises: InputError for results that cannot be read, a file that cannot be written, or an
        existing file that is not a page, such as scores or labels; it is not overwritten.
    """
    _check_replaceable(out)
    data_of = {one.id: data for one in sections() if (data := one.data(source)) is not None}
    head = _head(source, data_of)
    texts = _texts(source, out, wanted or Wanted()) if "answer" in data_of else ()
    _write(out, page(head, data_of, texts))


def page(
    head: Mapping[str, Any],
    data_of: Mapping[str, Mapping[str, Any]],
    texts: Iterable[str] = (),
) -> Iterator[str]:
    """The parts of the file.

    Args:
        head: what all sections share: title, results (names of folders), measures, runs, topics.
        data_of: data by section.
        texts: islands after the script: the page is drawn before they are read.
    """
    drawn = [one for one in sections() if one.id in data_of]
    script = bundle([*((one.id, one.script) for one in drawn), ("page", _WEB / "page.js")])
    script += "\nmodules.page.start(modules);\n})();"
    style = "\n".join((_WEB / f"{name}.css").read_text(encoding="utf-8") for name in _STYLES)
    yield f"""<!doctype html>
<html lang="en" data-results="{html.escape(head.get("results", ""))}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(head["title"])}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the results</a>
<nav aria-label="Sections"></nav>
<main id="main" tabindex="-1"><noscript><p>This page needs JavaScript, which is off.
<code>judge score</code> prints the same numbers from the results folders.</p></noscript>
</main>
<div class="live" role="status"></div>
"""
    navigation = [
        {"id": one.id, "title": one.title, "count": data_of[one.id].get("count")} for one in drawn
    ]
    shared = {name: value for name, value in head.items() if name != "cells"}
    yield island("head", {**shared, "sections": navigation})
    yield write_packed_island("cells", head.get("cells", {}))
    for section_id, data in data_of.items():
        yield write_packed_island(f"data-{section_id}", data)
    yield f"<script>{script}</script>\n"
    yield from texts
    yield "</body>\n</html>\n"


def write_packed_island(name: str, data: Any) -> str:
    """An `island` of small data; large data is gzipped and base64, a fourth of the size."""
    text = json_text(data)
    if len(text) < _LARGE:
        return _island(name, text)
    return f'<script type="application/gzip" id="{html.escape(name)}">{pack_text(text)}</script>\n'


def island(name: str, data: Any) -> str:
    """JSON in a script element that no browser runs; no text in it can end the element."""
    return _island(name, json_text(data))


def _island(name: str, text: str) -> str:
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return f'<script type="application/json" id="{html.escape(name)}">{text}</script>\n'


def _texts(source: Source, out: Path, wanted: Wanted) -> Iterator[str]:
    """One island for the texts of each topic, then the index of the islands."""
    topics: dict[str, list[int]] = {}
    cut = CutTexts()
    for number, one in enumerate(pack_texts(source, wanted, cut)):
        topics.setdefault(one.topic, []).append(number)
        yield f'<script type="text/plain" id="texts-{number}">{one.packed}</script>\n'
    if cut.is_short:
        source.problems.skip(out, 0, "texts_left_out", str(cut))
    yield island("texts", {"topics": topics, "left": cut.as_json()})


def _check_replaceable(out: Path) -> None:
    if not out.exists():
        return
    if not out.is_file():
        raise InputError(f"{out}: is not a file; choose another --out")
    with out.open("rb") as file:
        start = file.read(1024)
    if start.strip() and not start.lstrip().lower().startswith(b"<!doctype html"):
        raise InputError(f"{out}: not overwritten, because it is not a page; choose another --out")


def _write(out: Path, parts: Iterable[str]) -> None:
    part = out.with_name(f"{out.name}.part")
    try:
        with NewFile(part) as file:
            for text in parts:
                file.write(text.encode())
        rename(part, out)
    finally:
        remove(part)


def policy(script: str, style: str) -> str:
    """The content security policy of a page with this one script and this one style sheet."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'sha256-{_hash(script)}'",
            f"style-src 'sha256-{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _head(source: Source, data_of: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "title": data_of["summary"]["title"],
        "results": "-".join(source.name_path(path).resolve().name for path in source.paths)[:80],
        "measures": source.measures,
        "runs": source.runs,
        "topics": source.topics,
        "cells": pack_cells(source),
        "kinds": _kinds(source),
    }


def _kinds(source: Source) -> dict[str, Any]:
    """By task, the words for its items and labels."""
    kinds = {one.name: one.words for one in programs() if one.words is not None}
    for path in source.paths:
        for one in choose(Folder(path, Problems()).programs):
            labels = one.labels(path) if one.matrix and one.name not in kinds else ()
            if labels:
                kinds[one.name] = Words.plain(one.name, labels)
    return {name: _as_json(words) for name, words in kinds.items() if words is not None}


def _as_json(words: Words) -> dict[str, Any]:
    penalties = words.penalties and _as_json(words.penalties)
    several = words.several or f"{words.item}s"
    return {**words._asdict(), "several": several, "penalties": penalties}


_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (async function|function|class|const) (\w+)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def bundle(entries: Sequence[tuple[str, Path]]) -> str:
    """One script of these modules and everything they import, each run once, in this order.

    Args:
        entries: (name, file); `modules[name]` then has the exports of the file.

    Raises: ValueError for a statement of another form or an import cycle.
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
        raise ValueError(f"{path}: import cycle through {above[-1]}")
    if path in numbers:
        return
    text = path.read_text(encoding="utf-8")
    for names in _IMPORT.finditer(text):
        _add((path.parent / names[2]).resolve(), numbers, parts, (*above, path))

    def replace_island(match: re.Match[str]) -> str:
        names = re.sub(r"(\w+) as (\w+)", r"\1: \2", " ".join(match[1].split()))
        return f"const {{ {names.strip()} }} = $[{numbers[(path.parent / match[2]).resolve()]}];"

    exported = [export[2] for export in _EXPORT.finditer(text)]
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(replace_island, text))
    if left := _LEFT.search(body):
        raise ValueError(f"{path}: cannot bundle {left[0]!r}")
    numbers[path] = len(numbers)
    parts.append(f"$.push((() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})());")


def write_page(
    folder: Path,
    path: Path,
    problems: Problems,
    *,
    labels: Sequence[Path] = (),
    named: Path | None = None,
) -> None:
    """Write the page of a results folder, which the page calls `named`, and note problems.

    Raises: InputError for labels that cannot be read.
    """
    names = [] if named is None else [named]
    write_report(Source([folder], problems, labels=labels, named=names), path)
