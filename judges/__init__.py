"""One question asked of a model: a DSPy signature, a module, typed labels, a lexical twin."""

from .assigner import NuggetAssigner
from .importance import NuggetImportance
from .labels import CitationSupport, NuggetMatch, NuggetSupport
from .nuggetizer import Nuggetizer
from .relevance import RelevanceJudge
from .support import SupportJudge

__all__ = [
    "CitationSupport",
    "NuggetAssigner",
    "NuggetImportance",
    "NuggetMatch",
    "NuggetSupport",
    "Nuggetizer",
    "RelevanceJudge",
    "SupportJudge",
]
