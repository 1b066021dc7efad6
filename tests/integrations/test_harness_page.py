"""What the page of harnesses shows is what its code prints."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "harnesses.md"
SHOWN = re.compile(r"```python\n([^`]*)```\nprints\n```\n([^`]*)```")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("tool", "place"), [("dspy", 0), ("ragas", 1)])
def test_the_code_of_the_page_prints_what_stands_below_it(tool, place, tmp_path, monkeypatch):
    pytest.importorskip(tool)
    monkeypatch.chdir(tmp_path)
    found = SHOWN.findall(PAGE.read_text(encoding="utf-8"))
    assert len(found) == 2
    code, printed = found[place]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code, {"__name__": "__main__"})
    assert said.getvalue() == printed
