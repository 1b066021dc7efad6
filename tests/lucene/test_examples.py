"""The examples in docstrings that need the extra `lucene`."""

import importlib

import pytest
from test_doctests import OF_EXTRAS, check_example


@pytest.mark.parametrize("name", OF_EXTRAS["lucene"])
def test_examples_in_docstrings_are_true(name):
    pytest.importorskip("pyserini", reason="it comes with the extra lucene")
    check_example(name, importlib.import_module(name.rpartition(".")[0]))
