"""Pages made as the site is built: Python names from docstrings.

A hook of mkdocs.yml. Patterns in its `nav` become the pages of a folder that stand nowhere else.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

from mkdocs.structure.files import File, Files

PYTHON = {  # module: title of its page
    "nuggetjudge": "nuggetjudge",
    "nuggetjudge.evaluation.result": "evaluation: rows by question",
    "nuggetjudge.evaluation.samples.reading": "evaluation: a sample",
    "nuggetjudge.gates.asserting": "gates: assert_judged",
    "nuggetjudge.plugins.harnesses.judging": "integrations: one sample",
    "nuggetjudge.judges": "judges",
    "nuggetjudge.metrics": "metrics",
    "nuggetjudge.records": "records",
    "nuggetjudge.agents": "agents",
    "nuggetjudge.retrieval": "retrieval",
    "nuggetjudge.calibration": "calibration",
    "nuggetjudge.programs.protocols.program": "programs: a program",
    "nuggetjudge.programs.engine.stage": "programs: what it asks",
    "nuggetjudge.programs.protocols.judged_items": "programs: scores of items",
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages, and put those that patterns of the navigation name in their places."""
    for module, title in PYTHON.items():
        page = f"reference/python/{module.rpartition('.')[2]}.md"
        files.append(File.generated(config, page, content=names(module, title)))
    pages = [file.src_uri for file in files.documentation_pages()]
    config.nav = expanded(config.nav, pages, set(_named(config.nav)))
    return files


def names(module: str, title: str) -> str:
    """What a module gives; a function named as a folder, which griffe does not see, by itself."""
    text = f"# {title}\n\n`import {module}`\n\n::: {module}\n"
    given = importlib.import_module(module)
    if public := list(getattr(given, "__all__", ())):  # griffe cannot read it where names load late
        text += f"    options: {{members: {public}}}\n"
    for name in public:
        home = getattr(getattr(given, name), "__module__", module)
        if home.startswith(f"{module}.{name}"):
            text += f"\n::: {home}.{name}\n    options: {{show_root_heading: true}}\n"
    return text


def expanded(entry: Any, pages: list[str], named: set[str]) -> Any:
    """A navigation without patterns: each is the pages that match it and have no other place."""
    if isinstance(entry, str):
        return entry
    if isinstance(entry, dict):
        return {
            title: _matching(below, pages, named)
            if isinstance(below, str) and "*" in below
            else expanded(below, pages, named)
            for title, below in entry.items()
        }
    found: list[Any] = []
    for each in entry:
        is_pattern = isinstance(each, str) and "*" in each
        found += _matching(each, pages, named) if is_pattern else [expanded(each, pages, named)]
    return found


def _matching(pattern: str, pages: list[str], named: set[str]) -> list[str]:
    return [page for page in pages if fnmatch(page, pattern) and page not in named]


def _named(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
        return
    for below in entry.values() if isinstance(entry, dict) else entry:
        yield from _named(below)
