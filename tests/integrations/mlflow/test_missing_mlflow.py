"""Where MLflow is not installed: one line."""

import importlib
import sys

import pytest

from nuggetjudge.plugins.exports.mlflow_runs import log
from nuggetjudge.records.reading.problems import InputError, pip_install

WANTED = f"mlflow is not installed: {pip_install('mlflow')}"


@pytest.fixture(autouse=True)
def no_mlflow(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("mlflow.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mlflow", None)


def test_the_scorer_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "nuggetjudge.plugins.harnesses.mlflow_scorer", raising=False)
    with pytest.raises(InputError) as refusal:
        importlib.import_module("nuggetjudge.plugins.harnesses.mlflow_scorer")
    assert str(refusal.value) == WANTED


def test_the_export_says_what_to_install(tmp_path):
    with pytest.raises(InputError) as refusal:
        log(tmp_path)
    assert str(refusal.value) == WANTED
