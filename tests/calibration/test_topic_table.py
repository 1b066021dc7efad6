"""Labels of the judged topic on real data: what the table of docs/trust/calibration.md says."""

from statistics import mean

import pytest
from benchmarks.pages import topic as table


# Every topic is judged by what the other topics taught, and scored on pairs that gave no label.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["rag24_support from scratch", "rag24_support first citation"])
def test_ten_labels_a_topic_raise_kappa_by_a_tenth(shared_data, name):
    (row,) = (row for row in table.ROWS if row.name == name)
    figures = table.measure(row, shared_data, draws=30)
    if figures is None:
        pytest.skip(f"{name} not found in {shared_data}")
    assert figures.n_topics == 12
    assert figures.weighted >= 0.42
    assert mean(figures.pooled[0]) >= 0.42
    assert mean(figures.pooled[10]) >= 0.52
    assert mean(figures.pooled[40]) >= 0.54


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "rag24_support",
        pytest.param("rag24_nuggets", marks=pytest.mark.slow),
        pytest.param("attributionbench", marks=pytest.mark.slow),
    ],
)
def test_the_weighted_score_agrees_at_least_as_well_as_the_plain_one(shared_data, name):
    row = next(row for row in table.ROWS if row.name.startswith(name))
    figures = table.measure(row, shared_data, draws=1)
    if figures is None:
        pytest.skip(f"{name} not found in {shared_data}")
    assert figures.weighted >= figures.plain
