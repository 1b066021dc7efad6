"""The script behind a table of docs/calibration.md prints what the page shows."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "calibration_table.py"
PAGE = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def table():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("calibration_table", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["rag24_nuggets", "rag24_support", "crux_duc", "attributionbench"])
def test_the_page_shows_what_the_first_fit_of_each_set_gives(table, shared_data, name):
    labels = next(labels for labels in table.TABLE if labels.folder == name)
    report = table.measure(labels, shared_data, table.SPLIT)
    if report is None:
        pytest.skip(f"{name} not found in {shared_data}")
    cells = [table._shown(report["figures"]["kappa"][side]) for side in ("before", "after")]
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| {name}: "))
    assert f"{report['n_test']:,} of {report['n_labels']:,} | {report['n_test_topics']}" in row
    assert " | ".join(cells) in row


def test_missing_data_is_named_and_left_out(tmp_path):
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert len(ran.stdout.splitlines()) == 2  # the head of the table
    assert "crux_duc: not found" in ran.stderr
