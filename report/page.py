"""The HTML file of a report: data as JSON that is never code, one style sheet, one script.

Nothing is loaded: the content security policy lets this very script and sheet run, by their
hashes, and nothing else, and forbids what could make elements of text (Trusted Types).
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from .bundle import bundle
from .runs.cells import packed_cells
from .sections import SECTIONS
from .source import Source

_WEB = Path(__file__).parent / "web"
_STYLES = ("base.css", "tables.css", "runs.css", "reading.css", "lists.css", "charts.css")
# What could end a script element, or a line of JavaScript, as escapes of JSON.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def write_report(source: Source, out: Path) -> None:
    """Write the report of some results. Raises: InputError for results that cannot be read."""
    found = {one.id: data for one in SECTIONS if (data := one.data(source)) is not None}
    out.write_text("".join(page(_head(source, found), found)), encoding="utf-8")


def page(head: Mapping[str, Any], found: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The parts of the file.

    Args:
        head: what all sections share: title, measures, runs, topics.
        found: data by section.
    """
    sections = [one for one in SECTIONS if one.id in found]
    script = bundle([*((one.id, one.script) for one in sections), ("page", _WEB / "page.js")])
    script += "\nmodules.page.start(modules);\n})();"
    style = "\n".join((_WEB / name).read_text(encoding="utf-8") for name in _STYLES)
    yield f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(head["title"])}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">To the results</a>
<nav aria-label="Sections"></nav>
<main id="main" tabindex="-1"><noscript><p>This page draws by JavaScript, which is off.
The same numbers are in the results folders; <code>judge score</code> prints them.</p></noscript>
</main>
<div class="live" role="status"></div>
"""
    navigation = [
        {"id": one.id, "title": one.title, "count": found[one.id].get("count")} for one in sections
    ]
    yield island("head", {**head, "sections": navigation})
    for section_id, data in found.items():
        yield island(f"data-{section_id}", data)
    yield f"<script>{script}</script>\n</body>\n</html>\n"


def island(name: str, data: Any) -> str:
    """JSON in a script element that no browser runs; no text in it can end the element."""
    text = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS).decode()
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return f'<script type="application/json" id="{html.escape(name)}">{text}</script>\n'


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


def _head(source: Source, found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "title": found["summary"]["title"],
        "measures": source.measures,
        "runs": source.runs,
        "topics": source.topics,
        "cells": packed_cells(source),
    }
