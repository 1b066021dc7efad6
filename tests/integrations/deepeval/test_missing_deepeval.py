"""Where DeepEval is not installed."""

import importlib
import sys

import pytest

from nuggetjudge.records.reading.problems import InputError, pip_install


def test_a_missing_deepeval_is_one_line(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("deepeval.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "nuggetjudge.plugins.harnesses.deepeval_metric", raising=False)
    monkeypatch.setitem(sys.modules, "deepeval", None)
    with pytest.raises(InputError) as refusal:
        importlib.import_module("nuggetjudge.plugins.harnesses.deepeval_metric")
    assert str(refusal.value) == f"deepeval is not installed: {pip_install('deepeval')}"
