"""Corrected scores of recorded LLM judges and TREC nuggets, held against all human labels."""

import numpy as np
import pytest
from benchmarks.pages import corrected as table


@pytest.fixture(scope="module")
def graded(shared_data):
    """(judges from best to worst kappa, outcomes by judge and measure), 10% of the labels."""
    pairs = table.read_graded(shared_data)
    if pairs is None:
        pytest.skip(f"dl23_llmjudge not found in {shared_data}")
    ranked = sorted(pairs.judges, key=pairs.kappa, reverse=True)[::3]
    return ranked, table.graded_outcomes(pairs, ranked, share=0.1, draws=150)


@pytest.fixture(scope="module")
def assigned(shared_data):
    """The vital nuggets of TREC 2024 by people and by the lexical judge."""
    nuggets = table.read_assigned(shared_data)
    if nuggets is None:
        pytest.skip(f"rag24_nuggets not found in {shared_data}")
    return nuggets


@pytest.mark.slow
def test_intervals_from_a_tenth_of_the_labels_hold_the_score_by_all_of_them(graded):
    _, by_judge = graded
    outcomes = [one for of_judge in by_judge.values() for one in of_judge]
    assert len(outcomes) == 11 * 4 * 150
    # Judges of one draw share its labels, so 150 draws are known to about 2%.
    assert 0.91 <= table.mean(outcomes, "holds_these") <= 0.98
    assert table.mean(outcomes, "holds_like") >= 0.95


@pytest.mark.slow
def test_a_better_judge_makes_shorter_intervals(graded):
    ranked, outcomes = graded
    widths = [table.mean(outcomes[judge, "mean_gain"], "width_these") for judge in ranked]
    assert np.mean(widths[:4]) < 0.88
    assert np.mean(widths[:4]) < np.mean(widths[-4:])
    assert max(widths) < 1.01


def test_half_of_the_labels_move_v_strict_towards_the_scores_of_assessors(assigned):
    outcomes = table.assigned_outcomes(assigned, share=0.5, draws=10)
    judged = table.mean(outcomes, "judged_error")
    corrected = table.mean(outcomes, "corrected_error")
    assert corrected < 0.75 * judged
    assert corrected < 0.9 * table.mean(outcomes, "human_error")
    assert 0.92 <= table.mean(outcomes, "holds_these") <= 0.98
    assert table.mean(outcomes, "width_these") < 0.9


def test_the_script_says_which_data_it_did_not_find(tmp_path, capsys):
    table.main([str(tmp_path)])
    done = capsys.readouterr()
    assert done.out == ""
    assert "dl23_llmjudge: not found" in done.err
    assert "rag24_nuggets: not found" in done.err
