"""The weights of features that say whether a label is right, against scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from nuggetjudge.calibration.cascades import fit_logistic


@pytest.mark.parametrize("n", [50, 2000])
def test_weights_are_those_of_scikit_learn_on_standardised_features(n):
    rng = np.random.default_rng(n)
    table = rng.normal(3, [0.1, 1, 40], (n, 3))
    right = rng.random(n) < 1 / (1 + np.exp(-(8 * (table[:, 0] - 3) + table[:, 1] - 2)))
    scaled = (table - table.mean(0)) / table.std(0)
    expected = LogisticRegression(C=1.0, tol=1e-12, solver="newton-cholesky").fit(scaled, right)
    weights, intercept = fit_logistic(table, right)
    assert weights * table.std(0) == pytest.approx(expected.coef_[0], abs=1e-6)
    assert table @ weights + intercept == pytest.approx(
        expected.decision_function(scaled), abs=1e-6
    )


def test_features_that_tell_right_from_wrong_exactly_have_an_end():
    table = np.repeat([[0.0, 5.0], [1.0, 5.0]], 30, axis=0)
    weights, intercept = fit_logistic(table, table[:, 0] == 1)
    assert weights[1] == 0, "a feature that is the same for all weighs nothing"
    assert np.isfinite([*weights, intercept]).all()
    assert weights[0] > 2
