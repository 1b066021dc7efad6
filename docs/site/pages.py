"""Write the pages of the Python reference from docstrings while the site is built.

A hook of mkdocs.yml. A pattern in its `nav` becomes the pages of a folder without their own place.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from typing import Any

from mkdocs.structure.files import File, Files

PYTHON = {  # module: the title of its page, and the names that it shows; (): its __all__
    "nuggetjudge": ("nuggetjudge", ()),
    "nuggetjudge.evaluation.result": ("results: scores of a question", ("QuestionScore",)),
    "nuggetjudge.evaluation.comparing": (
        "results: agreement, comparison",
        ("Agreement", "Comparison"),
    ),
    "nuggetjudge.evaluation.samples.reading": (
        "samples",
        ("Sample", "Context", "Nugget", "make_sample"),
    ),
    "nuggetjudge.gates.asserting": ("gates", ("Judged", "Mean")),
    "nuggetjudge.plugins.harnesses.judging": ("integrations", ("SampleJudge", "Explained")),
    "nuggetjudge.judges": ("judges", ()),
    "nuggetjudge.metrics": ("metrics", ()),
    "nuggetjudge.records": ("records", ()),
    "nuggetjudge.agents": ("agents", ()),
    "nuggetjudge.retrieval": ("retrieval", ()),
    "nuggetjudge.calibration": ("calibration", ()),
    "nuggetjudge.programs.protocols.program": ("programs: tasks", ()),
    "nuggetjudge.programs.engine.stage": ("programs: stages", ()),
    "nuggetjudge.programs.protocols.judged_items": ("programs: labels to scores", ()),
    "nuggetjudge.programs.inputs": ("programs: data", ()),
    "nuggetjudge.programs.config.base": (
        "programs: settings and files",
        ("Section", "Input", "JudgeSettings"),
    ),
    "nuggetjudge.programs.engine.label_sheet": ("programs: files of labels to fill in", ()),
}
ELSEWHERE = {"nuggetjudge": ("nuggetjudge.plugins.check.checking.check",)}  # by entry points
INHERITED = ("nuggetjudge",)  # pages whose classes also show what they inherit


def on_files(files: Files, config: Any) -> Files:
    """Add the pages, and put those that patterns of the navigation name in their places."""
    for module, (title, shown) in PYTHON.items():
        page = f"reference/python/{module.rpartition('.')[2]}.md"
        files.append(File.generated(config, page, content=names(module, title, shown)))
    pages = [file.src_uri for file in files.documentation_pages()]
    config.nav = expanded(config.nav, pages, set(_named(config.nav)))
    return files


def names(module: str, title: str, shown: Sequence[str] = ()) -> str:
    """Write the page of a module.

    A function with the name of a folder, which griffe does not see, has a section of its own.

    Args:
        shown: the names to show; (): all public names.
    """
    text = f"# {title}\n\n`import {module}`\n\n::: {module}\n"
    given = importlib.import_module(module)
    # griffe cannot read __all__ where names load late
    public = [name for name in shown or given.__all__ if not name.startswith("__")]
    inherited = "true" if module in INHERITED else "false"
    text += f"    options: {{members: {public}, inherited_members: {inherited}}}\n"
    homes = [f"{getattr(getattr(given, name), '__module__', module)}.{name}" for name in public]
    apart = [path for path in homes if path.startswith(f"{module}.{path.rpartition('.')[2]}.")]
    for path in (*apart, *ELSEWHERE.get(module, ())):
        options = "show_root_heading: true, show_root_full_path: false"
        text += f"\n::: {path}\n    options: {{{options}}}\n"
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
