"""Default numbers of steps, which the config uses too; nothing heavy is imported here."""

from typing import Literal

Norm = Literal["min-max", "z", "max", "none"]  # how scores of two rankings are made comparable

K1, B = 0.9, 0.4  # of BM25: Anserini's defaults, used by the TREC baselines
RRF_K = 60  # Cormack, Clarke and Büttcher, SIGIR 2009
WEIGHT = 0.5  # of relevance, if a greedy choice also uses coverage
WINDOW, STRIDE = 20, 10  # arXiv:2304.09542 (RankGPT)
SET_SIZE, TOP = 4, 10  # arXiv:2310.09497: a parent and its three children; nDCG@10
