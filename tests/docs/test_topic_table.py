"""The table of docs/benchmarks/decision-models.md is what its script counts."""

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.delitem(sys.modules, "benchmarks", raising=False)
    from benchmarks.peers import topic

    return topic


def test_requests_and_tokens_of_a_small_topic(script):
    of = script.Topic(
        "why is the sea salty",
        ["Rivers carry salt.", "Rain is fresh."] * 6,
        ["Rivers carry salt to the sea."],
        [f"fact {i}" for i in range(12)],
    )
    # The lengths of what RAGDoll's own render_..._prompt functions write for it, each // 4.
    assert script.count_ragdoll(of) == {
        "relevance": (12, 4074), "nuggetizer": (2, 644), "importance": (2, 390),
        "assigner": (2, 453),
    }  # fmt: skip
    # Windows of 10, of a decision model all items of a text.
    requests = {"relevance": 12, "nuggetizer": 2, "importance": 2, "assigner": 2}
    counts = script.count_ours(of, script.LLM)
    assert {name: count.requests for name, count in counts.items()} == requests
    decided = script.count_ours(of, script.DECISION)
    whole = requests | {"importance": 1, "assigner": 1}
    assert {name: count.requests for name, count in decided.items()} == whole
    assert decided["nuggetizer"] == counts["nuggetizer"]  # an LLM makes them


def test_the_table_of_the_page_is_what_the_script_prints(script, shared_data, capsys):
    if not (shared_data / "rag24_e2e").is_dir():
        pytest.skip(f"rag24_e2e not found in {shared_data}")
    script.main([str(shared_data)])
    table = capsys.readouterr().out
    assert len(table.splitlines()) == 9
    assert table in (ROOT / "docs" / "benchmarks" / "decision-models.md").read_text("utf-8")
