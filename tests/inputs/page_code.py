"""The Python of a page, to be run as it stands there."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def python_of(page: str, word: str) -> str:
    """The first block of Python on a page of docs/ that has this word in it."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return next(b for b in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if word in b)
