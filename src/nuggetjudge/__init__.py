"""LLM judges for long-form RAG: nuggets, support and relevance, measured against people.

Importing this reads no `.env`, opens no cache and configures nothing; the parts are loaded
when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import judges, metrics, records
    from .programs.result import Result
    from .programs.run import run

__version__ = "0.1.0"
__all__ = ["Result", "__version__", "judges", "metrics", "records", "run"]

_FOLDERS = ("judges", "metrics", "records", "backends", "programs")


def __getattr__(name: str) -> Any:
    if name in _FOLDERS:
        return importlib.import_module(f".{name}", __name__)
    if name in ("run", "Result"):
        module = importlib.import_module(f".programs.{name.lower()}", __name__)
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
