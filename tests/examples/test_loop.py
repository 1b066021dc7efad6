"""The loop of docs/howto/evaluate.md: what the script prints, and the same from files."""

import runpy
from pathlib import Path

import pytest

import nuggetjudge as nj

ROOT = Path(__file__).resolve().parents[2]


def test_the_script_prints_what_the_page_shows_and_leaves_the_bank_alone(capsys):
    pytest.importorskip("pandas")
    bank = ROOT / "examples" / "demo" / "nuggets.jsonl"
    before = bank.read_bytes()
    runpy.run_path(str(ROOT / "examples" / "loop" / "rag.py"), run_name="__main__")
    out = capsys.readouterr().out
    start = out.index("top-8 is better than top-2")
    table = "\n\n".join(out[start:].split("\n\n")[:2])
    page = (ROOT / "docs" / "howto" / "evaluate.md").read_text("utf-8")
    assert f"```\n{table}\n```" in page
    assert bank.read_bytes() == before


def test_the_first_example_of_the_page_runs_and_its_files_score_the_same(tmp_path):
    page = (ROOT / "docs" / "howto" / "evaluate.md").read_text("utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    printed: list = []
    names: dict = {"print": lambda *values: printed.append(" ".join(map(str, values)))}
    exec(code, names)
    assert "Boats wait for high water." in printed[-1]  # a context of the answer, as it is shown
    samples = names["result"].folder / "samples"
    files = {name: samples / f"{name}.jsonl" for name in ("topics", "passages", "nuggets")}
    again = nj.run(
        program="nuggets,support", runs=str(samples / "runs.jsonl"), model="lexical",
        out=tmp_path / "files", **files,
    )  # fmt: skip
    assert again.scores == names["result"].scores
    assert {row.measure: row.value for row in again.scores}["V_strict"] == 1.0
