"""The encoders of a pipeline: each model is opened once, and what it makes of a text is kept."""

from __future__ import annotations

from pathlib import Path

from ...retrieval.embeddings import CachedEncoder
from ...retrieval.encoders import SentenceEncoder
from ...retrieval.scored import Encoder
from ...retrieval.splade import SpladeEncoder
from ..config.steps import DenseStep


class Encoders:
    """Opens each encoder once; vectors are kept on disk, so that nothing is encoded twice.

    Args:
        cache: `run.cache` of a config: a folder for the vectors; True: that of the user; False:
            none are kept.
    """

    def __init__(self, cache: bool | Path) -> None:
        self._cache = cache
        self._dense: dict[tuple[str, str, str, bool], Encoder] = {}
        self._sparse: dict[str, SpladeEncoder] = {}

    def dense(
        self,
        model: str,
        query_prefix: str = "",
        passage_prefix: str = "",
        normalise: bool = True,
    ) -> Encoder:
        """A sentence-transformers model. Raises: InputError if it cannot be opened."""
        key = (model, query_prefix, passage_prefix, normalise)
        if key not in self._dense:
            encoder: Encoder = SentenceEncoder(
                model,
                query_prefix=query_prefix,
                passage_prefix=passage_prefix,
                normalise=normalise,
            )
            if self._cache is not False:
                folder = self._cache if isinstance(self._cache, Path) else None
                encoder = CachedEncoder(encoder, folder)
            self._dense[key] = encoder
        return self._dense[key]

    def of(self, step: DenseStep) -> Encoder:
        """That of a dense step."""
        return self.dense(step.model, step.query_prefix, step.passage_prefix, step.normalise)

    def sparse(self, model: str) -> SpladeEncoder:
        """A sparse encoder of sentence-transformers. Raises: InputError as `dense`."""
        if model not in self._sparse:
            self._sparse[model] = SpladeEncoder(model)
        return self._sparse[model]

    def close(self) -> None:
        """Let go of the kept vectors."""
        for encoder in self._dense.values():
            if isinstance(encoder, CachedEncoder):
                encoder.close()
