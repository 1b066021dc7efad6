"""For all tests: bounds of a process, where the real judged data stands, and a model server."""

import gc
import importlib.util
import os
import random
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import processes
import pytest
from mock_server import MockServer

ROOT = Path(__file__).resolve().parent.parent

# Threads that multiply small matrices spin, waiting for each other, where workers share the CPUs.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported: not yet

MEMORY_BYTES = 8 * 2**30  # of address space for a process of the suite; most take under 2
LARGE = ("torch", "pyserini", "ray", "vllm", "playwright")  # these reserve more than they use

if not any(importlib.util.find_spec(name) for name in LARGE):
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in a background job of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what is ignored, children inherit

if importlib.util.find_spec("hypothesis"):
    from hypothesis import settings

    drawn = int(os.environ.get("NUGGETJUDGE_EXAMPLES", "25"))  # `make test-slow` draws more
    settings.register_profile("here", deadline=None, max_examples=drawn)  # no limit: may be busy
    settings.register_profile("ci", settings.get_profile("here"), derandomize=True)
    settings.load_profile("ci" if os.environ.get("CI") else "here")


gc.disable()  # until all tests are collected: what that makes stays


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """All workers of xdist fork from one process."""
    node.workerinput["fork_server"] = processes.shared()


def pytest_configure(config: pytest.Config) -> None:
    """Each of xdist's workers begins to collect at another folder.

    What one has compiled in a fresh clone, the others then read.
    """
    at = getattr(config, "workerinput", None)
    if at:
        processes.share(at["fork_server"])
    if at and config.args_source is config.ArgsSource.TESTPATHS:
        tests = Path(__file__).parent
        files = [path.relative_to(tests) for path in sorted(tests.rglob("test_*.py"))]
        parts = list(dict.fromkeys(path.parts[0] for path in files))
        first = files[int(at["workerid"].removeprefix("gw")) * len(files) // at["workercount"]]
        start = parts.index(first.parts[0])
        config.args = [str(tests / part) for part in parts[start:] + parts[:start]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """By path, or in the order of NUGGETJUDGE_ORDER, a number, if it is set."""
    items.sort(key=lambda item: item.path.parts)  # whatever was collected first
    if seed := os.environ.get("NUGGETJUDGE_ORDER"):
        random.Random(int(seed)).shuffle(items)


def pytest_collection_finish() -> None:
    """What is there by now stays: no collection of garbage need look at it, and there are many."""
    gc.freeze()
    gc.enable()


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


@pytest.fixture
def check_fits() -> Callable[[Any], None]:
    """No line is longer than the window, and every word of the verdict and of heads is whole."""
    from nuggetjudge.views.terminal import Terminal, view_text

    def check(view: Any) -> None:
        for width in (60, 80, 120):
            lines = view_text(view, Terminal(width)).splitlines()
            assert max(map(len, lines)) <= width, (width, max(lines, key=len))
            words = {word for line in lines for word in line.split()}
            assert set(view.verdict.split()) <= words
        assert view.verdict.endswith(".")

    return check


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    """Whatever a test started through `processes` ends with it, passed or failed."""
    yield
    processes.end_all()
