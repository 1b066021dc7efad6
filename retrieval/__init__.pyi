from .bm25 import Bm25 as Bm25
from .fusion import within_tokens as within_tokens
from .dense import Dense as Dense
from .encoders import CachedEncoder as CachedEncoder
from .encoders import HashingEncoder as HashingEncoder, SentenceEncoder as SentenceEncoder
from .fusion import reciprocal_rank as reciprocal_rank, fuse_weighted as fuse_weighted
from .lucene import Lucene as Lucene
from .rerank.diversity import greedy_coverage as greedy_coverage
from .rerank.pointwise import CrossEncoderReranker as CrossEncoderReranker
from .rerank.diversity import Mmr as Mmr
from .rerank.pointwise import MonoT5 as MonoT5
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
