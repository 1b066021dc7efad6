import math

import pytest

from nuggetjudge.metrics import Value


@pytest.mark.parametrize(
    "fields",
    [
        (0.5, 1, 0, None, None),  # a value without bounds
        (None, 0, 1, 0.0, None),  # one bound alone
        (0.5, 1, 1, 0.6, 0.9),  # below its lower bound
        (0.5, 1, 1, 0.1, 0.4),  # above its upper bound
        (None, 0, 1, 0.9, 0.1),  # bounds the wrong way round
        (math.nan, 1, 0, 0.0, 1.0),
        (0.5, -1, 0, 0.5, 0.5),
        (0.5, 1, -1, 0.5, 0.5),
    ],
)
def test_a_value_that_contradicts_itself_is_refused(fields):
    with pytest.raises(ValueError, match=r"value|counts"):
        Value(*fields)


def test_nothing_judged_keeps_its_bounds_and_is_not_complete():
    assert not Value(None, 0, 3, 0.0, 1.0).is_complete
    assert Value(None, 0, 0, None, None).is_complete


def test_a_value_cannot_be_changed():
    with pytest.raises(AttributeError):
        Value(0.5, 1, 0, 0.5, 0.5).value = 1.0  # type: ignore[misc]
