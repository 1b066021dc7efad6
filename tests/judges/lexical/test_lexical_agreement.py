"""The lexical judge against people, on the real data that its thresholds were chosen on."""

from pathlib import Path

import pytest
from benchmarks.pages import lexical as table
from benchmarks.pages.shown import with_tables

ROOT = Path(__file__).resolve().parents[3]


def measured(shared_data, name):
    measures = [table.measure(row, shared_data) for row in table.ROWS if row.name.startswith(name)]
    if None in measures:
        pytest.skip(f"{name} not found in {shared_data}")
    return measures


def test_nugget_labels_reach_the_row_to_beat(shared_data):
    (measure,) = measured(shared_data, "rag24_nuggets")
    assert measure.n > 7000
    assert measure.kappa >= 0.52


def test_support_labels_reach_the_row_to_beat(shared_data):
    (measure,) = measured(shared_data, "rag24_support")
    assert measure.n > 2000
    assert measure.kappa >= 0.40


# What share of query tokens gives, by the notes of the two collections.
@pytest.mark.parametrize(("name", "plain"), [("rag24_relevance", 0.133), ("dl23_llmjudge", 0.145)])
def test_relevance_from_grade_2_on_beats_the_plain_share_of_words(shared_data, name, plain):
    measure = measured(shared_data, name)[1]
    assert measure.kappa > plain


def test_answers_in_reports_and_passages_reach_the_row_to_beat(shared_data):
    reports, passages, by_a_model = measured(shared_data, "crux_duc")
    assert reports.n == 264
    assert reports.kappa >= 0.40
    assert passages.kappa > 0.0
    assert by_a_model.kappa > 0.3


def test_the_cut_for_answers_holds_on_topics_that_it_was_not_chosen_on(shared_data):
    if (measure := table.held_out(shared_data)) is None:
        pytest.skip(f"crux_duc not found in {shared_data}")
    assert measure.n == 264
    assert measure.kappa >= 0.40


def test_coverage_orders_reports_as_each_annotator_does(shared_data):
    if (coverage := table.coverage(shared_data)) is None:
        pytest.skip(f"crux_duc not found in {shared_data}")
    n_reports, by_annotator = coverage
    assert n_reports == 18
    assert all(rho > 0.6 for rho in by_annotator.values())


@pytest.mark.parametrize("name", ["rag24_e2e", "rag25_nuggets"])
def test_importance_is_better_than_chance(shared_data, name):
    (measure,) = measured(shared_data, name)
    assert measure.kappa > 0.0


def test_the_page_shows_these_figures(shared_data, capsys):
    table.main([str(shared_data)])
    printed = capsys.readouterr()
    if printed.err:
        pytest.skip("some of the data is absent")
    page = (ROOT / "docs" / "lexical.md").read_text(encoding="utf-8")
    assert with_tables(page, printed.out) == (page, 16)
    for name in ("rag24_support", "rag24_relevance", "crux_duc", "ikat24_nugget_match"):
        measures = measured(shared_data, name)
        assert any(f"kappa {x.kappa:.3f}, n {x.n:,}".replace("0.", ".") in page for x in measures)


def test_missing_data_is_named_and_left_out(tmp_path, capsys):
    table.main([str(tmp_path)])
    ran = capsys.readouterr()
    assert len(ran.out.splitlines()) == 2  # the head of the table
    assert "rag24_nuggets: not found" in ran.err
