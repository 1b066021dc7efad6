"""docs/learn/ten-minutes.md as a notebook: `python docs/site/notebook.py` writes it (`make docs`).

Python blocks and `$ judge ...` lines become cells to run; what stands below them is left out, since
the notebook prints it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "learn" / "ten-minutes.md"
NOTEBOOK = ROOT / "examples" / "learn" / "ten_minutes.ipynb"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_ITSELF = re.compile(r"^This page is also a \[notebook\].*\n\n?", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:|#)([^)]+)\)")
_HOME = "%cd ../.."  # of the kernel: the folder of the notebook


def notebook(page: str) -> dict[str, Any]:
    """A notebook without outputs, in nbformat 4.5."""
    cells = [_cell(kind, text) for kind, text in [("code", _HOME), *parts(page)]]
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": python}, "nbformat": 4, "nbformat_minor": 5}


def parts(page: str) -> Iterator[tuple[str, str]]:
    """The page as `markdown` and `code`, in order."""
    page = _LINK.sub(_from_notebook, _ITSELF.sub("", page))
    done, text = 0, ""
    is_printed = False  # a plain block right below code is what that prints
    for block in _BLOCK.finditer(page):
        before, language, inside = page[done : block.start()], block[1], block[2]
        is_printed = is_printed and not before.strip()
        done = block.end()
        text += before
        is_command = inside.startswith("$ ")
        if language == "python" or is_command:
            if text.strip():
                yield "markdown", text.strip()
            yield "code", "!" + inside[2:].split("\n")[0] if is_command else inside.rstrip()
            text = ""
        elif not is_printed:
            text += block[0]
        is_printed = language == "python"
    yield "markdown", (text + page[done:]).strip()


def _from_notebook(link: re.Match[str]) -> str:
    return f"]({os.path.relpath(PAGE.parent / link[1], NOTEBOOK.parent)})"


def written(found: dict[str, Any]) -> str:
    """As Jupyter writes files."""
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, text: str) -> dict[str, Any]:
    name = sha256(text.encode()).hexdigest()[:8]
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": text.splitlines(keepends=True)}


if __name__ == "__main__":
    NOTEBOOK.write_text(written(notebook(PAGE.read_text(encoding="utf-8"))), encoding="utf-8")
