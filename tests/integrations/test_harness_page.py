"""What the page of harnesses shows is what its code prints."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "harnesses.md"
SHOWN = re.compile(r"```python\n([^`]*)```\nprints\n```\n([^`]*)```")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("tool", "index"), [("dspy", 0), ("ragas", 1)])
def test_the_code_of_the_page_prints_what_stands_below_it(tool, index, tmp_path, monkeypatch):
    pytest.importorskip(tool)
    monkeypatch.chdir(tmp_path)
    blocks = SHOWN.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 2
    code, printed = blocks[index]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {"__name__": "__main__"})
    assert output.getvalue() == printed
