"""Labels of the judged topic on real data: what the table of docs/calibration.md says."""

import importlib.util
import sys
from pathlib import Path
from statistics import mean

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "topic_table.py"


@pytest.fixture(scope="module")
def table():
    """The script behind the table."""
    spec = importlib.util.spec_from_file_location("topic_table", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


# Every topic is judged by what the other topics taught, and scored on pairs that gave no label.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["rag24_support from scratch", "rag24_support first citation"])
def test_ten_labels_a_topic_raise_kappa_by_a_tenth(table, shared_data, name):
    (row,) = (row for row in table.ROWS if row.name == name)
    found = table.measure(row, shared_data, draws=30)
    if found is None:
        pytest.skip(f"{name} not found in {shared_data}")
    assert found.n_topics == 12
    assert found.weighted >= 0.42
    assert mean(found.pooled[0]) >= 0.42
    assert mean(found.pooled[10]) >= 0.52
    assert mean(found.pooled[40]) >= 0.54


@pytest.mark.parametrize(
    "name",
    [
        "rag24_support",
        pytest.param("rag24_nuggets", marks=pytest.mark.slow),
        pytest.param("attributionbench", marks=pytest.mark.slow),
    ],
)
def test_the_weighted_score_agrees_at_least_as_well_as_the_plain_one(table, shared_data, name):
    row = next(row for row in table.ROWS if row.name.startswith(name))
    found = table.measure(row, shared_data, draws=1)
    if found is None:
        pytest.skip(f"{name} not found in {shared_data}")
    assert found.weighted >= found.plain


def test_missing_data_is_named_and_left_out(table, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(tmp_path)])
    table.main()
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2  # the head of the table
    assert "rag24_support from scratch: not found" in printed.err
