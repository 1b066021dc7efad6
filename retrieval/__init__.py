"""Contexts to evaluate: what finds passages, fuses rankings, reorders and cuts them.

Imports `backends` (folders, secrets, errors) and `records`, and asks no judge; agents, programs and
the CLI may import it.

The parts are loaded when they are first used, for the config reads `defaults` alone.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "bm25": "Bm25",
    "context": "within_tokens",
    "dense": "Dense",
    "embeddings": "CachedEncoder",
    "encoders": "HashingEncoder SentenceEncoder",
    "fusion": "reciprocal_rank weighted",
    "lucene.lucene": "Lucene",
    "lucene.lucene_impact": "LuceneImpact",
    "rerank.coverage_greedy": "greedy_coverage",
    "rerank.cross_encoder": "CrossEncoderReranker",
    "rerank.mmr": "Mmr",
    "rerank.monot5": "MonoT5",
    "rerank.rankllm": "RankLlm",
    "rerank.windows": "setwise_top slide",
    "scored": "Encoder Ranked Reranker Retriever Scored by_rank",
    "splade": "Splade SpladeEncoder",
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(importlib.import_module(f".{home}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
