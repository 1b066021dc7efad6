"""The page about DSPy says what was run, and its example prints what stands below it."""

import ast
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "dspy.md"


def test_each_row_of_the_page_is_a_test():
    rows = re.findall(r"^\|.*\| `(\w+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == len(set(rows)) > 40
    tests = {
        node.name.removeprefix("test_")
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert set(rows) - tests == set()
    table = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    assert len(table) == len(rows) + 1  # the head of the table


def test_the_example_of_the_page(capsys):
    page = PAGE.read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\nprints\n```\n(.*?)```", page, re.S).groups()
    exec(compile(code, str(PAGE), "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == printed
