"""One question asked of a model: a DSPy signature, a module, typed labels, a lexical twin."""

from .answer_writer import AnswerWriter
from .answerability import AnswerabilityGrader
from .assigner import NuggetAssigner
from .claim import ClaimJudge
from .claim_extractor import ClaimExtractor
from .decontextualizer import Decontextualizer
from .entailment import EntailmentJudge
from .files import JudgeFile, read_judge_file
from .importance import NuggetImportance
from .items import ItemJudge
from .keypoint_extractor import FoundPoint, KeyPointExtractor
from .keypoint_filter import KeyPointFilter
from .keypoint_merger import KeyPointMerger, MergedPoint
from .labels import CitationSupport, NuggetMatch, NuggetSupport, PointEntailment, SearchKind, YesNo
from .listwise import ListwiseRanker, Order
from .nuggetizer import Nuggetizer
from .own import OwnJudge, OwnJudgeDefinition, read_own_judge
from .question_decomposer import QuestionDecomposer, SubQuery
from .question_evolver import QuestionEvolver
from .question_scorer import QuestionScorer
from .relevance import RelevanceJudge
from .request import RequestWriter
from .setwise import SetwiseRanker
from .subquestions import SubQuestionGenerator
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
