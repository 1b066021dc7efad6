"""One question asked of a model: a DSPy signature, a module, typed labels, a lexical twin."""

from .assigner import NuggetAssigner
from .files import JudgeFile, read_judge_file
from .importance import NuggetImportance
from .items import ItemJudge
from .labels import CitationSupport, NuggetMatch, NuggetSupport
from .nuggetizer import Nuggetizer
from .own import OwnJudge, OwnJudgeDefinition, read_own_judge
from .relevance import RelevanceJudge
from .support import SupportJudge
from .verdicts import Verdict

__all__ = [
    "CitationSupport",
    "ItemJudge",
    "JudgeFile",
    "NuggetAssigner",
    "NuggetImportance",
    "NuggetMatch",
    "NuggetSupport",
    "Nuggetizer",
    "OwnJudge",
    "OwnJudgeDefinition",
    "RelevanceJudge",
    "SupportJudge",
    "Verdict",
    "read_judge_file",
    "read_own_judge",
]
