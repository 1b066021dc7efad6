"""The nearest rising curve, against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from nuggetjudge.calibration.fits import fit_rising


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=60))
def test_the_curve_and_its_knots_are_those_of_scikit_learn(pairs):
    x, y = np.array(pairs, float).T / [[10], [1]]
    expected = IsotonicRegression(out_of_bounds="clip").fit(x, y)
    curve = fit_rising(x, y)
    tried = np.linspace(-1, 3, 101)
    assert curve.at(tried) == pytest.approx(expected.predict(tried), abs=1e-12)
    assert len(curve.knots) <= len(expected.X_thresholds_)
    assert set(curve.knots) <= set(x)


def test_values_that_fall_are_pooled_by_how_often_they_occur():
    curve = fit_rising([1, 1, 1, 2], [1, 1, 0, 0])
    assert curve.at(np.array([1.0, 2.0])) == pytest.approx([0.5, 0.5])
