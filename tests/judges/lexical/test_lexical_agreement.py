"""The lexical judge against people, on the real data that its thresholds were chosen on."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "examples" / "lexical_table.py"


@pytest.fixture(scope="module")
def table():
    """The script behind docs/lexical.md."""
    spec = importlib.util.spec_from_file_location("lexical_table", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def measured(table, shared_data, name):
    found = [table.measure(row, shared_data) for row in table.ROWS if row.name.startswith(name)]
    if None in found:
        pytest.skip(f"{name} not found in {shared_data}")
    return found


def test_nugget_labels_reach_the_row_to_beat(table, shared_data):
    (found,) = measured(table, shared_data, "rag24_nuggets")
    assert found.n > 7000
    assert found.kappa >= 0.52


def test_support_labels_reach_the_row_to_beat(table, shared_data):
    (found,) = measured(table, shared_data, "rag24_support")
    assert found.n > 2000
    assert found.kappa >= 0.40


# What share of query tokens gives, by the notes of the two collections.
@pytest.mark.parametrize(("name", "plain"), [("rag24_relevance", 0.133), ("dl23_llmjudge", 0.145)])
def test_relevance_from_grade_2_on_beats_the_plain_share_of_words(table, shared_data, name, plain):
    found = measured(table, shared_data, name)[1]
    assert found.kappa > plain


def test_answers_in_reports_and_passages_reach_the_row_to_beat(table, shared_data):
    reports, passages, by_a_model = measured(table, shared_data, "crux_duc")
    assert reports.n == 264
    assert reports.kappa >= 0.40
    assert passages.kappa > 0.0
    assert by_a_model.kappa > 0.3


def test_the_cut_for_answers_holds_on_topics_that_it_was_not_chosen_on(table, shared_data):
    if (found := table.held_out(shared_data)) is None:
        pytest.skip(f"crux_duc not found in {shared_data}")
    assert found.n == 264
    assert found.kappa >= 0.40


def test_coverage_orders_reports_as_each_annotator_does(table, shared_data):
    if (found := table.coverage(shared_data)) is None:
        pytest.skip(f"crux_duc not found in {shared_data}")
    n_reports, by_annotator = found
    assert n_reports == 18
    assert all(rho > 0.6 for rho in by_annotator.values())


@pytest.mark.parametrize("name", ["rag24_e2e", "rag25_nuggets"])
def test_importance_is_better_than_chance(table, shared_data, name):
    (found,) = measured(table, shared_data, name)
    assert found.kappa > 0.0


def test_missing_data_is_named_and_left_out(tmp_path):
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert len(ran.stdout.splitlines()) == 2  # the head of the table
    assert "rag24_nuggets: not found" in ran.stderr
