from .table import BUILT_IN as BUILT_IN
from .questions import AnswerabilityGrader as AnswerabilityGrader
from .nuggets import NuggetAssigner as NuggetAssigner
from .combined.cascade import Cascade as Cascade
from .combined.confidence import (
    CascadeFile as CascadeFile,
    read_cascade_file as read_cascade_file,
)
from .keypoints import ClaimJudge as ClaimJudge
from .ranking import ListwiseRanker as ListwiseRanker, Order as Order
from .ranking import SetwiseRanker as SetwiseRanker
from .support import ContradictionJudge as ContradictionJudge
from .keypoints import EntailmentJudge as EntailmentJudge
from .groundedness import GroundednessJudge as GroundednessJudge
from .fitted import JudgeFile as JudgeFile, read_judge_file as read_judge_file
from .nuggets import NuggetImportance as NuggetImportance
from .items import ItemJudge as ItemJudge
from .combined.jury import Jury as Jury
from .keypoints import KeyPointFilter as KeyPointFilter
from .labels import (
    CitationSupport as CitationSupport,
    NuggetSupport as NuggetSupport,
    PointEntailment as PointEntailment,
    Contradiction as Contradiction,
    NuggetMatch as NuggetMatch,
    SearchKind as SearchKind,
    YesNo as YesNo,
)
from .makers.answer_writer import AnswerWriter as AnswerWriter
from .makers.keypoints import ClaimExtractor as ClaimExtractor
from .makers.queries import GapWriter as GapWriter
from .makers.keypoints import (
    FoundPoint as FoundPoint,
    KeyPointExtractor as KeyPointExtractor,
)
from .makers.keypoints import KeyPointMerger as KeyPointMerger, MergedPoint as MergedPoint
from .makers.lists import ListMaker as ListMaker
from .nuggets import (
    NuggetProposer as NuggetProposer,
    ProposedNugget as ProposedNugget,
)
from .nuggets import Nuggetizer as Nuggetizer
from .makers.queries import QueryWriter as QueryWriter
from .questions import QuestionDecomposer as QuestionDecomposer
from .questions import SubQuestionGenerator as SubQuestionGenerator
from .custom import (
    CustomJudge as CustomJudge,
    CustomJudgeDefinition as CustomJudgeDefinition,
    read_custom_judge as read_custom_judge,
)
from .relevance import RelevanceJudge as RelevanceJudge
from .support import SupportJudge as SupportJudge
from .verdicts import Verdict as Verdict
from .combined.explained import Explained as Explained
from .combined.verified import Verified as Verified
