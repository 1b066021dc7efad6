"""The pytest plugin: the fixture `judge` for tests that evaluate a system, and its options.

pytest loads this file at every start, so it imports the package only when a test uses the
fixture.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..evaluation.result import Result

_MODEL, _OUT = "judge_model", "judge_out"
_API_BASE, _CONFIG = "judge_api_base", "judge_config"
_OF_INPUT = {"InputError", "EndpointUnusable"}  # errors whose message is enough without a traceback
_USED: pytest.StashKey[Counter[str]] = pytest.StashKey()
_WARNED: pytest.StashKey[bool] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """See pytest."""
    group = parser.getgroup("nuggetjudge", "LLM judges for answers of a system")
    what = "model of the fixture `judge`, as in `judge run --model`"
    group.addoption("--judge-model", metavar="NAME", help=what)
    parser.addini(_MODEL, what)
    what = "URL of the model's server, ending in /v1"
    group.addoption("--judge-api-base", metavar="URL", help=what)
    parser.addini(_API_BASE, what)
    what = "a config file as for `judge run`: models, judges, run and so on"
    group.addoption("--judge-config", metavar="FILE", help=what)
    parser.addini(_CONFIG, what)
    what = "a folder to keep results of the fixture `judge`; only changes are judged again"
    group.addoption("--judge-out", metavar="DIR", help=what)
    parser.addini(_OUT, what)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report an input error in one line, with the line of the test. See pytest."""
    report = yield
    if (raised := call.excinfo) is None or not _is_of_input(raised.type):
        return report
    lines = [entry.lineno + 1 for entry in raised.traceback if entry.path == item.path]
    where = f"{item.path.name}:{lines[-1]}: " if lines else ""
    report.longrepr = f"{where}{raised.value}"
    return report


def _is_of_input(kind: type[BaseException]) -> bool:
    names = {base.__name__ for base in kind.__mro__ if base.__module__.startswith("nuggetjudge.")}
    return bool(names & _OF_INPUT)


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Callable[..., Result]:
    """`judge(samples, program=None, **settings)`: `nuggetjudge.evaluate` with pytest's options.

    The model is --judge-model or judge_model of the ini file, served at --judge-api-base. Other
    settings come from the file --judge-config. With --judge-out DIR or judge_out, results are
    kept in DIR/TEST, those of a second call in DIR/TEST-2; unchanged items are not asked again.
    Arguments of the call override the options.
    """

    def evaluate(samples: Any, program: Any = None, **settings: Any) -> Result:
        from ..evaluation.evaluate import evaluate as of_samples
        from ..evaluation.evaluate import name_system

        if "config" not in settings and (file := _option(request.config, _CONFIG)) is not None:
            settings["config"] = Path(request.config.rootpath, file)
        if "model" not in settings:
            if (model := _option(request.config, _MODEL)) is None and "config" not in settings:
                _warn_once(request.config)
            settings["model"] = model
            if (url := _option(request.config, _API_BASE)) is not None:
                settings.setdefault("api_base", url)
        if "out" not in settings and (folder := _option(request.config, _OUT)) is not None:
            settings["out"] = _folder(request, Path(request.config.rootpath, folder))
            settings.setdefault(
                "force", True
            )  # the folder belongs to this test, even if its samples changed
            settings.setdefault("name", name_system(settings.get("answer")))  # as without it
        return of_samples(samples, program, **settings)

    return evaluate


def _option(config: pytest.Config, name: str) -> str | None:
    """Return an option from the command line, or else from the ini file."""
    value: str | None = config.getoption(name) or config.getini(name)
    return value or None


def _folder(request: pytest.FixtureRequest, parent: Path) -> Path:
    """Return the folder of this test, by its name; each call in a test has its own."""
    name = re.sub(r"[^\w.-]+", "_", request.node.nodeid.removesuffix("]")).strip("_.")
    used = request.config.stash.setdefault(_USED, Counter())
    used[name] += 1
    return parent / (name if used[name] == 1 else f"{name}-{used[name]}")


def _warn_once(config: pytest.Config) -> None:
    if not config.stash.get(_WARNED, False):
        config.stash[_WARNED] = True
        what = (
            "No model named: the lexical judge answers (word overlap, no LLM). Add --judge-model."
        )
        warnings.warn(what, UserWarning, stacklevel=3)
