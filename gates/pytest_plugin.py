"""The pytest plugin: a fixture `judge` for tests that evaluate a system, and its options.

Every start of pytest loads it where this package is installed, so that it imports nothing of ours
until a test asks for the fixture.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..evaluation.result import Result

_MODEL, _OUT = "judge_model", "judge_out"
_USED: pytest.StashKey[Counter[str]] = pytest.StashKey()
_WARNED: pytest.StashKey[bool] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """See pytest."""
    group = parser.getgroup("nuggetjudge", "LLM judges of what a system answers")
    what = "who judges in the fixture `judge`, as of `judge run --model`"
    group.addoption("--judge-model", metavar="NAME", help=what)
    parser.addini(_MODEL, what)
    what = "a folder for results of the fixture `judge`: judged again is only what changed"
    group.addoption("--judge-out", metavar="DIR", help=what)
    parser.addini(_OUT, what)


@pytest.fixture
def judge(request: pytest.FixtureRequest) -> Callable[..., Result]:
    """`judge(samples, program=None, **settings)`: `nuggetjudge.evaluate` with pytest's options.

    The model is --judge-model or the ini's judge_model; with --judge-out DIR or judge_out the
    results are in DIR/TEST, of a second call in DIR/TEST-2, and stay there: what did not change is
    not asked again. Arguments of the call come first.
    """

    def evaluate(samples: Any, program: Any = None, **settings: Any) -> Result:
        from ..evaluation.evaluate import evaluate as of_samples
        from ..evaluation.evaluate import name_system

        if "model" not in settings:
            if (model := _option(request.config, _MODEL)) is None:
                _warn_once(request.config)
            settings["model"] = model
        if "out" not in settings and (folder := _option(request.config, _OUT)) is not None:
            settings["out"] = _folder(request, Path(request.config.rootpath, folder))
            settings.setdefault("force", True)  # the folder is this test's, whatever it asks now
            settings.setdefault("name", name_system(settings.get("answer")))  # as without it
        return of_samples(samples, program, **settings)

    return evaluate


def _option(config: pytest.Config, name: str) -> str | None:
    """From the command line, else the ini file."""
    value: str | None = config.getoption(name) or config.getini(name)
    return value or None


def _folder(request: pytest.FixtureRequest, parent: Path) -> Path:
    """A folder of this test's own, by its name; each call in a test has another."""
    name = re.sub(r"[^\w.-]+", "_", request.node.nodeid.removesuffix("]")).strip("_.")
    used = request.config.stash.setdefault(_USED, Counter())
    used[name] += 1
    return parent / (name if used[name] == 1 else f"{name}-{used[name]}")


def _warn_once(config: pytest.Config) -> None:
    if not config.stash.get(_WARNED, False):
        config.stash[_WARNED] = True
        what = "no model named (--judge-model): the lexical judge answers (word overlap, no LLM)"
        warnings.warn(what, UserWarning, stacklevel=3)
