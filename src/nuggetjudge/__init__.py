"""LLM judges for long-form RAG: nuggets, support and relevance, measured against people.

Importing this reads no `.env`, opens no cache and configures nothing; the parts are loaded
when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import agents, calibration, judges, metrics, records
    from .calibration.session import calibrate
    from .evaluation.agreement import agree
    from .evaluation.comparing import compare
    from .evaluation.evaluate import aevaluate, evaluate
    from .evaluation.result import Result
    from .evaluation.run import run
    from .gates.asserting import assert_judged

__version__ = "0.1.0"
__all__ = [
    "Result",
    "__version__",
    "aevaluate",
    "agents",
    "agree",
    "assert_judged",
    "calibrate",
    "calibration",
    "compare",
    "evaluate",
    "judges",
    "metrics",
    "records",
    "run",
]

_HOMES = {
    "Result": ".evaluation.result",
    "aevaluate": ".evaluation.evaluate",
    "agree": ".evaluation.agreement",
    "assert_judged": ".gates.asserting",
    "calibrate": ".calibration.session",
    "compare": ".evaluation.comparing",
    "evaluate": ".evaluation.evaluate",
    "run": ".evaluation.run",
}
_FOLDERS = (
    "agents",
    "calibration",
    "judges",
    "metrics",
    "records",
    "backends",
    "programs",
    "retrieval",
)


def __getattr__(name: str) -> Any:
    if name in _FOLDERS:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_FOLDERS})
