import math

import pytest

from nuggetjudge.metrics import Value
from nuggetjudge.metrics.value import SHARE, not_made


@pytest.mark.parametrize(
    "fields",
    [
        (0.5, 1, 0, None, None),  # a value without bounds
        (None, 0, 1, 0.0, None),  # one bound alone
        (0.5, 1, 1, 0.6, 0.9),  # below its lower bound
        (0.5, 1, 1, 0.1, 0.4),  # above its upper bound
        (None, 0, 1, 0.9, 0.1),  # bounds the wrong way round
        (math.nan, 1, 0, 0.0, 1.0),
        (math.nan, 1, 1, None, None),
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


def test_a_value_may_be_without_bounds_only_while_something_is_missing():
    length = Value(5.0, 0, 1, None, None)
    assert (length.is_unbounded, length.is_undefined) == (True, False)
    assert Value(None, 0, 0, None, None).is_undefined
    assert not not_made().is_undefined


def test_what_is_missing_beside_a_value_widens_it_and_is_counted():
    half = Value(0.5, 2, 1, 0.25, 0.75)
    assert half.widened(SHARE, 3) == Value(0.5, 2, 4, 0.0, 1.0)
    assert half.widened((0.3, 0.6), 0) == half  # never narrower
    assert half.widened(None, 1) == Value(0.5, 2, 2, None, None)
    assert Value(None, 0, 0, None, None).widened(SHARE, 1) == not_made()
