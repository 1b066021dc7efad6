"""Libraries that come with an extra: imported where they are needed, missed in one line."""

from __future__ import annotations

import importlib
from typing import Any

from .problems import InputError


def pip_install(extra: str) -> str:
    """The command that installs an extra; until the package is on an index, from its source."""
    return f"pip install '.[{extra}]' in the folder of nuggetjudge's source"


def need(module: str, extra: str) -> Any:
    """Import a module of an extra. Raises: InputError that says what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library, missing = module.partition(".")[0], error.name or module
        if missing.startswith(f"{library}."):
            missing = library
        raise InputError(f"{missing} is not installed: {pip_install(extra)}") from None
