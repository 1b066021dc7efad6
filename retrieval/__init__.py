"""Contexts to evaluate: what finds passages, fuses rankings, reorders and cuts them.

Imports `backends` (folders, secrets, errors) and `records`, and asks no judge; programs and the CLI
may import it.
"""

from .bm25 import Bm25
from .context import within_tokens
from .dense import Dense
from .embeddings import CachedEncoder
from .encoders import HashingEncoder, SentenceEncoder
from .fusion import reciprocal_rank, weighted
from .lucene.lucene import Lucene
from .lucene.lucene_impact import LuceneImpact
from .rerank.coverage_greedy import greedy_coverage
from .rerank.cross_encoder import CrossEncoderReranker
from .rerank.mmr import Mmr
from .rerank.monot5 import MonoT5
from .rerank.rankllm import RankLlm
from .rerank.windows import setwise_top, slide
from .scored import Encoder, Ranked, Reranker, Retriever, Scored, by_rank
from .splade import Splade, SpladeEncoder

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
    "by_rank",
    "greedy_coverage",
    "reciprocal_rank",
    "setwise_top",
    "slide",
    "weighted",
    "within_tokens",
]
