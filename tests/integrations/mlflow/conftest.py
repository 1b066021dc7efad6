"""MLflow as it is, over a SQLite store in a folder of its own; its version is printed."""

import importlib.metadata
import importlib.util
import os
import shutil

import pytest

os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    """A store with its tables, which take seconds to make."""
    mlflow = pytest.importorskip("mlflow")
    path = tmp_path_factory.mktemp("mlflow") / "empty.db"
    mlflow.set_tracking_uri(f"sqlite:///{path}")
    mlflow.search_experiments()
    return path


@pytest.fixture
def store(empty_store, tmp_path, monkeypatch):
    """Where MLflow keeps runs in this test; artefacts are beside it."""
    import mlflow

    monkeypatch.chdir(tmp_path)
    shutil.copyfile(empty_store, tmp_path / "mlflow.db")
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment("rag")
    return uri


def pytest_terminal_summary(terminalreporter):
    if importlib.util.find_spec("mlflow"):
        terminalreporter.write_line(f"mlflow {importlib.metadata.version('mlflow')}")
