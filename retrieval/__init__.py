"""Contexts to evaluate: what finds passages, fuses rankings, reorders and cuts them."""

from .bm25 import Bm25
from .context import within_tokens
from .coverage_greedy import greedy_coverage
from .cross_encoder import CrossEncoderReranker
from .dense import Dense
from .embeddings import CachedEncoder
from .encoders import HashingEncoder, SentenceEncoder
from .fusion import reciprocal_rank, weighted
from .lucene import Lucene
from .lucene_impact import LuceneImpact
from .mmr import Mmr
from .monot5 import MonoT5
from .rankllm import RankLlm
from .scored import Encoder, Ranked, Reranker, Retriever, Scored, by_place
from .splade import Splade, SpladeEncoder
from .windows import setwise_top, slide

__all__ = [
    "Bm25",
    "CachedEncoder",
    "CrossEncoderReranker",
    "Dense",
    "Encoder",
    "HashingEncoder",
    "Lucene",
    "LuceneImpact",
    "Mmr",
    "MonoT5",
    "RankLlm",
    "Ranked",
    "Reranker",
    "Retriever",
    "Scored",
    "SentenceEncoder",
    "Splade",
    "SpladeEncoder",
    "by_place",
    "greedy_coverage",
    "reciprocal_rank",
    "setwise_top",
    "slide",
    "weighted",
    "within_tokens",
]
