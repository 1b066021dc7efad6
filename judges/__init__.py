"""One question asked of a model: a DSPy signature, a module, typed labels, a lexical twin."""

from .answerability import AnswerabilityGrader
from .assigner import NuggetAssigner
from .decontextualizer import Decontextualizer
from .files import JudgeFile, read_judge_file
from .importance import NuggetImportance
from .items import ItemJudge
from .labels import CitationSupport, NuggetMatch, NuggetSupport
from .nuggetizer import Nuggetizer
from .own import OwnJudge, OwnJudgeDefinition, read_own_judge
from .relevance import RelevanceJudge
from .request import RequestWriter
from .subquestions import SubQuestionGenerator
from .support import SupportJudge
from .verdicts import Verdict

__all__ = [
    "AnswerabilityGrader",
    "CitationSupport",
    "Decontextualizer",
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
    "RequestWriter",
    "SubQuestionGenerator",
    "SupportJudge",
    "Verdict",
    "read_judge_file",
    "read_own_judge",
]
