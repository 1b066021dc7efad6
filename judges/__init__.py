"""One question asked of a model each: a signature, a module, typed labels, a lexical twin.

The classes are loaded when they are first used: naming a judge in a config needs no DSPy, see
`table`. Imports `backends` and `records`; programs and calibration import this.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .table import BUILT_IN

if TYPE_CHECKING:
    from ..records.assignments import NuggetSupport
    from ..records.instruments.rubrics import CriterionMatch
    from ..records.key_points import PointEntailment
    from ..records.support import CitationSupport
    from .answerability import AnswerabilityGrader
    from .assigner import NuggetAssigner
    from .cascade.cascade import Cascade
    from .cascade.files import CascadeFile, read_cascade_file
    from .claim import ClaimJudge
    from .comparing.battle import BattleJudge
    from .comparing.listwise import ListwiseRanker, Order
    from .comparing.setwise import SetwiseRanker
    from .contradiction import ContradictionJudge
    from .entailment import EntailmentJudge
    from .fitted.files import JudgeFile, read_judge_file
    from .grading.criterion import BinaryCriterionJudge, CriterionJudge
    from .importance import NuggetImportance
    from .items import ItemJudge
    from .jury.jury import Jury
    from .keypoint_filter import KeyPointFilter
    from .labels import BinaryCriterionMatch, Contradiction, NuggetMatch, SearchKind, YesNo
    from .makers.answer_writer import AnswerWriter
    from .makers.claim_extractor import ClaimExtractor
    from .makers.decontextualizer import Decontextualizer
    from .makers.gap_writer import GapWriter
    from .makers.keypoint_extractor import FoundPoint, KeyPointExtractor
    from .makers.keypoint_merger import KeyPointMerger, MergedPoint
    from .makers.lists import ListMaker
    from .makers.nugget_proposer import NuggetProposer, ProposedNugget
    from .makers.nuggetizer import Nuggetizer
    from .makers.query_writer import QueryWriter
    from .makers.question_decomposer import QuestionDecomposer
    from .makers.question_evolver import QuestionEvolver
    from .makers.question_scorer import QuestionScorer
    from .makers.request import RequestWriter
    from .makers.rubric_writer import MadeCriterion, RubricWriter
    from .makers.subquestions import SubQuestionGenerator
    from .own import OwnJudge, OwnJudgeDefinition, read_own_judge
    from .planning.evidence import EvidencePlanner
    from .planning.own import OwnPlanner
    from .relevance import RelevanceJudge
    from .support import SupportJudge
    from .verdicts import Verdict
    from .verifying.verified import Verified

_HOMES = {  # of what is no judge by name
    "JudgeFile": "fitted.files",
    "read_judge_file": "fitted.files",
    "Cascade": "cascade.cascade",
    "CascadeFile": "cascade.files",
    "read_cascade_file": "cascade.files",
    "ItemJudge": "items",
    "Jury": "jury.jury",
    "BinaryCriterionMatch": "labels",
    "CitationSupport": ".records.support",
    "Contradiction": "labels",
    "CriterionMatch": ".records.instruments.rubrics",
    "NuggetMatch": "labels",
    "NuggetSupport": ".records.assignments",
    "PointEntailment": ".records.key_points",
    "SearchKind": "labels",
    "YesNo": "labels",
    "Order": "comparing.listwise",
    "FoundPoint": "makers.keypoint_extractor",
    "ListMaker": "makers.lists",
    "MadeCriterion": "makers.rubric_writer",
    "MergedPoint": "makers.keypoint_merger",
    "ProposedNugget": "makers.nugget_proposer",
    "OwnJudgeDefinition": "own",
    "OwnPlanner": "planning.own",
    "read_own_judge": "own",
    "Verdict": "verdicts",
    "Verified": "verifying.verified",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    for kind in BUILT_IN.values():
        if kind.home.endswith(f":{name}"):
            return kind.load()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "BUILT_IN",
    "AnswerWriter",
    "AnswerabilityGrader",
    "BattleJudge",
    "BinaryCriterionJudge",
    "BinaryCriterionMatch",
    "Cascade",
    "CascadeFile",
    "CitationSupport",
    "ClaimExtractor",
    "ClaimJudge",
    "Contradiction",
    "ContradictionJudge",
    "CriterionJudge",
    "CriterionMatch",
    "Decontextualizer",
    "EntailmentJudge",
    "EvidencePlanner",
    "FoundPoint",
    "GapWriter",
    "ItemJudge",
    "JudgeFile",
    "Jury",
    "KeyPointExtractor",
    "KeyPointFilter",
    "KeyPointMerger",
    "ListMaker",
    "ListwiseRanker",
    "MadeCriterion",
    "MergedPoint",
    "NuggetAssigner",
    "NuggetImportance",
    "NuggetMatch",
    "NuggetProposer",
    "NuggetSupport",
    "Nuggetizer",
    "Order",
    "OwnJudge",
    "OwnJudgeDefinition",
    "OwnPlanner",
    "PointEntailment",
    "ProposedNugget",
    "QueryWriter",
    "QuestionDecomposer",
    "QuestionEvolver",
    "QuestionScorer",
    "RelevanceJudge",
    "RequestWriter",
    "RubricWriter",
    "SearchKind",
    "SetwiseRanker",
    "SubQuestionGenerator",
    "SupportJudge",
    "Verdict",
    "Verified",
    "YesNo",
    "read_cascade_file",
    "read_judge_file",
    "read_own_judge",
]
