"""Measures: pure functions, numbers in and numbers out, without a model and without files.

`nugget_scores`, `support_scores` and `key_point_recall`, `key_point_precision`, `key_point_f1`
score one answer on one topic, `mean_over_topics` one run,
`ranking_scores` a retrieval run; `agreement` compares labels item by item, `reliability` those of
several annotators, and `taus` the orders that two judges put systems in. Scores come as a
`Value`: the number, the judgements behind it, those missing, and the bounds that the missing
leave. scipy and ir_measures are imported by the functions that need them, so
importing this package costs next to nothing; the modules that hold arrays are imported by name:
for intervals `bootstrap`, `agreement.intervals`, `order.intervals`; for what a context answers of a
report's sub-questions `coverage`, `required`, `alpha_ndcg`.

Imports nothing else of ours; every folder may import it.
"""

from .agreement.annotators import PairwiseKappa, Reliability, pairwise_kappa, reliability
from .agreement.pairs import Agreement, agreement
from .density import density, density_value
from .key_points import (
    KEY_POINT_MEASURES,
    ByLength,
    LengthBin,
    by_length,
    group_means,
    key_point_f1,
    key_point_precision,
    key_point_recall,
    micro_recall,
)
from .length import RAG24_MAX_WORDS, RAG26_MAX_WORDS, count_words
from .means import mean_over_topics
from .nuggets import NUGGET_MEASURES, nugget_scores, weighted_recall
from .order.correlation import kendall_tau, pearson, spearman, tau_ap, top_k_tau
from .order.taus import Coefficient, Taus, taus
from .ranking import RankingScores, ranking_scores
from .support import SUPPORT_MEASURES, support_scores
from .tokens import token_counter
from .value import Value

__all__ = [
    "KEY_POINT_MEASURES",
    "NUGGET_MEASURES",
    "RAG24_MAX_WORDS",
    "RAG26_MAX_WORDS",
    "SUPPORT_MEASURES",
    "Agreement",
    "ByLength",
    "Coefficient",
    "LengthBin",
    "PairwiseKappa",
    "RankingScores",
    "Reliability",
    "Taus",
    "Value",
    "agreement",
    "by_length",
    "count_words",
    "density",
    "density_value",
    "group_means",
    "kendall_tau",
    "key_point_f1",
    "key_point_precision",
    "key_point_recall",
    "mean_over_topics",
    "micro_recall",
    "nugget_scores",
    "pairwise_kappa",
    "pearson",
    "ranking_scores",
    "reliability",
    "spearman",
    "support_scores",
    "tau_ap",
    "taus",
    "token_counter",
    "top_k_tau",
    "weighted_recall",
]
