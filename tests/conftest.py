"""Shared fixtures: where the real judged data stands, and a model server on 127.0.0.1."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from mock_server import MockServer
from processes import end_all

ROOT = Path(__file__).resolve().parent.parent

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in a background job of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what is ignored, children inherit


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real judged data, which is not ours to redistribute; skips where absent."""
    folder = Path(os.environ.get("NUGGETJUDGE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real judged data not found at {folder} (set NUGGETJUDGE_DATA)")
    return folder


@pytest.fixture
def model_server() -> Iterator[MockServer]:
    """An OpenAI-compatible server whose replies are valid for whatever schema is asked for."""
    with MockServer() as server:
        yield server


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    """Whatever a test started through `processes` ends with it, passed or failed."""
    yield
    end_all()
