"""DeepEval as it is, with nothing sent, in a folder of its own; its version is printed."""

import importlib.metadata
import importlib.util

import pytest


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    monkeypatch.setenv("DEEPEVAL_DISABLE_DOTENV", "1")
    monkeypatch.chdir(tmp_path)  # where it keeps what it last ran


def pytest_terminal_summary(terminalreporter):
    if importlib.util.find_spec("deepeval"):
        terminalreporter.write_line(f"deepeval {importlib.metadata.version('deepeval')}")
