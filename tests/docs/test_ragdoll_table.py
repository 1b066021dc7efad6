"""The table of docs/benchmarks/ragdoll-calls.md is what the script counts."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_table_of_the_page_is_what_the_script_prints(capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.delitem(sys.modules, "benchmarks", raising=False)
    from benchmarks.peers import ragdoll

    ragdoll.main()
    table = capsys.readouterr().out
    assert len(table.splitlines()) == 9
    page = ROOT / "docs" / "benchmarks" / "ragdoll-calls.md"
    assert table in page.read_text("utf-8")


@pytest.mark.whole
def test_a_template_of_theirs_is_counted_with_what_goes_into_it():
    sys.path.insert(0, str(ROOT))
    from benchmarks.peers.ragdoll import FIXED, added, windows

    # By RAGDoll's own render_support_prompt: "ab" and "cde" in its template are 1,118 characters.
    assert added([FIXED["support"] + len("ab") + len("cde")]) == (1, 1118)
    assert [len(window) for window in windows(["x"] * 23)] == [10, 10, 3]
