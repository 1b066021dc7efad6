"""The script behind a table of docs/trust/calibration.md prints what the page shows."""

from pathlib import Path

import pytest
from benchmarks.pages import calibration as table

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "trust" / "calibration.md").read_text(encoding="utf-8")
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "name",
    [
        "crux_duc",
        *(
            pytest.param(n, marks=SLOW)
            for n in ("rag24_support", "rag24_nuggets", "attributionbench")
        ),
    ],
)
def test_the_page_shows_what_the_first_fit_of_each_set_gives(shared_data, name):
    labels = next(labels for labels in table.TABLE if labels.folder == name)
    report = table.measure(labels, shared_data, table.SPLIT)
    if report is None:
        pytest.skip(f"{name} not found in {shared_data}")
    cells = [table._shown(report["figures"]["kappa"][side]) for side in ("before", "after")]
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {name}: "))
    assert f"{report['n_test']:,} of {report['n_labels']:,} | {report['n_test_topics']}" in row
    assert " | ".join(cells) in row


def test_missing_data_is_named_and_left_out(tmp_path, capsys):
    table.main([str(tmp_path)])
    ran = capsys.readouterr()
    assert len(ran.out.splitlines()) == 2  # the head of the table
    assert "crux_duc: not found" in ran.err
