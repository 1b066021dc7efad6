"""examples/learn/ten_minutes.ipynb runs in a kernel, and prints what the page shows."""

import os
import re
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
client = pytest.importorskip("nbclient")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "learn" / "ten-minutes.md").read_text(encoding="utf-8")


def test_the_notebook_runs_from_its_folder_and_prints_what_the_page_shows(tmp_path, monkeypatch):
    for name in ("demo", "learn"):
        (tmp_path / "examples" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "examples" / name).symlink_to(ROOT / "examples" / name)
    (home := tmp_path / "examples" / "here").mkdir()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for name in ("HOME", "XDG_CACHE_HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    notebook = nbformat.read(ROOT / "examples/learn/ten_minutes.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # printed anew, not kept
    path = {"metadata": {"path": str(home)}}
    client.NotebookClient(notebook, timeout=300, resources=path).execute()
    printed = "".join(
        output.text
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "stream"
    )
    (leaderboards,) = re.findall(r"^[$] judge run \S+\n(.*?)\n```", PAGE, re.DOTALL | re.MULTILINE)
    printed = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed.replace("\r\n", "\n"))  # colours
    assert all(part in printed for part in leaderboards.removesuffix("\n...").split("\n...\n"))
    (compared,) = re.findall(r"^```\n(each is .*?)\n```", PAGE, re.DOTALL | re.MULTILINE)
    assert all(part in printed for part in compared.removesuffix("\n...").split("\n...\n"))
    assert re.search(r"^thin: V_strict >= 0\.1\r?$", printed, re.MULTILINE)
