"""The script behind docs/benchmarks/bm25.md prints what the page shows, but for the times."""

from pathlib import Path

import pytest
from benchmarks.pages import bm25 as table

pytest.importorskip("pyserini", reason="pyserini is not installed; it comes with the extra lucene")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "bm25.md"


def without_times(line):
    return line.split(" | ")[:-2]


@pytest.mark.parametrize("name", ["crux_duc", "rag24_e2e"])
def test_the_page_shows_what_the_script_measures(shared_data, tmp_path, name):
    if not (shared_data / name).is_dir():
        pytest.skip(f"{name} not found in {shared_data}")
    collection = table.COLLECTIONS[name](shared_data / name)
    rows = [table.shown(collection, row) for row in table.measure(collection, tmp_path)]
    lines = PAGE.read_text("utf-8").splitlines()
    shown = [line for line in lines if line.startswith(f"| {name}: ")]
    assert list(map(without_times, shown)) == list(map(without_times, rows))


def test_missing_data_is_named_and_left_out(tmp_path, capsys):
    table.main([str(tmp_path)])
    told = capsys.readouterr()
    head = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")][:2]
    assert told.out.splitlines() == head
    assert told.err.splitlines() == [
        f"{name}: not found in {tmp_path}" for name in ("crux_duc", "rag24_e2e")
    ]
