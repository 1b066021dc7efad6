"""Judges that take several steps: they search, read, ask other judges, and keep a trace of it.

Each is a DSPy module over ordinary judges. Imports `judges`, `retrieval`, `backends`, `records`;
programs import this.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agent import Agent
    from .corpus import Corpus, PassageCorpus
    from .evidence import EvidenceAgent
    from .limits import Limits
    from .react.agent import FreeAgent
    from .react.evidence import EvidenceByReact
    from .react.own import OwnAgent
    from .tools import Question, Tools, together
    from .trace import Step, Trace

_HOMES = {
    "Agent": "agent",
    "Corpus": "corpus",
    "EvidenceAgent": "evidence",
    "EvidenceByReact": "react.evidence",
    "FreeAgent": "react.agent",
    "Limits": "limits",
    "OwnAgent": "react.own",
    "PassageCorpus": "corpus",
    "Question": "tools",
    "Step": "trace",
    "Tools": "tools",
    "Trace": "trace",
    "together": "tools",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "Agent",
    "Corpus",
    "EvidenceAgent",
    "EvidenceByReact",
    "FreeAgent",
    "Limits",
    "OwnAgent",
    "PassageCorpus",
    "Question",
    "Step",
    "Tools",
    "Trace",
    "together",
]
