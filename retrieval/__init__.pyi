from .bm25 import Bm25 as Bm25
from .context import within_tokens as within_tokens
from .dense import Dense as Dense
from .embeddings import CachedEncoder as CachedEncoder
from .encoders import HashingEncoder as HashingEncoder, SentenceEncoder as SentenceEncoder
from .fusion import reciprocal_rank as reciprocal_rank, weighted as weighted
from .lucene.lucene import Lucene as Lucene
from .lucene.lucene_impact import LuceneImpact as LuceneImpact
from .rerank.coverage_greedy import greedy_coverage as greedy_coverage
from .rerank.cross_encoder import CrossEncoderReranker as CrossEncoderReranker
from .rerank.mmr import Mmr as Mmr
from .rerank.monot5 import MonoT5 as MonoT5
from .rerank.rankllm import RankLlm as RankLlm
from .rerank.windows import setwise_top as setwise_top, slide as slide
from .scored import (
    Encoder as Encoder,
    Ranked as Ranked,
    Reranker as Reranker,
    Retriever as Retriever,
    Scored as Scored,
    by_rank as by_rank,
)
from .splade import Splade as Splade, SpladeEncoder as SpladeEncoder
