"""The package LiteLLM, imported without what it does unasked, and the providers that it knows."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

# Read by LiteLLM at import: no price table from the network, no `.env` of the working directory.
_QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}


def imported() -> Any:
    """The module."""
    if (known := sys.modules.get("litellm")) is not None:
        return known  # the program's own, set up as it likes
    before = {name: os.environ.get(name) for name in _QUIET}
    os.environ.update(_QUIET)
    try:
        import litellm
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    litellm.suppress_debug_info = True  # else every error prints a banner to stdout
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).handlers.clear()  # some write to stdout; now the root's handle it
    return litellm


def provider_of(model: str) -> str | None:
    """Whose model LiteLLM takes this name for, such as anthropic; None: nobody's that it knows.

    Takes seconds where LiteLLM is not imported yet.
    """
    litellm = imported()
    try:
        found: str = litellm.get_llm_provider(model)[1]
    except litellm.exceptions.BadRequestError:
        return None
    return found
