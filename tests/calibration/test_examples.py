"""The examples in the docstrings of what fitting uses."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["calibration.threshold", "calibration.scale", "judges.overlap"])
def test_examples_are_true(name):
    result = doctest.testmod(importlib.import_module(f"nuggetjudge.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
