"""Every example in a docstring is true: one list of all modules that have one."""

import doctest
import importlib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "nuggetjudge"
FOLDERS = sorted(p for p in PACKAGE.iterdir() if (p / "__init__.py").is_file())
MODULES = [
    "nuggetjudge." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    for folder in FOLDERS
    for path in sorted(folder.resolve().rglob("*.py"))
    for path in [folder / path.relative_to(folder.resolve())]
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
