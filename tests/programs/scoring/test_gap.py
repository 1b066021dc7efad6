"""A gap between labelled and all items is a sign of a choice where its standard error is known."""

import numpy as np
import pytest

from nuggetjudge.metrics.ppi import sample
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.programs.scoring.corrected_measure import count_degrees
from nuggetjudge.records.reading.problems import Problems


# Topic t0 has labels of five of its eight passages, which the judge gives 0, 0, 0, 0 and 1; it
# gives the others 3. Mean .2 against 1.25, standard error (3/8 * .2 / 5) ** .5 = .122: 8.6 standard
# errors, from 4 degrees of freedom, where chance gives 15 once in as many draws as 4 of a normal.
# By at_least_2 the judge gives the five the same gain: there is no standard error.
def test_a_gap_from_one_topic_of_few_labels_is_no_sign_of_a_choice(tmp_path):
    judge = {"t0": [0, 0, 0, 0, 1, 3, 3, 3], **{f"t{i}": [0, 1, 2, 3] for i in range(1, 5)}}
    lines = [
        (f"{topic} 0 p{i} {grade}\n", i < 5)
        for topic, grades in judge.items()
        for i, grade in enumerate(grades)
    ]
    judged, labels = tmp_path / "judged.qrels", tmp_path / "labels.qrels"
    judged.write_text("".join(line for line, _ in lines), encoding="utf-8")
    labels.write_text("".join(line for line, has in lines if has), encoding="utf-8")
    problems = Problems()
    correct_scores(judged, labels, problems)
    assert "labels_not_random" not in problems.counts()
    assert count_degrees(half_of(5, 8)) == pytest.approx(4)
    assert count_degrees(half_of(8, 8)) == 0


def half_of(n_labels, n):
    """One stratum with labels of its first items."""
    human = [0.0] * n_labels + [np.nan] * (n - n_labels)
    return sample([1.0] * n, human, [1 / n] * n, [0] * n)
