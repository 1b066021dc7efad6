from .answer_scores import (
    NUGGET_MEASURES as NUGGET_MEASURES,
    SUPPORT_MEASURES as SUPPORT_MEASURES,
    groundedness_scores as groundedness_scores,
    nugget_scores as nugget_scores,
    support_scores as support_scores,
    weighted_recall as weighted_recall,
)
from .coverage import density as density, density_value as density_value
from .key_points import (
    KEY_POINT_MEASURES as KEY_POINT_MEASURES,
    ByLength as ByLength,
    LengthBin as LengthBin,
    by_length as by_length,
    group_means as group_means,
    key_point_f1 as key_point_f1,
    key_point_precision as key_point_precision,
    key_point_recall as key_point_recall,
    micro_recall as micro_recall,
)
from .label_agreement import (
    Agreement as Agreement,
    PairwiseKappa as PairwiseKappa,
    Reliability as Reliability,
    agreement as agreement,
    pairwise_kappa as pairwise_kappa,
    reliability as reliability,
)
from .length import (
    count_words as count_words,
    token_counter as token_counter,
)
from .rank_correlation import (
    Coefficient as Coefficient,
    Taus as Taus,
    kendall_tau as kendall_tau,
    pearson as pearson,
    spearman as spearman,
    tau_ap as tau_ap,
    taus as taus,
    top_k_tau as top_k_tau,
)
from .ranking import RankingScores as RankingScores, ranking_scores as ranking_scores
from .answer_scores import Value as Value, mean_over_topics as mean_over_topics
