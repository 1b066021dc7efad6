"""Measures: pure functions, numbers in and numbers out, without a model and without files.

`nugget_scores` and `support_scores` score one answer on one topic, `mean_over_topics` one run,
`ranking_scores` a retrieval run; `agreement` compares labels item by item and `taus` the orders
that two judges put systems in. Scores come as a `Value`: the number, the judgements behind it,
those missing, and the bounds that the missing leave. scipy, scikit-learn and ir_measures are
imported by the functions that need them, so importing this package costs next to nothing.
"""

from .agreement import Agreement, agreement
from .correlation import Taus, kendall_tau, taus
from .length import RAG24_MAX_WORDS, RAG26_MAX_WORDS, count_words
from .means import mean_over_topics
from .nuggets import NUGGET_MEASURES, nugget_scores, weighted_recall
from .ranking import RankingScores, ranking_scores
from .support import SUPPORT_MEASURES, support_scores
from .value import Value

__all__ = [
    "NUGGET_MEASURES",
    "RAG24_MAX_WORDS",
    "RAG26_MAX_WORDS",
    "SUPPORT_MEASURES",
    "Agreement",
    "RankingScores",
    "Taus",
    "Value",
    "agreement",
    "count_words",
    "kendall_tau",
    "mean_over_topics",
    "nugget_scores",
    "ranking_scores",
    "support_scores",
    "taus",
    "weighted_recall",
]
