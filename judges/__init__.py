"""One question asked of a model: a DSPy signature, a module, typed labels, a lexical twin.

Imports `backends` and `records`; programs, calibration and the CLI may import it.
"""

from .answerability import AnswerabilityGrader
from .assigner import NuggetAssigner
from .claim import ClaimJudge
from .entailment import EntailmentJudge
from .fitted.files import JudgeFile, read_judge_file
from .importance import NuggetImportance
from .items import ItemJudge
from .keypoint_filter import KeyPointFilter
from .labels import CitationSupport, NuggetMatch, NuggetSupport, PointEntailment, SearchKind, YesNo
from .listwise import ListwiseRanker, Order
from .makers.answer_writer import AnswerWriter
from .makers.claim_extractor import ClaimExtractor
from .makers.decontextualizer import Decontextualizer
from .makers.keypoint_extractor import FoundPoint, KeyPointExtractor
from .makers.keypoint_merger import KeyPointMerger, MergedPoint
from .makers.nuggetizer import Nuggetizer
from .makers.question_decomposer import QuestionDecomposer, SubQuery
from .makers.question_evolver import QuestionEvolver
from .makers.question_scorer import QuestionScorer
from .makers.request import RequestWriter
from .makers.subquestions import SubQuestionGenerator
from .own import OwnJudge, OwnJudgeDefinition, read_own_judge
from .relevance import RelevanceJudge
from .setwise import SetwiseRanker
from .support import SupportJudge
from .verdicts import Verdict

__all__ = [
    "AnswerWriter",
    "AnswerabilityGrader",
    "CitationSupport",
    "ClaimExtractor",
    "ClaimJudge",
    "Decontextualizer",
    "EntailmentJudge",
    "FoundPoint",
    "ItemJudge",
    "JudgeFile",
    "KeyPointExtractor",
    "KeyPointFilter",
    "KeyPointMerger",
    "ListwiseRanker",
    "MergedPoint",
    "NuggetAssigner",
    "NuggetImportance",
    "NuggetMatch",
    "NuggetSupport",
    "Nuggetizer",
    "Order",
    "OwnJudge",
    "OwnJudgeDefinition",
    "PointEntailment",
    "QuestionDecomposer",
    "QuestionEvolver",
    "QuestionScorer",
    "RelevanceJudge",
    "RequestWriter",
    "SearchKind",
    "SetwiseRanker",
    "SubQuery",
    "SubQuestionGenerator",
    "SupportJudge",
    "Verdict",
    "YesNo",
    "read_judge_file",
    "read_own_judge",
]
